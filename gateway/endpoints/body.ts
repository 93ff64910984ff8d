// From a request's body to an object of the kind the path expects: media type, syntax, field validation and defaults. Errors in
// kube-apiserver's words.

import { copyJson } from "../../apimachinery/copy.ts"
import { parseGroupVersion, printGroupVersion, type Json, type KubeObject } from "../../apimachinery/object.ts"
import { badRequest, hasReason, unsupportedMediaType } from "../../apimachinery/status.ts"
import { decodeObject, decodingObject, type Decoded } from "../../apimachinery/schema/decode/decode.ts"
import { applyDefaults, applyingDefaults } from "../../apimachinery/schema/defaults.ts"
import { noteLong } from "../../apimachinery/schema/large-values.ts"
import { type JsonObject, sortedKeys } from "../../apimachinery/schema/json-object.ts"
import { parseExactly } from "../../apimachinery/schema/exact-integers.ts"
import { noteOddNumbers, oddNumbersOf } from "../../apimachinery/schema/json/odd-numbers.ts"
import { firstOfKeys } from "../../apimachinery/schema/json/scan.ts"
import { parseObject, parsing, textOfJson, unmarshalErrors } from "../../apimachinery/schema/json/parse.ts"
import { parseProtobuf, protobufMediaType } from "../../apimachinery/schema/protobuf/parse.ts"
import { keepFirst } from "../../apimachinery/schema/json/repeated-keys.ts"
import { atOnce, inSteps, type Steps } from "../../apimachinery/steps.ts"
import { noteDropped } from "../custom-resources/dropped-fields.ts"
import { awaitedPause } from "../request/awaited.ts"
import type { RequestContext } from "../request/context.ts"
import { bodyFormat, mediaType } from "./negotiation.ts"
import { type Repeated, reportFaults } from "./body-faults.ts"
import { checkKind, knownOther, noVersion, simplifyVersion } from "./body-kind.ts"
import type { Expected } from "./expected.ts"
import { type RequestBody, takeJson } from "./request-body.ts"
import type { FieldValidation } from "./request-options.ts"
import { expectedInVersion } from "./verbs/patched-type.ts"

/** A shorter body is decoded at once, without counting its values. */
export const longBytes = 16 * 1024

/** What makes an object is of a known type before anything else is looked at. */
export function checkMediaType(ctx: RequestContext): void {
  const contentType = ctx.headers["content-type"]
  if (mediaType(contentType ?? "") !== protobufMediaType) bodyFormat(contentType)
}

/** With pauses, where it is long: also behind it. Throws if the request has ended meanwhile. */
export function decodeBody(
  ctx: RequestContext,
  body: RequestBody,
  expected: Expected,
  validation: FieldValidation,
): KubeObject | Promise<KubeObject> {
  return inSteps(decoding(ctx, body, expected, validation), awaitedPause(ctx))
}

function* decoding(
  ctx: RequestContext,
  body: RequestBody,
  expected: Expected,
  validation: FieldValidation,
): Steps<KubeObject> {
  try {
    const object = yield* decoded(ctx, body, expected, validation)
    yield
    return object
  } catch (error) {
    if (expected.refusal === undefined || !hasReason(error, "BadRequest")) throw error
    throw badRequest(expected.refusal, { cause: error })
  }
}

