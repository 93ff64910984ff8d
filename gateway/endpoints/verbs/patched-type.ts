// The kind and apiVersion that a patch gives an object. It may not remove those of a custom resource. Source: patch.go in
// k8s.io/apiserver/pkg/endpoints/handlers.

import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults } from "../../../apimachinery/schema/defaults.ts"
import { prune } from "../../../apimachinery/schema/prune.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { isObject, type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { inOlderTypes, olderScales } from "../../../apimachinery/schema/older-types.ts"
import { isAlikeWhenServed } from "../../../apimachinery/schema/unserved.ts"
import { compileStructural } from "../../../apimachinery/schema/structural/structural.ts"
import { internalError, type StatusError } from "../../../apimachinery/status.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { noText, noVersion } from "../body-kind.ts"
import type { Expected } from "../expected.ts"

/** `object` is not decoded yet. `refuse` makes the error for a value that is no object. */
export function checkPatchedType(
  object: JsonObject,
  current: KubeObject,
  refuse: (text: string, detail: string) => StatusError,
): void {
  if (typeFault(object) !== undefined) return // reported with the other faults of the text
  const { kind = null, apiVersion } = object as { kind?: string | null; apiVersion?: string | null }
  const isUntyped = kind === null || kind === ""
  if (isUntyped || apiVersion === null) {
    const text = JSON.stringify(sortedKeys(withManagers(object, current)))
    throw refuse(text, isUntyped ? `Object 'Kind' is missing in '${text}'` : noText)
  }
  const { version } = parseGroupVersion(apiVersion ?? "")
  if (apiVersion === undefined || version === "") throw internalError(noVersion)
}

/**
 * With the schema of the version that the patch gives the object, which of a version that there is not has no fields. Of another kind
 * there is no schema.
 */
export function expectedInVersion(ctx: RequestContext, object: JsonObject, expected: Expected): Expected {
  if (typeof object["apiVersion"] !== "string") return expected
  if (isOtherKind(object, expected)) return { ...expected, schema: bareSchema(true) }
  const { group, version } = parseGroupVersion(object["apiVersion"])
  if (version === expected.version) return expected
  const definitionIn = (of: string): ResourceDefinition | undefined =>
    ctx.controlPlane.resources.registry({ group, version: of, resource: ctx.info.resource })?.definition
  const found = definitionIn(version) ?? definitionIn(expected.version)?.customResource?.unserved?.(version)
  return { ...expected, schema: found?.schema ?? bareSchema(false) }
}

function isOtherKind({ apiVersion, kind }: JsonObject, expected: Expected): boolean {
  return kind !== expected.kind || parseGroupVersion(apiVersion as string).group !== expected.group
}

/** Only a status is taken of another kind, and stored with the fields of its own. */
export function dropOtherFields(object: KubeObject, expected: Expected): void {
  const { schema } = expected
  const value = object as unknown as JsonObject
  if (schema.custom !== true || !isOtherKind(value, expected)) return
  prune(schema, value)
  applyDefaults(schema, value)
}

const bareSchema = (keepsFields: boolean): Schema =>
  compileStructural(
    { type: "object", ...(keepsFields ? { "x-kubernetes-preserve-unknown-fields": true } : {}) },
    FieldPath.root(),
  ).schema

/** The version that the patch gives an object of a built-in kind, if it is another one: its fields are read as those of that version. */
export function otherVersion(ctx: RequestContext, object: Json): ResourceDefinition | undefined {
  const own = ownDefinition(ctx)
  if (own === undefined || own.customResource !== undefined || !isObject(object)) return undefined
  const { apiVersion, kind } = object
  if (kind !== own.kind || typeof apiVersion !== "string" || apiVersion === printGroupVersion(own)) return undefined
  const other = { ...parseGroupVersion(apiVersion), resource: own.resource }
  const found = ctx.controlPlane.resources.registry(other)?.definition
  return found?.storagePrefix === own.storagePrefix ? found : undefined
}

/** An object of a version that is not served is read as one of that, if it has the fields of the one that is. */
export function expectedOfOlder(ctx: RequestContext, object: Json, expected: Expected): Expected | undefined {
  const own = ownDefinition(ctx)
  if (own === undefined || own.customResource !== undefined || !isObject(object)) return undefined
  const { apiVersion, kind } = object
  if (kind !== expected.kind || typeof apiVersion !== "string") return undefined
  if (kind !== own.kind) {
    const scale = kind === "Scale" ? olderScales(expected.schema).get(apiVersion) : undefined
    return scale && { ...expected, ...parseGroupVersion(apiVersion), schema: scale }
  }
  if (!isAlikeWhenServed(apiVersion, kind, own.group)) return undefined
  const { strategy } = own
  const schema = inOlderTypes(expected.schema, apiVersion)
  const defaultFirst = (given: JsonObject): void => strategy.defaultOlder?.(given, apiVersion)
  return { ...expected, ...parseGroupVersion(apiVersion), schema, defaultFirst }
}

/** In place, of what {@link expectedOfOlder} has read. Source of scales: k8s.io/kubernetes/pkg/apis/apps/v1beta1/conversion.go. */
export function becomeServed(object: KubeObject, expected: Expected): void {
  object.apiVersion = printGroupVersion(expected)
  const { status } = object as unknown as JsonObject
  if (expected.kind !== "Scale" || !isObject(status)) return
  const { targetSelector, selector } = status as { targetSelector?: string; selector?: Record<string, string> }
  delete status["targetSelector"]
  status["selector"] = targetSelector || printSelector(selectorFromLabelSelector({ matchLabels: selector ?? {} }))
}

export async function inOwnVersion(
  ctx: RequestContext,
  object: KubeObject,
  from: ResourceDefinition,
): Promise<KubeObject> {
  const own = ownDefinition(ctx)
  return own === undefined ? object : convertObject(object, from, own)
}

function ownDefinition({ controlPlane, info }: RequestContext): ResourceDefinition | undefined {
  return controlPlane.resources.registry(info)?.definition
}

/** The patch was applied without the managers that it does not mention. */
function withManagers(object: JsonObject, { metadata: { managedFields } }: KubeObject): Json {
  const { metadata = null } = object
  if (managedFields === undefined || !isObject(metadata)) return object
  return { ...object, metadata: { managedFields: managedFields as unknown as Json, ...metadata } }
}
