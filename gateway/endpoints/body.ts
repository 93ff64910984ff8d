// From a request's body to an object of the kind the path expects: media type, syntax, field validation, defaults, and
// agreement with the path. Errors in kube-apiserver's words.

import { parseGroupVersion, printGroupVersion, type Json, type KubeObject } from "../../apimachinery/object.ts"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { goQuote } from "../../apimachinery/go-quote.ts"
import { badRequest, hasReason, invalid, type StatusError, unsupportedMediaType } from "../../apimachinery/status.ts"
import { decodeObject, parseObject } from "../../apimachinery/schema/decode.ts"
import { applyDefaults } from "../../apimachinery/schema/defaults.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import type { JsonObject } from "../../apimachinery/schema/json-object.ts"
import { parseExactly } from "../../apimachinery/schema/exact-integers.ts"
import { firstOfKeys, strictFaults } from "../../apimachinery/schema/json-scan.ts"
import { textOfJson, unmarshalErrors } from "../../apimachinery/schema/parse.ts"
import { parseProtobuf, protobufMediaType } from "../../apimachinery/schema/protobuf/parse.ts"
import { keepFirst } from "../../apimachinery/schema/repeated-keys.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { noteDropped } from "../registry/dropped-fields.ts"
import type { RequestContext } from "../request/context.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { bodyFormat, mediaType } from "./negotiation.ts"
import { type RequestBody, takeJson } from "./request-body.ts"
import type { FieldValidation } from "./request-options.ts"

/** What a body is to be: a resource's own kind, or a subresource's. */
export interface Expected {
  group: string
  version: string
  kind: string
  schema: Schema
  /** Defaults that depend on other fields. */
  default?: ((object: never) => void) | undefined
  /** What is said of every body that cannot be decoded, whatever is wrong with it. */
  refusal?: string
  /** An object that says no version is left without one. */
  mayLackVersion?: true
  /** apiVersion → kinds of the same name that are decoded, and converted to nothing. */
  unconverted?: ReadonlyMap<string, Schema>
}

export function expectedOf(definition: ResourceDefinition): Expected {
  const { group, version, kind, schema, strategy } = definition
  return { group, version, kind, schema, default: (object) => strategy.default?.(object) }
}

/** What makes an object is of a known type before anything else is looked at. */
export function checkMediaType(ctx: RequestContext): void {
  const contentType = ctx.headers["content-type"]
  if (mediaType(contentType ?? "") !== protobufMediaType) bodyFormat(contentType)
}

export function decodeBody(
  ctx: RequestContext,
  body: RequestBody,
  expected: Expected,
  validation: FieldValidation,
): KubeObject {
  try {
    return decoded(ctx, body, expected, validation)
  } catch (error) {
    if (expected.refusal === undefined || !hasReason(error, "BadRequest")) throw error
    throw badRequest(expected.refusal, { cause: error })
  }
}

function decoded(ctx: RequestContext, body: RequestBody, expected: Expected, validation: FieldValidation): KubeObject {
  const { bytes, converted } = body
  const contentType = ctx.headers["content-type"]
  if (mediaType(contentType ?? "") === protobufMediaType) {
    // Custom resources have no protobuf form.
    if (expected.schema.custom === true) throw unsupportedMediaType(["application/json", "application/yaml"])
    const check = (given: { apiVersion: string; kind: string }): void => checkKind({ ...given, metadata: {} }, expected)
    return decodeValue(ctx, parseProtobuf(bytes, expected.schema, expected.kind, check), expected, validation)
  }
  const duplicates = validation !== "Ignore"
  const options = { duplicates, kind: expected.kind, converted, json: takeJson(body) }
  const parsed = parseObject(bytes, bodyFormat(contentType), options)
  const text = (): string => textOfJson(bytes)
  const repeated: Repeated = { faults: parsed.duplicates, text }
  const [fault] = parsed.duplicates
  if (fault !== undefined && !fault.startsWith(unmarshalErrors) && expected.schema.custom !== true) {
    const first = firstOfKeys(text())
    keepFirst(parseExactly(first), parsed.value, expected.schema)
    repeated.first = parseExactly(first)
  }
  return decodeValue(ctx, parsed.value, expected, validation, repeated)
}

