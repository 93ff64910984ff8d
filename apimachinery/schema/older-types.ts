// Types of the version of a kind that is not served, made of those of the served version: Go has the same types once more, whose names
// only tell in errors which of the two an object was decoded as. A few have a field that was given up.

import { dictionary } from "../dictionary.ts"
import { type GroupVersionKind, parseGroupVersion, printGroupVersion } from "../object.ts"
import { builtInResources, schemaOf } from "./facts.ts"
import type { FieldSchema, Schema } from "./schema.ts"
import { isAlikeWhenServed } from "./unserved.ts"

/** Types of core/v1 that others use: names of Go's types do not tell of which package's "v1" they are. */
const ofCore: ReadonlySet<string> = new Set(["v1.ConditionStatus", "v1.PodConditionType", "v1.Protocol"])

const made = new WeakMap<Schema, Map<string, Schema>>()

/** The schema with the names that its types have in `apiVersion`, and the fields that only that has; types of other packages are the same. */
export function inOlderTypes(root: Schema, apiVersion: string): Schema {
  const versions = made.get(root) ?? new Map<string, Schema>()
  made.set(root, versions)
  let found = versions.get(apiVersion)
  if (found === undefined) {
    const renamed = renaming(packageOf(root), parseGroupVersion(apiVersion).version)(root)
    found = isRolledBack(renamed, apiVersion) ? withRollback(renamed) : renamed
    versions.set(apiVersion, found)
  }
  return found
}

function renaming(from: string, version: string): (schema: Schema) => Schema {
  const to = `${packageOf({ name: from })}.${version}`
  const own = `${lastWord(from)}.`
  const renamed = new Map<Schema, Schema>()
  const renamedField = (field: FieldSchema): FieldSchema => {
    const { goType } = field
    const isOwn = goType?.startsWith(own) === true && !ofCore.has(goType)
    const type = isOwn ? { goType: `${version}.${goType.slice(own.length)}` } : {}
    return { ...field, schema: rename(field.schema), ...type }
  }
  function rename(schema: Schema): Schema {
    const known = renamed.get(schema)
    if (known !== undefined) return known
    if (schema.name === undefined)
      return schema.items === undefined ? schema : { ...schema, items: rename(schema.items) }
    if (packageOf(schema) !== from) return schema
    const next: Schema = { ...schema, name: `${to}.${lastWord(schema.name)}` }
    renamed.set(schema, next) // before its fields, because types may be recursive
    if (schema.fields !== undefined) {
      next.fields = Object.create(null) as Record<string, FieldSchema>
      for (const [name, field] of Object.entries(schema.fields)) next.fields[name] = renamedField(field)
    }
    return next
  }
  return rename
}

const packageOf = ({ name = "" }: Pick<Schema, "name">): string => name.slice(0, name.lastIndexOf("."))

const lastWord = (name: string): string => name.slice(name.lastIndexOf(".") + 1)

/** Versions of Deployments that may ask to be rolled back. Source: DeploymentSpec in k8s.io/api/{apps,extensions}/v1beta1. */
const rollbackVersions: readonly string[] = ["apps/v1beta1", "extensions/v1beta1"]

const isRolledBack = ({ name = "" }: Schema, apiVersion: string): boolean =>
  lastWord(name) === "Deployment" && rollbackVersions.includes(apiVersion)

function withRollback(deployment: Schema): Schema {
  const spec = deployment.fields?.["spec"]
  if (spec === undefined) return deployment
  const revision: FieldSchema = { schema: { type: "integer", format: "int64" }, zero: "omit" }
  const name = (spec.schema.name ?? "").replace(/DeploymentSpec$/, "RollbackConfig")
  const rollbackTo: FieldSchema = { schema: { type: "object", name, fields: dictionary({ revision }) } }
  const whole: Schema = { ...spec.schema, fields: dictionary({ ...spec.schema.fields, rollbackTo }) }
  return { ...deployment, fields: dictionary({ ...deployment.fields, spec: { ...spec, schema: whole } }) }
}

/** Of a kind in a version that is not served, unless that has other fields than the served one. */
export function olderSchemaOf({ kind, ...version }: GroupVersionKind): Schema | undefined {
  const apiVersion = printGroupVersion(version)
  const served = builtInResources().find((one) => one.kind === kind && isAlikeWhenServed(apiVersion, kind, one.group))
  const schema = served && schemaOf(served)
  return schema && inOlderTypes(schema, apiVersion)
}

const scaleVersions: readonly string[] = ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"]
const scales = new WeakMap<Schema, ReadonlyMap<string, Schema>>()

/**
 * apiVersion → Scale in the versions that are not served any more, whose selector is a map. `scale`: that of autoscaling/v1. Source:
 * k8s.io/api/{apps,extensions}/v1beta*.
 */
export function olderScales(scale: Schema): ReadonlyMap<string, Schema> {
  let found = scales.get(scale)
  if (found === undefined) {
    const status = scale.fields?.["status"]
    const selectors: Record<string, FieldSchema> = {
      selector: { schema: { type: "map", items: { type: "string" } } },
      targetSelector: { schema: { type: "string" } },
    }
    const fields = dictionary({ ...status?.schema.fields, ...selectors })
    const ofStatus = { ...status?.schema, type: "object", fields } as const
    const schema: Schema = {
      ...scale,
      fields: dictionary({ ...scale.fields, status: { ...status, schema: ofStatus } }),
    }
    found = new Map(scaleVersions.map((version) => [version, schema]))
    scales.set(scale, found)
  }
  return found
}
