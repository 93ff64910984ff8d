// Query parameters (and the DeleteOptions body) as typed options, validated as upstream.

import {
  FieldPath,
  forbiddenField,
  notSupported,
  notSupportedText,
  required,
  type FieldError as Fault,
} from "../../apimachinery/field-errors.ts"
import { type Json, parseGroupVersion } from "../../apimachinery/object.ts"
import { maxManager, unprintable, validateFieldManager } from "../../apimachinery/managed-fields/validate.ts"
import { parseInt64 } from "../../apimachinery/go/integers.ts"
import { decodeObject, parseObject } from "../../apimachinery/schema/decode/decode.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { parseProtobuf, protobufMediaType } from "../../apimachinery/schema/protobuf/parse.ts"
import { badRequest, invalid, StatusError } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import { type DeleteOptions, deleteRequestOf } from "../registry/generic/deletion.ts"
import type { DeleteRequest, ListOptions, WriteOptions } from "../registry/rest.ts"
import { lacksVersion, simplifyVersion, versionMissingIn } from "./body-kind.ts"
import { bodyFormat, mediaType } from "./negotiation.ts"
import type { RequestBody } from "./request-body.ts"
import { notRegistered, typeOfOptions } from "./schemes.ts"
import { refusalDetail } from "../../apimachinery/schema/decode/errors.ts"

export type FieldValidation = "Ignore" | "Warn" | "Strict"

interface WriteRequestOptions extends WriteOptions {
  fieldValidation: FieldValidation
  /** Apply only: takes ownership of fields from other managers. */
  force: boolean
}

