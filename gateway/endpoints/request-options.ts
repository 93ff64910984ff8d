// Query parameters (and the DeleteOptions body) as typed options, checked as upstream checks them.

import {
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  FieldError,
  type FieldError as Fault,
} from "../../apimachinery/field-errors.ts"
import type { Json } from "../../apimachinery/object.ts"
import { decodeObject, parseObject } from "../../apimachinery/schema/decode.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { parseProtobuf, protobufMediaType } from "../../apimachinery/schema/protobuf.ts"
import { badRequest, invalid } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import type { DeleteRequest, ListOptions, WriteOptions } from "../registry/rest.ts"
import { bodyFormat, mediaType } from "./negotiation.ts"

export type FieldValidation = "Ignore" | "Warn" | "Strict"

export interface WriteRequestOptions extends WriteOptions {
  fieldValidation: FieldValidation
  /** Of an apply: what others manage is taken. */
  force: boolean
}

const maxFieldManager = 128

/** `kind`: CreateOptions, UpdateOptions or PatchOptions, for messages. */
export function writeOptions(ctx: RequestContext, kind: string, isApply = false): WriteRequestOptions {
  const errors: Fault[] = []
  const dryRun = dryRunOf(ctx.query.getAll("dryRun"), errors)
  const fieldManager = ctx.query.get("fieldManager") ?? ""
  if (isApply && fieldManager === "") {
    errors.push(required(FieldPath.root("fieldManager"), "is required for apply patch"))
  }
  if (Buffer.byteLength(fieldManager) > maxFieldManager) {
    errors.push(
      new FieldError("FieldValueTooLong", "fieldManager", "", `may not be more than ${maxFieldManager} bytes`),
    )
  }
  const [odd] = unprintable.exec(fieldManager) ?? []
  if (odd !== undefined) {
    const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    const at = Buffer.byteLength(fieldManager.slice(0, fieldManager.indexOf(odd)))
    const detail = `invalid character U+${code} (at position ${at})`
    errors.push(invalidValue(FieldPath.root("fieldManager"), fieldManager, detail))
  }
  if (kind === "PatchOptions" && !isApply && ctx.query.has("force")) {
    errors.push(forbiddenField(FieldPath.root("force"), "may not be specified for non-apply patch"))
  }
  const validation = ctx.query.get("fieldValidation") ?? ""
  if (!["", "Ignore", "Warn", "Strict"].includes(validation)) {
    errors.push(notSupported(FieldPath.root("fieldValidation"), validation, ["", "Ignore", "Strict", "Warn"]))
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

/** "kubectl/v1.33.1 (linux/amd64) …" → "kubectl": what is printable of it, and no longer than a manager's name may be. */
function managerFromUserAgent(agent: string | undefined): string {
  const name = (agent ?? "").split("/")[0] ?? ""
  if (/^[\w.-]{0,128}$/.test(name)) return name === "" ? "unknown" : name
  let taken = ""
  let bytes = 0
  for (const char of name) {
    if (unprintable.test(char)) continue
    bytes += Buffer.byteLength(char)
    if (bytes > maxFieldManager) break
    taken += char
  }
  return taken === "" ? "unknown" : taken
}

const unprintable = /[^ -~\p{L}\p{M}\p{N}\p{P}\p{S}]/u

function dryRunOf(values: readonly string[], errors: Fault[]): boolean {
  const given = values.filter((value) => value !== "")
  if (given.some((value) => value !== "All")) errors.push(notSupported(FieldPath.root("dryRun"), given, ["All"]))
  return given.length > 0
}

export function listOptions(ctx: RequestContext): ListOptions {
  const { query, info } = ctx
  if (query.has("sendInitialEvents") && info.verb !== "watch") {
    const error = forbiddenField(FieldPath.root("sendInitialEvents"), "sendInitialEvents is forbidden for list")
    throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", [error])
  }
  const text = (name: string): string | undefined => {
    const value = query.get(name)
    return value === null || value === "" ? undefined : value
  }
  const limit = integer(text("limit"), "limit")
  const selectors = { labelSelector: text("labelSelector"), fieldSelector: text("fieldSelector") }
  const options = { ...selectors, continue: text("continue"), resourceVersion: text("resourceVersion") }
  const match = text("resourceVersionMatch")
  return {
    namespace: info.namespace,
    ...(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ListOptions),
    ...(limit === undefined || limit === 0 ? {} : { limit }),
    ...(match === undefined ? {} : { resourceVersionMatch: match as "Exact" | "NotOlderThan" }),
  }
}

export function integer(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw badRequest(`${name}: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return value
}

/** "" and "0", "false" are false, as Go's conversion of query parameters has it. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== "false" && value !== "0" && !(value === "" && !query.has(name))
}

const deleteOptionsKind = { group: "", version: "v1", kind: "DeleteOptions" }
const policies = ["Foreground", "Background", "Orphan"]

/** From the body when there is one, otherwise from the query. */
export function deleteRequest(ctx: RequestContext, body: Buffer): DeleteRequest {
  const options = body.length > 0 ? fromBody(ctx, body) : fromQuery(ctx.query)
  const errors: Fault[] = []
  const dryRun = dryRunOf([...(options.dryRun ?? []), ...(body.length > 0 ? ctx.query.getAll("dryRun") : [])], errors)
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = options
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(
      invalidValue(
        FieldPath.root("propagationPolicy"),
        propagationPolicy,
        "orphanDependents and deletionPropagation cannot be both set",
      ),
    )
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported(FieldPath.root("propagationPolicy"), propagationPolicy, [...policies, "nil"]))
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors)
  return {
    dryRun,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  }
}

interface RawDeleteOptions {
  dryRun?: string[]
  gracePeriodSeconds?: number
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
}

function fromBody(ctx: RequestContext, body: Buffer): RawDeleteOptions {
  const schema = schemaOf(deleteOptionsKind)
  const contentType = ctx.headers["content-type"]
  const value =
    schema !== undefined && mediaType(contentType ?? "") === protobufMediaType
      ? parseProtobuf(body, schema)
      : parseObject(body, bodyFormat(contentType), { duplicates: false, kind: "DeleteOptions" }).value
  const { kind } = value as { kind?: Json }
  if (kind !== undefined && kind !== "DeleteOptions")
    throw badRequest(`decoded object cannot be converted to DeleteOptions`)
  if (schema !== undefined) decodeObject(schema, value, false)
  return value as RawDeleteOptions
}

function fromQuery(query: URLSearchParams): RawDeleteOptions {
  const grace = integer(query.get("gracePeriodSeconds") ?? undefined, "gracePeriodSeconds")
  const policy = query.get("propagationPolicy")
  return {
    dryRun: query.getAll("dryRun"),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(query.has("orphanDependents") ? { orphanDependents: flag(query, "orphanDependents") } : {}),
  }
}
