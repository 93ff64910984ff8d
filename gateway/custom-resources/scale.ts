// The scale subresource of a custom resource: its definition contains the paths of the numbers.

import { goTypeOf, printGo } from "../../apimachinery/go/print.ts"
import { type FieldError, FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { type Json, type KubeObject, printGroupVersion } from "../../apimachinery/object.ts"
import { isInteger } from "../../apimachinery/schema/exact-integers.ts"
import { ownValue, setOwn } from "../../apimachinery/schema/json-object.ts"
import { prune, ToldPaths } from "../../apimachinery/schema/prune.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { notFound, unexplained } from "../../apimachinery/status.ts"
import type { Registry } from "../registry/rest.ts"
import { type Scalable, scaleSubresource } from "../registry/workloads/scale.ts"
import { maxInt32 } from "../registry/validation/values.ts"
import { customAge, customColumns } from "./columns.ts"
import { plainFields, valueAt } from "./fields.ts"
import type { CustomResourceVersion } from "./types.ts"
import { notePatched } from "./undecoded.ts"

export type ScalePaths = NonNullable<NonNullable<CustomResourceVersion["subresources"]>["scale"]>

export const customScale = {
  ...scaleSubresource(scalableOf),
  // As if the definition of Scale had these columns: zero values, which are omitted, have no cell.
  columns: customColumns([
    { name: "Desired", type: "integer", description: "Number of desired replicas", jsonPath: ".spec.replicas" },
    { name: "Available", type: "integer", description: "Number of actual replicas", jsonPath: ".status.replicas" },
    { name: "Age", type: "date", description: customAge.description, jsonPath: ".metadata.creationTimestamp" },
  ]),
}

function scalableOf({ definition }: Registry): Scalable {
  const scale = definition.customResource?.scale
  if (scale === undefined) throw notFound(definition, "scale")
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  const spec = plainFields(specReplicasPath)
  return {
    ownRules: true,
    required: { path: specReplicasPath, isIn: (object) => valueAt(object, spec) !== undefined },
    replicas: (object) => numberAt(object, specReplicasPath),
    currentReplicas: (object) => numberAt(object, statusReplicasPath),
    selector: (object) => (labelSelectorPath === undefined ? "" : textAt(object, labelSelectorPath)),
    setReplicas(object, replicas) {
      setField(object, spec, replicas)
      // In another version it is converted first, which drops what the stored one does not have.
      if (printGroupVersion(definition) === definition.storageVersion && !isDeclared(definition.schema, spec))
        notePatched(object)
    },
  }
}

/** Validates the fields of an object that its scale subresource uses; `ofStatus`: only those in the status. */
export function validateScale(object: KubeObject, scale: ScalePaths, ofStatus: boolean): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return [
    ...(ofStatus ? [] : validateNumber(object, specReplicasPath)),
    ...validateNumber(object, statusReplicasPath),
    ...(labelSelectorPath === undefined ? [] : validateText(object, labelSelectorPath)),
  ]
}

function validateNumber(object: KubeObject, path = ""): FieldError[] {
  const { value, fault } = accessed(object, path, isInteger, "int64")
  const at = FieldPath.root(path)
  if (fault !== undefined) return [invalidValue(at, 0, fault)]
  if (value === undefined) return []
  if (value < 0) return [invalidValue(at, value, "should be a non-negative integer")]
  return value > maxInt32 ? [invalidValue(at, value, `should be less than or equal to ${maxInt32}`)] : []
}

function validateText(object: KubeObject, path: string): FieldError[] {
  const { fault } = accessed(object, path, isText, "string")
  return fault === undefined ? [] : [invalidValue(FieldPath.root(path), "", fault)]
}

/** An object that was stored under another schema may have other values. */
function numberAt(object: KubeObject, path: string): number {
  const { value = 0, fault } = accessed(object, path, isInteger, "int64")
  if (fault !== undefined) throw unexplained(fault)
  return Number(BigInt.asIntN(32, BigInt(value)))
}

function textAt(object: KubeObject, path: string): string {
  const { value = "", fault } = accessed(object, path, isText, "string")
  if (fault !== undefined) throw unexplained(fault)
  return value
}

const isText = (value: unknown): value is string => typeof value === "string"

/** The value at the path, or why there cannot be one of its type. */
function accessed<T>(
  object: KubeObject,
  path: string,
  isOfType: (value: unknown) => value is T,
  type: string,
): { value?: T; fault?: string } {
  const names = plainFields(path)
  const blocked = firstNoObject(object, names)
  if (blocked !== undefined)
    return { fault: `${blocked.path} accessor error: ${wrongType(blocked.value, "map[string]interface{}")}` }
  const value = valueAt(object, names)
  if (value === undefined) return {}
  return isOfType(value) ? { value } : { fault: `${path} accessor error: ${wrongType(value, type)}` }
}

/** The value that prevents access to a field. */
function firstNoObject(object: object, names: readonly string[]): { value: unknown; path: string } | undefined {
  let at: unknown = object
  for (const [index, name] of names.slice(0, -1).entries()) {
    at = ownValue(at as Record<string, unknown>, name)
    if (at === undefined || at === null) return undefined
    // Upstream's message contains the path up to the next field.
    if (typeof at !== "object" || Array.isArray(at)) {
      return { value: at, path: `.${names.slice(0, index + 2).join(".")}` }
    }
  }
  return undefined
}

function wrongType(value: unknown, expected: string): string {
  return `${printGo(value as Json)} is of the type ${goTypeOf(value as Json)}, expected ${expected}`
}

/** If not, upstream stores the number, and drops it when it reads the object. */
function isDeclared(schema: Schema, names: readonly string[]): boolean {
  const alone = {}
  setField(alone, names, 0)
  return prune(schema, alone, new ToldPaths()).length === 0
}

/** null is the only other value than an object that reading has accepted. */
function setField(object: object, names: readonly string[], value: number): void {
  let at = object as Record<string, unknown>
  for (const [index, name] of names.slice(0, -1).entries()) {
    const next = ownValue(at, name)
    if (next === null)
      throw unexplained(
        `value cannot be set because .${names.slice(0, index + 1).join(".")} is not a map[string]interface{}`,
      )
    const inner: Record<string, unknown> = typeof next === "object" ? { ...next } : {}
    setOwn(at, name, inner)
    at = inner
  }
  const last = names.at(-1)
  if (last !== undefined) setOwn(at, last, value)
}
