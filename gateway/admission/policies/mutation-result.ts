// What the result of a MutatingAdmissionPolicy's expression makes of an object: an ApplyConfiguration, or a list of JSONPatch
// operations. Source: k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch.

import {
  isTooLarge,
  JsonPatchValue,
  misplacedTypes,
  ObjectValue,
} from "../../../apimachinery/cel/admission/patch-values.ts"
import { nativeObject } from "../../../apimachinery/cel/admission/native-values.ts"
import { NoJson } from "../../../apimachinery/cel/json-values.ts"
import { itemsOf, ListValue, type Value } from "../../../apimachinery/cel/values.ts"
import { printJson } from "../../../apimachinery/go/print.ts"
import { type Json, type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts"
import { applyOperations, rejectionReason } from "../../../apimachinery/patch/json-patch.ts"
import { type PatchOperation, readOperations } from "../../../apimachinery/patch/json-patch-operations.ts"
import { inOrderOfFields } from "../../../apimachinery/schema/field-order.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { isObject, type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { internalError, StatusError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { applyConfiguration } from "./apply-configuration.ts"

/** A policy with an invalid result. The message is upstream's. */
export class MutationFault extends Error {}

/**
 * Returns the object with the result applied, undefined if a test operation fails: then it stays as it is. Throws a MutationFault or
 * ConfigurationError. `schema`: of the object, if the paths of its version know it.
 */
export function patchedBy(
  value: Value,
  object: KubeObject,
  schema: ResourceDefinition["schema"] | undefined,
): Json | undefined {
  if (isTooLarge(value)) throw new MutationFault("the result of the expression is too large")
  if (value instanceof ListValue) return patchedByJson(object, value, schema)
  if (!(value instanceof ObjectValue))
    throw new MutationFault("unsupported return type from ApplyConfiguration expression")
  const misplaced = misplacedTypes(value, "Object")
  if (misplaced.length > 0) throw new MutationFault(`type mismatch: ${misplaced.join("\n")}`)
  const configuration = asJson(value)
  if (schema === undefined) {
    const { group, version } = parseGroupVersion((object.apiVersion as string | null | undefined) ?? "")
    const why = `no corresponding type for ${group}/${version}, Kind=${object.kind}`
    throw new MutationFault(`error applying patch: failed to convert patch object to typed object: ${why}`)
  }
  return applyConfiguration(object, configuration, schema)
}

function asJson(value: ObjectValue): Json {
  try {
    return nativeObject(value)
  } catch (error) {
    if (error instanceof NoJson) throw new MutationFault(error.message)
    throw error
  }
}

/** With fields in upstream's order, which errors and copies show. Undefined if a test fails. */
function patchedByJson(
  object: KubeObject,
  operations: ListValue,
  schema: ResourceDefinition["schema"] | undefined,
): Json | undefined {
  const patch: JsonObject[] = []
  for (const operation of itemsOf(operations)) {
    if (!(operation instanceof JsonPatchValue)) {
      throw new MutationFault("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")
    }
    const { value } = operation
    const misplaced = value instanceof ObjectValue ? misplacedTypes(value, value.typeName) : []
    if (misplaced.length > 0) throw new MutationFault(`type mismatch: ${misplaced.join("\n")}`)
    patch.push(operationOf(operation))
  }
  const printed = object as unknown as Json
  const ordered = schema === undefined ? printed : inOrderOfFields(schema, printed)
  const result = applied(ordered, patch)
  return result === undefined ? undefined : typedAs(result, schema?.custom === true)
}

/** Undefined if a test fails. */
function applied(object: Json, patch: JsonObject[]): Json | undefined {
  try {
    const operations = readOperations(patch).map((operation, index) => withNullText(operation, patch[index] ?? {}))
    return applyOperations(object, operations, true)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const why = rejectionReason(error)
    if (why.startsWith("testing value ")) return undefined
    throw new MutationFault(`JSON Patch: ${why}`)
  }
}

/** Whatever the policy says of failures. A built-in kind is that of the request if there is none. */
function typedAs(object: Json, isCustom: boolean): Json {
  if (!isObject(object)) return object
  const fault = typeFault(object)
  if (fault !== undefined) throw internalError(fault)
  if (isCustom && !object["kind"]) throw internalError(`Object 'Kind' is missing in '${printJson(object)}'`)
  return object
}

/** Upstream makes a text of a null in an expression. */
function withNullText(operation: PatchOperation, { value }: JsonObject): PatchOperation {
  return value === null ? { ...operation, isNullText: true } : operation
}

/** Upstream makes maps of values. */
function operationOf(operation: JsonPatchValue): JsonObject {
  try {
    return sortedKeys(operation.operation()) as JsonObject
  } catch (error) {
    if (!(error instanceof NoJson)) throw error
    throw new MutationFault(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    )
  }
}