function* decoded(
  ctx: RequestContext,
  body: RequestBody,
  expected: Expected,
  validation: FieldValidation,
): Steps<KubeObject> {
  const { bytes, converted } = body
  const isLong = bytes.length > longBytes
  const contentType = ctx.headers["content-type"]
  if (mediaType(contentType ?? "") === protobufMediaType) {
    // Custom resources have no protobuf form.
    if (expected.schema.custom === true) throw unsupportedMediaType(["application/json", "application/yaml"])
    const check = (given: { apiVersion: string; kind: string }): void => checkKind({ ...given, metadata: {} }, expected)
    const value = parseProtobuf(bytes, expected.schema, expected, check)
    return yield* decodingValue(ctx, value, expected, validation, { isLong })
  }
  const duplicates = validation !== "Ignore"
  const options = { duplicates, kind: expected.kind, converted, json: takeJson(body) }
  const format = bodyFormat(contentType)
  const parsed = yield* parsing(bytes, format, options)
  yield
  const text = (): string => textOfJson(bytes)
  const repeated: Repeated = {
    faults: parsed.duplicates,
    text,
    // Upstream makes JSON of YAML, with sorted keys.
    ...(format === "yaml" ? { written: () => sortedKeys(parseObject(bytes, format, options).value) } : {}),
  }
  const [fault] = parsed.duplicates
  if (fault !== undefined && !fault.startsWith(unmarshalErrors) && expected.schema.custom !== true) {
    const first = firstOfKeys(text())
    yield
    keepFirst(parseExactly(first), parsed.value, expected.schema)
    repeated.first = parseExactly(first)
    yield
  }
  return yield* decodingValue(ctx, parsed.value, expected, validation, { repeated, isLong })
}

/** What is known of a value to be decoded. */
interface Given {
  /** It came as a body; or was made by a patch, or by merging what was applied, whose nulls are not dropped. */
  origin?: "body" | "patch" | "strategic" | "apply"
  repeated?: Repeated | undefined
  /** The text it came as was long: what is made of it is walked in steps. */
  isLong?: boolean | undefined
}

export function decodeValue(
  ctx: RequestContext,
  value: Json,
  expected: Expected,
  validation: FieldValidation,
  given: Given = {},
): KubeObject {
  return atOnce(decodingValue(ctx, value, expected, validation, given))
}

/** The same in steps. */
export function* decodingValue(
  ctx: RequestContext,
  value: Json,
  expected: Expected,
  validation: FieldValidation,
  { origin = "body", repeated = { faults: [] }, isLong = false }: Given,
): Steps<KubeObject> {
  const object = value as unknown as KubeObject
  if (isLong) noteLong(object)
  simplifyVersion(object)
  checkUnconverted(object, expected)
  if (origin === "body") {
    reportOtherVersion(ctx, object, expected, validation, repeated)
    if (readAsOther(ctx, object, expected, validation, repeated)) validation = "Ignore"
  }
  // Of a patched object only types: unknown fields are reported below.
  if (origin === "patch") reportOtherVersion(ctx, object, expected, "Ignore", repeated)
  const { version } = object.apiVersion ? parseGroupVersion(object.apiVersion) : expected
  // A patch has been checked for its own faults (verbs/patched-type.ts).
  if (origin !== "patch" || expected.schema.custom !== true)
    checkKind(object, expected, origin === "body" ? repeated.text : undefined)
  const isApplied = origin === "apply" && expected.schema.custom === true
  const ofMemory = isApplied && expected.isStoredAsOther === true ? "unpruned" : "memory"
  const source = origin === "strategic" || origin === "apply" ? ofMemory : "json"
  if (repeated.first !== undefined) {
    const { apiVersion, kind } = object
    decodeObject(expected.schema, { ...(repeated.first as JsonObject), apiVersion, kind }, false, source)
  }
  const collectsUnknown = validation !== "Ignore" || isApplied
  let decoded: Decoded
  try {
    if (isLong) decoded = yield* decodingObject(expected.schema, value, collectsUnknown, source)
    else decoded = decodeObject(expected.schema, value, collectsUnknown, source)
  } catch (error) {
    if (origin === "body") checkFirstFault(object, expected, repeated)
    throw error
  }
  const { unknown: found, unknownPaths } = decoded
  if (isApplied) noteDropped(object, found)
  const written = found.length > 1 && expected.schema.custom !== true ? repeated.written?.() : undefined
  const inOrder = written === undefined ? found : decodeObject(expected.schema, written, true, source).unknown
  const unknown = validation === "Ignore" ? [] : inOrder
  // Of what a strategic merge has made there is no order but that of the words.
  if (origin === "strategic") unknown.sort()
  const asked = { ...expected, version, as: expected.kind, validation }
  reportFaults(ctx, asked, repeated, unknown, expected.schema.custom === true ? undefined : unknownPaths)
  object.metadata ??= {}
  yield
  if (expected.lacksDefaults === true) return object
  expected.defaultFirst?.(object as unknown as JsonObject)
  if (isLong) yield* applyingDefaults(expected.schema, object as unknown as Json, origin === "apply")
  else applyDefaults(expected.schema, object as unknown as Json, origin === "apply")
  yield
  expected.default?.(object as never)
  expected.convert?.(object as never)
  return object
}

