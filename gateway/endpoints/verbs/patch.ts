import { copyJson } from "../../../apimachinery/copy.ts"
import { printGroupVersion, type Json, type KubeObject } from "../../../apimachinery/object.ts"
import { applyJsonPatch } from "../../../apimachinery/patch/json-patch.ts"
import { applyMergePatch } from "../../../apimachinery/patch/merge-patch.ts"
import { printGo } from "../../../apimachinery/go/print.ts"
import { applyStrategicMergePatch } from "../../../apimachinery/patch/strategic-merge-patch.ts"
import { Mismatch, notParts, refusalDetail } from "../../../apimachinery/schema/decode/errors.ts"
import { printWithoutMarks, withoutMarks } from "../../../apimachinery/schema/json/number-literals.ts"
import { noteOddNumbers, oddNumbersOf } from "../../../apimachinery/schema/json/odd-numbers.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import { inOrderOfFields } from "../../../apimachinery/schema/field-order.ts"
import { isObject, type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { noObject, typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import {
  badRequest,
  hasReason,
  invalid,
  methodNotAllowed,
  notFound,
  restated,
  type StatusError,
  UnconvertedError,
  unexplained,
} from "../../../apimachinery/status.ts"
import { takeTurn } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import {
  managedCustomScale,
  managedKind,
  type ManagedKind,
  managedScale,
} from "../../registry/generic/managed-fields/managed-kind.ts"
import type { ResourceDefinition, WriteOptions } from "../../registry/rest.ts"
import { decodeValue, longBytes } from "../body.ts"
import { agreeOnName, expectedNamespace } from "../body-path.ts"
import { agreeOnNamespace } from "../../registry/generic/metadata.ts"
import { expectedOf, type Expected } from "../expected.ts"
import { simplifyVersion, unconvertible } from "../body-kind.ts"
import type { Endpoint } from "../endpoint.ts"
import { readBody } from "../request-body.ts"
import { writeOptions, type FieldValidation } from "../request-options.ts"
import { sendSubresource, sendValue } from "../responses/respond.ts"
import { admitUpdate } from "./admit-update.ts"
import { applied, mayCreateByApply, readConfiguration } from "./apply.ts"
import { subresourceBody } from "./create.ts"
import {
  becomeServed,
  checkPatchedType,
  dropOtherFields,
  expectedInVersion,
  expectedOfOlder,
  inOwnVersion,
  otherVersion,
} from "./patched-type.ts"
import { patchType, readPatch, type PatchDocument, type PatchType } from "./patch-document.ts"

/** PATCH of an object, its status or a subresource: read, patch, decode, write; retried after a conflict. */
export async function patch(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, handler, subresource, exchange, response } = endpoint
  const { namespace, name } = ctx.info
  if (subresource !== undefined && !subresource.verbs.includes("patch")) throw methodNotAllowed()
  const type = patchType(ctx.headers["content-type"], definition)
  const body = await readBody(ctx, exchange.request, endpoint.maxBodyBytes)
  const options = { ...writeOptions(ctx, "PatchOptions", type === "apply"), isPatch: true }
  const expected = handler === undefined ? expectedOf(definition) : subresourceBody(endpoint)
  const admit = admitUpdate(ctx, definition, options.dryRun)
  const at = { namespace: expectedNamespace(definition, namespace), name }
  let change: (current: KubeObject | undefined) => KubeObject | Promise<KubeObject>
  let write: WriteOptions = options
  if (type === "apply") {
    const configuration = readConfiguration(body, options.fieldValidation)
    await takeTurn(ctx)
    const of = managedKindOf(ctx, definition, expected)
    const { fieldManager, force } = options
    const isLong = body.bytes.length > longBytes
    const application = { definition, of, expected, at, fieldManager, force, isLong }
    change = (current) => applied(ctx, application, configuration, current, options.fieldValidation)
    write = { ...options, managersKnown: true, mayCreate: mayCreateByApply(ctx, definition) }
  } else {
    let document: PatchDocument | undefined
    change = (current) => {
      if (current === undefined) throw notFound(definition, name)
      document ??= readPatch(body.bytes, type, options.fieldValidation)
      return patched(ctx, current, document, type, expected, options.fieldValidation, at)
    }
  }
  if (handler !== undefined) {
    if (handler.update === undefined || handler.get === undefined) throw methodNotAllowed()
    return sendSubresource(
      ctx,
      endpoint,
      200,
      await handler.update(ctx, registry, namespace, name, change, write, admit),
    )
  }
  const { value, created } = await registry.update(ctx, namespace, name, change, write, admit)
  await ctx.pause?.()
  return sendValue(ctx, response, definition, created ? 201 : 200, value)
}

/** The managed kind: that of the resource, or its scale. */
export function managedKindOf(ctx: RequestContext, definition: ResourceDefinition, expected: Expected): ManagedKind {
  if (expected.kind === definition.kind) return managedKind(ctx, definition, ctx.info.subresource)
  return definition.customResource === undefined ? managedScale() : managedCustomScale()
}

/** If the patched value is not a valid object, the patch is at fault: 422 instead of 400. */
function decodePatched(
  ctx: RequestContext,
  value: Json,
  { value: patch, left, written, duplicates, isMarked }: PatchDocument & { left: Json; written: () => Json },
  type: PatchType,
  expected: Expected,
  validation: FieldValidation,
): KubeObject {
  try {
    const copy = isMarked ? withoutMarks(value) : copyJson(value)
    const fault = isObject(copy) ? typeFault(copy) : undefined
    const mismatch = fault === undefined || type !== "strategic" ? undefined : mismatchOfType(copy)
    if (fault !== undefined) throw badRequest(fault, { cause: mismatch })
    if (type === "strategic") noteOddNumbers(copy, oddNumbersOf(patch))
    const repeated = { faults: duplicates, isPatch: true, written }
    return decodeValue(ctx, copy, expected, validation, { origin: type === "strategic" ? type : "patch", repeated })
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    if (type === "strategic" && error.cause instanceof UnconvertedError)
      throw unexplained(error.cause.message, { cause: error })
    const text =
      type === "strategic"
        ? printGo(left)
        : printWithoutMarks(JSON.stringify(type === "merge" ? inMergedOrder(value, patch) : value))
    const { cause } = error
    const converted = type === "strategic" && cause instanceof Mismatch ? cause.refusal(expected.schema) : undefined
    const detail = converted ?? refusalDetail(error.message)
    throw refusedPatch(text, detail, error)
  }
}

/** For fields that identify the type, which must be strings. */
function mismatchOfType(value: Json): Mismatch | undefined {
  const given = value as { [key: string]: Json }
  const field = ["kind", "apiVersion"].find((name) => typeof (given[name] ?? "") !== "string")
  return field === undefined ? undefined : notParts([field], given[field] ?? null, { type: "string" })
}

/** The error does not name an object, since the patched value is none. */
function refusedPatch(text: string, detail: string, cause?: unknown): StatusError {
  const error = invalid({ group: "", kind: "" }, "", [invalidValue(FieldPath.root("patch"), text, detail)])
  const { causes = [] } = error.status.details ?? {}
  return restated(error, { details: { causes } }, { cause })
}

/** Upstream decodes an object without a version into a struct without its fields, which therefore has no name. */
function unversioned(
  ctx: RequestContext,
  object: { [key: string]: Json },
  { group, version, kind }: Expected,
  name: string,
  validation: FieldValidation,
): StatusError {
  const given = object["kind"] || kind
  const text = printWithoutMarks(JSON.stringify(object))
  if (given !== kind && typeof given === "string") {
    const isKnown = schemaOf({ group, version, kind: given }) !== undefined
    const unknown = `no kind ${JSON.stringify(given)} is registered for the internal version of group "${group}"`
    return refusedPatch(text, isKnown ? unconvertible(group, given, kind) : unknown)
  }
  reportUnknown(ctx, object, ["apiVersion", "kind"], validation)
  return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
}

/** Of an object whose type has these fields alone. */
function reportUnknown(
  ctx: RequestContext,
  object: JsonObject,
  known: readonly string[],
  validation: FieldValidation,
): void {
  const fields = Object.keys(object).filter((field) => !known.includes(field))
  const unknown = fields.toSorted().map((field) => `unknown field ${JSON.stringify(field)}`)
  if (validation === "Strict" && unknown.length > 0) {
    const text = printWithoutMarks(JSON.stringify(object))
    throw refusedPatch(text, `strict decoding error: ${unknown.join(", ")}`)
  }
  if (validation === "Warn") for (const line of unknown) ctx.warn(line)
}

const isUnversioned = ({ apiVersion }: JsonObject, { group }: Expected): boolean =>
  !apiVersion || apiVersion === `${group}/`

/** A merge leaves the objects it has traversed as maps, whose fields are printed in alphabetical order. */
function inMergedOrder(value: Json, patch: Json): Json {
  if (!isObject(value) || !isObject(patch)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    inMergedOrder(inner, patch[key] ?? null),
  ])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Managed fields that a patch does not mention are preserved, so they need not be decoded; except for a time of theirs that is null. */
function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields?.some(({ time }) => time === null) === true ? object : { ...object, metadata }
}