/** `kind`: CreateOptions, UpdateOptions or PatchOptions, for error messages. */
export function writeOptions(ctx: RequestContext, kind: string, isApply = false): WriteRequestOptions {
  const errors: Fault[] = []
  const fieldManager = (ctx.query.get("fieldManager") ?? "").toWellFormed() // it is stored
  if (isApply && fieldManager === "") {
    errors.push(required(FieldPath.root("fieldManager"), "is required for apply patch"))
  }
  if (kind === "PatchOptions" && !isApply && ctx.query.has("force")) {
    errors.push(forbiddenField(FieldPath.root("force"), "may not be specified for non-apply patch"))
  }
  errors.push(...validateFieldManager(fieldManager, FieldPath.root("fieldManager")))
  const dryRun = dryRunOf(ctx.query.getAll("dryRun"), errors)
  const validation = ctx.query.get("fieldValidation") ?? ""
  if (!["", "Ignore", "Warn", "Strict"].includes(validation)) {
    errors.push(notSupportedText(FieldPath.root("fieldValidation"), validation, ["", "Ignore", "Strict", "Warn"]))
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", errors)
  return {
    dryRun,
    fieldManager: fieldManager === "" ? managerFromUserAgent(ctx.headers["user-agent"]) : fieldManager,
    force: isApply && flag(ctx.query, "force"),
    subresource: ctx.info.subresource,
    fieldValidation: validation === "" ? "Warn" : (validation as FieldValidation),
  }
}

/** "kubectl/v1.33.1 (linux/amd64) …" → "kubectl": the printable characters, truncated to the maximum length of a manager name. */
function managerFromUserAgent(agent: string | undefined): string {
  const given = (agent ?? "").split("/")[0] ?? ""
  if (/^[\w.-]{0,128}$/.test(given)) return given === "" ? "unknown" : given
  const name = Buffer.from(given, "latin1").toString() // headers contain bytes, not text
  let taken = ""
  let bytes = 0
  for (const char of name) {
    if (unprintable.test(char)) continue
    bytes += Buffer.byteLength(char)
    if (bytes > maxManager) break
    taken += char
  }
  return taken === "" ? "unknown" : taken
}

function dryRunOf(values: readonly string[], errors: Fault[]): boolean {
  if (values.some((value) => value !== "All")) errors.push(notSupported(FieldPath.root("dryRun"), values, ["All"]))
  return values.length > 0
}

export function listOptions(ctx: RequestContext): ListOptions {
  const { query, info } = ctx
  const text = (name: string): string | undefined => {
    const value = query.get(name)
    return value === null || value === "" ? undefined : value
  }
  integer(query, "timeoutSeconds")
  const limit = integer(query, "limit")
  const selectors = { labelSelector: text("labelSelector"), fieldSelector: text("fieldSelector") }
  const options = { ...selectors, continue: text("continue"), resourceVersion: text("resourceVersion") }
  const match = text("resourceVersionMatch")
  return {
    namespace: info.namespace,
    ...(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ListOptions),
    ...(limit === undefined || limit === 0 ? {} : { limit }),
    ...(match === undefined ? {} : { resourceVersionMatch: match as "Exact" | "NotOlderThan" }),
    ...(query.has("sendInitialEvents") ? { sendInitialEvents: flag(query, "sendInitialEvents") } : {}),
  }
}

/** Returns undefined if the parameter is missing. An empty value is not a number. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  return Number(parseInt64(text))
}

/** Everything but "0" and "false" is true, as in Go's conversion of query parameters. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && !["false", "0"].includes(value.toLowerCase())
}

const deleteOptionsKind = { group: "", version: "v1", kind: "DeleteOptions" }

/** Options from the body if there is one, otherwise from the query; they are not combined. */
export function deleteRequest(ctx: RequestContext, body: RequestBody): DeleteRequest {
  return deleteRequestOf(body.bytes.length > 0 ? fromBody(ctx, body) : fromQuery(ctx.query))
}

function fromBody(ctx: RequestContext, body: RequestBody): DeleteOptions {
  const schema = schemaOf(deleteOptionsKind)
  const contentType = ctx.headers["content-type"]
  const value =
    schema !== undefined && mediaType(contentType ?? "") === protobufMediaType
      ? parseProtobuf(body.bytes, schema, undefined, ({ apiVersion, kind }) => {
          if (kind !== "" && kind !== "DeleteOptions") throw notOptions(kind, apiVersion)
        })
      : parseOptions(body, contentType)
  const named = value as { kind?: string | null; apiVersion?: string | null }
  simplifyVersion(named)
  const { kind, apiVersion } = named
  if (apiVersion && lacksVersion(apiVersion) && apiVersion !== "meta.k8s.io/") {
    throw badRequest(versionMissingIn(JSON.stringify(value)))
  }
  if (kind && kind !== "DeleteOptions") throw notOptions(kind, apiVersion ?? "")
  if (schema !== undefined) decodeOptions(schema, value)
  return value as DeleteOptions
}

function decodeOptions(schema: Schema, value: Json): void {
  try {
    decodeObject(schema, value, false)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw badRequest(refusalDetail(error.message), { cause: error })
  }
}

/** Parse errors do not mention a kind, since the path does not determine that of this body: they are the detail alone. */
function parseOptions({ bytes, converted }: RequestBody, contentType: string | undefined): Json {
  try {
    return parseObject(bytes, bodyFormat(contentType), { duplicates: false, converted }).value
  } catch (error) {
    if (!(error instanceof StatusError && error.cause instanceof SyntaxError)) throw error
    throw badRequest(error.cause.message, { cause: error })
  }
}

function notOptions(kind: string, apiVersion: string): StatusError {
  const given = { ...parseGroupVersion(apiVersion || "meta.k8s.io/v1"), kind }
  const type = typeOfOptions(given)
  return badRequest(
    type === undefined
      ? `${notRegistered(given)} in scheme "pkg/runtime/scheme.go:111"`
      : `converting (${type}) to (v1.DeleteOptions): unknown conversion`,
  )
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  const grace = integer(query, "gracePeriodSeconds")
  const policy = query.get("propagationPolicy")
  return {
    dryRun: query.getAll("dryRun"),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(query.has("orphanDependents") ? { orphanDependents: flag(query, "orphanDependents") } : {}),
    ...preconditionsOf(query.get("uid") ?? "", query.get("resourceVersion") ?? ""),
  }
}

/** Source: Convert_url_Values_To_v1_DeleteOptions: an empty value counts as missing. */
function preconditionsOf(uid: string, resourceVersion: string): Pick<DeleteOptions, "preconditions"> {
  if (uid === "" && resourceVersion === "") return {}
  return {
    preconditions: {
      ...(uid === "" ? {} : { uid }),
      ...(resourceVersion === "" ? {} : { resourceVersion }),
    },
  }
}
