// The strategy of custom resources: validates by schema; the generic registry decides which writes change the status. Source:
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.

import { droppedOf } from "./dropped-fields.ts"
import { equalJson } from "../../apimachinery/equality.ts"
import { hasGivenFractionWithin } from "../../apimachinery/schema/decode/given.ts"
import { type FieldError, FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { printGo } from "../../apimachinery/go/print.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { type Faults, validateFields, validatePart, validateRules } from "../../apimachinery/schema/validate.ts"
import { validateEmbedded } from "../../apimachinery/schema/validate-embedded.ts"
import { validateLists } from "../../apimachinery/schema/validate-lists.ts"
import { unreadFields } from "../registry/generic/storage/unread-fields.ts"
import type { Strategy } from "../registry/strategy.ts"
import { valueAt } from "./fields.ts"
import { newErrors } from "./ratcheting.ts"
import { validateByRules } from "./rules.ts"
import { type ScalePaths, validateScale } from "./scale.ts"

interface CustomStrategyOptions {
  schema: () => Schema
  /** The version has a status subresource. */
  status: boolean
  /** By name in field selectors ("spec.color"). */
  selectable: ReadonlyMap<string, readonly string[]>
  scale?: ScalePaths | undefined
  type: { apiVersion: string; kind: string }
}

const root = FieldPath.root()

export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { schema, status, selectable, scale } = options
  const scaleErrors = (object: KubeObject, ofStatus: boolean): FieldError[] =>
    scale === undefined ? [] : validateScale(object, scale, ofStatus)
  const strategy: Strategy = {
    prepareForCreate(_ctx, object) {
      if (status) delete object["status"]
      object.metadata.generation = 1
    },

    settle(object) {
      const of = status ? statusOf(schema()) : undefined
      if (object["status"] === null && of !== undefined && of.nullable !== true) delete object["status"]
    },

    validateFirst: (_ctx, object) => validateType(object, options.type),

    validate: (_ctx, object) => [...validateRules(schema(), object as Json, root), ...scaleErrors(object, false)],

    warnings(_ctx, { metadata: { finalizers = [] } }, current) {
      const before = new Set(current?.metadata.finalizers)
      return [...new Set(finalizers)]
        .filter((name) => !before.has(name))
        .sort()
        .flatMap(finalizerWarnings)
    },

    // Existing errors in unchanged list items are accepted. Source: ValidateUpdate and ValidateStatusUpdate in
    // registry/customresource/{strategy,status_strategy,validator}.go.
    validateUpdate(ctx, object, current) {
      const ofStatus = status && ctx.info.subresource === "status"
      const faults = ofStatus
        ? statusFaults(schema(), object["status"] as Json | undefined, current["status"])
        : validateFields(schema(), object as Json, root)
      return [
        ...newErrors(faults, object, current, schema().source, ofStatus),
        ...scaleErrors(object, ofStatus),
        ...(ofStatus ? [] : validateEmbedded(schema(), object as Json, root)),
        ...newListErrors(schema(), object, current),
      ]
    },

    validateFurther: (ctx, object, current, found) => validateByRules(ctx, schema().source, object, current, found),

    specChanged: (object, current) => {
      const ignored = status ? ["metadata", "status"] : ["metadata"]
      if ([...droppedOf(object), ...unreadFields(object)].some((name) => !ignored.includes(name))) return true
      const rest = (of: KubeObject): unknown =>
        Object.fromEntries(Object.entries(of).filter(([name]) => !ignored.includes(name)))
      return !equalJson(rest(object), rest(current)) || hasGivenFractionWithin(rest(object))
    },
  }
  if (selectable.size > 0) {
    const selectableFields = (object: KubeObject): Record<string, string> => selectedFields(object, selectable)
    strategy.selectableFields = selectableFields
  }
  return strategy
}

function statusOf({ fields }: Schema): Schema | undefined {
  return fields?.["status"]?.schema
}

/** The status is validated separately. */
function statusFaults(schema: Schema, given: Json | undefined, before: unknown): Faults {
  const of = statusOf(schema)
  const isAbsent = given === undefined || (given === null && before === undefined)
  return isAbsent || of === undefined ? noFaults : validatePart(of, given, FieldPath.root("status"))
}

/** Those of list maps and sets are accepted as long as the stored object has any. */
function newListErrors(schema: Schema, object: KubeObject, current: KubeObject): FieldError[] {
  const errors = validateLists(schema, object as Json, root)
  return errors.length > 0 && validateLists(schema, current as Json, root).length === 0 ? errors : []
}

function selectedFields(object: KubeObject, selectable: CustomStrategyOptions["selectable"]): Record<string, string> {
  return Object.fromEntries([...selectable].map(([name, names]) => [name, printField(valueAt(object, names))]))
}

/** Source: ValidateTypeMeta in registry/customresource/validator.go. */
function validateType(object: KubeObject, type: CustomStrategyOptions["type"]): FieldError[] {
  return (["kind", "apiVersion"] as const)
    .filter((field) => object[field] !== type[field])
    .map((field) => invalidValue(FieldPath.root(field), object[field], `must be ${type[field]}`))
}

const noFaults: Faults = { errors: [], owners: new Map() }
const standardFinalizers = ["orphan", "foregroundDeletion", "kubernetes"]

function finalizerWarnings(name: string): string[] {
  if (name.includes("/") || standardFinalizers.includes(name)) return []
  const path = name.includes(".") ? " including a path (/)" : ""
  const advice = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
  return [`metadata.finalizers: ${JSON.stringify(name)}: ${advice}`]
}

/** The value may be older than the schema, and so of any type. */
function printField(value: unknown): string {
  return value === undefined || value === null ? "" : printGo(value as Json)
}