/** Of several values of a wrong type, the first one that upstream reads is told. */
function checkFirstFault(object: KubeObject, { schema }: Expected, { written }: Repeated): void {
  if (written === undefined) return
  const { apiVersion, kind } = object
  const inOrder = { ...(written() as JsonObject), apiVersion, kind }
  noteOddNumbers(inOrder, oddNumbersOf(object as unknown as Json))
  decodeObject(schema, inOrder, false)
}

/** For a known kind other than the requested one, its own faults are reported first, including fields if it can be converted. */
function reportOtherVersion(
  ctx: RequestContext,
  object: KubeObject,
  expected: Expected,
  validation: FieldValidation,
  repeated: Repeated,
): void {
  const other = knownOther(object, expected)
  if (other === undefined) return
  const { apiVersion, ...rest } = object
  const value = { ...rest, apiVersion: apiVersion || printGroupVersion(expected), kind: other.kind } as unknown as Json
  const { unknown, unknownPaths } = decodeObject(other.schema, value, validation !== "Ignore", "json", expected.kind)
  if (other.kind !== expected.kind || validation === "Ignore") return
  reportFaults(ctx, { ...other, as: expected.kind, validation }, repeated, unknown, unknownPaths)
}

/** A custom resource of another version or kind has the fields of that one. Which it is, is refused later. Returns whether it was one. */
function readAsOther(
  ctx: RequestContext,
  object: KubeObject,
  expected: Expected,
  validation: FieldValidation,
  repeated: Repeated,
): boolean {
  if (expected.schema.custom !== true || !object.kind) return false
  const { apiVersion, kind } = object
  const { group, version } = parseGroupVersion(apiVersion ?? "")
  if (version === "" && group === expected.group) reportUnread(ctx, object, validation)
  const other = expectedInVersion(ctx, object as unknown as JsonObject, expected)
  if (other === expected || version === "") return false
  const value = copyJson(object) as unknown as Json
  const { unknown } = decodeObject(other.schema, value, validation !== "Ignore", "json", expected.kind)
  reportFaults(ctx, { ...other, kind, version, as: expected.kind, validation }, repeated, unknown, undefined)
  return true
}

/** A custom resource of no version has no fields. */
function reportUnread(ctx: RequestContext, object: KubeObject, validation: FieldValidation): void {
  if (validation === "Strict") throw badRequest(noVersion)
  if (validation === "Ignore") return
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...others } = object
  for (const field of Object.keys(others).toSorted()) ctx.warn(`unknown field ${JSON.stringify(field)}`)
}

function checkUnconverted(object: KubeObject, { kind, version, unconverted }: Expected): void {
  const schema = object.kind === kind ? unconverted?.get(object.apiVersion ?? "") : undefined
  if (schema === undefined) return
  decodeObject(schema, object as unknown as Json, false)
  const given = parseGroupVersion(object.apiVersion)
  const detail = `converting (${given.version}.${kind}) to (${version}.${kind}): unknown conversion`
  throw badRequest(`${kind} in version "${given.version}" cannot be handled as a ${kind}: ${detail}`)
}