/** What a text repeats. */
export interface Repeated {
  faults: readonly string[]
  /** The text, if it is JSON or YAML. */
  text?: () => string
  /** The object of what stands first. */
  first?: Json
  /** What a patch has made, with its keys in the order in which upstream reads them. */
  written?: () => Json
}

/** `value` came as a body; or was made by a patch, or by merging what was applied, whose nulls are not dropped. */
export function decodeValue(
  ctx: RequestContext,
  value: Json,
  expected: Expected,
  validation: FieldValidation,
  repeated: Repeated = { faults: [] },
  origin: "body" | "patch" | "strategic" | "apply" = "body",
): KubeObject {
  const object = value as unknown as KubeObject
  checkUnconverted(object, expected)
  checkKind(object, expected)
  const source = origin === "strategic" || origin === "apply" ? "memory" : "json"
  if (repeated.first !== undefined) {
    const { apiVersion, kind } = object
    decodeObject(expected.schema, { ...(repeated.first as JsonObject), apiVersion, kind }, false, source)
  }
  const isApplied = origin === "apply" && expected.schema.custom === true
  const { unknown: found, unknownPaths } = decodeObject(
    expected.schema,
    value,
    validation !== "Ignore" || isApplied,
    source,
  )
  if (isApplied) noteDropped(object, found)
  const written = found.length > 1 && expected.schema.custom !== true ? repeated.written?.() : undefined
  const inOrder = written === undefined ? found : decodeObject(expected.schema, written, true, source).unknown
  const unknown = validation === "Ignore" ? [] : inOrder
  // Of what a strategic merge has made there is no order but that of the words.
  if (origin === "strategic") unknown.sort()
  const [first = ""] = repeated.faults
  const inYaml = first.startsWith(unmarshalErrors)
  const faults = allFaults(repeated, unknown, expected.schema.custom === true ? undefined : unknownPaths).filter(
    (fault) => !isWithinRaw(expected.schema, fault),
  )
  if (faults.length > 0) {
    if (validation === "Strict") {
      throw badRequest(
        `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: strict decoding error: ${faults.join(", ")}`,
      )
    }
    for (const fault of inYaml ? [...linesOf(first), ...unknown] : faults) ctx.warn(fault)
  }
  object.metadata ??= {}
  completeDefaults(object, expected, origin === "apply")
  return object
}

/** What upstream keeps as it came, or reads by itself, is not looked at for keys that are given twice. */
function isWithinRaw(root: Schema, fault: string): boolean {
  const path = /^duplicate field "(.*)"$/.exec(fault)?.[1]
  if (path === undefined || root.custom === true) return false
  let schema: Schema | undefined = root
  for (const [step] of path.matchAll(/[^.[\]]+/g)) {
    if (schema?.type === "any" || schema?.preserveUnknown === true) return true
    schema = schema?.fields?.[step]?.schema ?? schema?.items
  }
  return false
}

/** `paths`: of unknown fields, where they are looked for while the text is read. */
function allFaults(
  { faults, text }: Repeated,
  unknown: readonly string[],
  paths: readonly (readonly (string | number)[])[] | undefined,
): readonly string[] {
  const [first] = faults
  if (first === undefined) return unknown
  if (text === undefined) return [...unknown, ...faults]
  return paths === undefined || first.startsWith(unmarshalErrors)
    ? [...faults, ...unknown]
    : strictFaults(text(), paths)
}

function checkUnconverted(object: KubeObject, { kind, version, unconverted }: Expected): void {
  const schema = object.kind === kind ? unconverted?.get(object.apiVersion ?? "") : undefined
  if (schema === undefined) return
  decodeObject(schema, object as unknown as Json, false)
  const given = parseGroupVersion(object.apiVersion)
  const detail = `converting (${given.version}.${kind}) to (${version}.${kind}): unknown conversion`
  throw badRequest(`${kind} in version "${given.version}" cannot be handled as a ${kind}: ${detail}`)
}