/** Whether the patch changes managed fields, or (as JSON patches can) a value that contains them. */
function hasManagedFields(patch: Json): boolean {
  if (!Array.isArray(patch)) return JSON.stringify(patch).includes("managedFields")
  return patch.some((operation) => {
    const text = JSON.stringify(operation)
    return text.includes("managedFields") || /"(?:path|from)":"(?:\/metadata)?"/.test(text)
  })
}

/** Decodes the result like a body, so a patch cannot express anything that a body could not. */
export function patched(
  ctx: RequestContext,
  current: KubeObject,
  document: PatchDocument,
  type: PatchType,
  expected: Expected,
  validation: FieldValidation,
  at: { namespace: string; name: string },
): KubeObject | Promise<KubeObject> {
  const patch = type === "strategic" ? copyJson(document.value) : document.value
  const before = (hasManagedFields(patch) ? current : withoutManagers(current)) as unknown as Json
  const result =
    type === "json"
      ? applyJsonPatch(before, patch)
      : type === "merge"
        ? applyMergePatch(before, patch, validation !== "Ignore")
        : applyStrategicMergePatch(before, patch, expected.schema)
  if (Array.isArray(result)) throw refusedPatch(printWithoutMarks(JSON.stringify(result)), noObject(result))
  const needsVersion = type !== "strategic" && expected.schema.custom !== true && expected.mayLackVersion !== true
  if (isObject(result)) simplifyVersion(result)
  if (needsVersion && isObject(result) && typeFault(result) === undefined && isUnversioned(result, expected)) {
    throw unversioned(ctx, result, expected, at.name, validation)
  }
  const isCustom = expected.schema.custom === true && isObject(result)
  if (isCustom) {
    if (typeFault(result) === undefined && result["apiVersion"] === `${expected.group}/`) {
      reportUnknown(ctx, result, ["apiVersion", "kind", "metadata"], validation)
    }
    checkPatchedType(result, current, refusedPatch)
  }
  const whole = isCustom ? result : typed(result, type, expected)
  const other = otherVersion(ctx, whole)
  const older = expectedOfOlder(ctx, whole, expected)
  const own = isCustom ? expectedInVersion(ctx, result, expected) : expected
  const inVersion = other === undefined ? (older ?? own) : expectedOf(other)
  const plain = (value: Json): Json => (document.isMarked ? withoutMarks(value) : value)
  const written = (): Json =>
    type === "json"
      ? plain(applyJsonPatch(inOrderOfFields(expected.schema, before), patch, true))
      : sortedKeys(plain(whole))
  const decoded = decodePatched(ctx, whole, { ...document, left: patch, written }, type, inVersion, validation)
  if (older !== undefined) becomeServed(decoded, expected)
  dropOtherFields(decoded, expected)
  agreeOnNamespace(decoded, at.namespace)
  agreeOnName(decoded, at.name)
  return other === undefined ? decoded : inOwnVersion(ctx, decoded, other)
}

/**
 * A strategic merge patch cannot change the kind: upstream merges into a struct of the kind. Other patches may omit it. Values that
 * are not strings stay and are rejected later.
 */
function typed(object: Json, type: PatchType, { group, version, kind, mayLackVersion }: Expected): Json {
  const given = object as { [key: string]: Json }
  if (type !== "strategic" && ((given["apiVersion"] && given["kind"]) || mayLackVersion === true)) return object
  const own = { apiVersion: printGroupVersion({ group, version }), kind }
  const isFree = (value: Json | undefined): boolean =>
    (value ?? "") === "" || (typeof value === "string" && type === "strategic")
  for (const name of ["apiVersion", "kind"] as const) if (!isFree(given[name])) own[name] = given[name] as string
  return { ...given, ...own }
}