function linesOf(errors: string): string[] {
  return errors
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
}

function completeDefaults(object: KubeObject, expected: Expected, keepsNulls: boolean): void {
  applyDefaults(expected.schema, object as unknown as Json, keepsNulls)
  expected.default?.(object as never)
}

/** apiVersion and kind may be left out of a built-in kind: then they are what the path says. */
function checkKind(object: KubeObject, expected: Expected): void {
  const { group, version, kind, schema } = expected
  const apiVersion = printGroupVersion({ group, version })
  if (schema.custom === true) {
    checkCustomKind(object, expected, apiVersion)
    return
  }
  object.kind ||= kind
  if (expected.mayLackVersion === true && !object.apiVersion && object.kind === kind) return
  object.apiVersion ||= apiVersion
  if (object.kind === kind && object.apiVersion === apiVersion) return
  const given = parseGroupVersion(object.apiVersion)
  const isKnown = schemeOf(given.group) === schemeOf(group) && schemaOf({ ...given, kind: object.kind }) !== undefined
  if (isKnown && object.kind === kind) throw otherVersion(object.apiVersion, apiVersion)
  const detail = isKnown
    ? `converting (${given.version}.${object.kind}) to (${packageOf(group)}.${kind}): unknown conversion`
    : `no kind ${goQuote(object.kind)} is registered for version ${goQuote(object.apiVersion)}`
  const shown = goQuote(given.version)
  throw badRequest(`${object.kind} in version ${shown} cannot be handled as a ${kind}: ${detail}`)
}

/** Two groups are served by servers of their own inside kube-apiserver, which know no other kinds, and are known to none. */
function schemeOf(group: string): string {
  return group === "apiextensions.k8s.io" || group === "apiregistration.k8s.io" ? group : ""
}

/** Of a group's kinds that are no form of each other, in memory. */
export function unconvertible(group: string, from: string, to: string): string {
  return `converting (${packageOf(group)}.${from}) to (${packageOf(group)}.${to}): unknown conversion`
}

/** The package of a group's internal types. */
function packageOf(group: string): string {
  return group === "" || group === "events.k8s.io" ? "core" : group.replace(/\..*/, "")
}

/** Custom resources have to say what they are. */
function checkCustomKind(object: KubeObject, { group, kind }: Expected, apiVersion: string): void {
  if (!object.kind) {
    const text = JSON.stringify(object)
    const shown = text.length > shownBytes ? `${text.slice(0, shownBytes)} ...` : text
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${text}' (${shown})`,
    )
  }
  if (object.apiVersion !== apiVersion) throw otherVersion(object.apiVersion ?? "", apiVersion)
  if (object.kind === kind) return
  const error = invalidValue(FieldPath.root("kind"), object.kind, `must be ${kind}`)
  throw invalid({ group, kind: object.kind }, object.metadata?.name ?? "", [error])
}

/** What an error message quotes of a body. */
const shownBytes = 30

function otherVersion(given: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`)
}

/** The object takes the path's namespace, or must name the same; cluster-scoped objects lose theirs. */
export function agreeOnNamespace(object: KubeObject, namespace: string): void {
  const given = object.metadata.namespace
  if (given === undefined || given === "") {
    if (namespace !== "") object.metadata.namespace = namespace
  } else if (namespace === "") {
    delete object.metadata.namespace
  } else if (given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request")
  }
}

/** The path of a Namespace has its name where others have their namespace. */
export const expectedNamespace = ({ namespaced }: { namespaced: boolean }, namespace: string): string =>
  namespaced ? namespace : ""

/** On PUT and patch: the path's name is the object's. */
export function agreeOnName(object: KubeObject, name: string): void {
  const given = object.metadata.name
  if (given === undefined || given === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
}
