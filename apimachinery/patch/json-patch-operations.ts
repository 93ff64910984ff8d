// Reads the operations of a JSON patch: those of a client's patch all before the first is applied, with the errors of upstream's
// jsonPatchOp (k8s.io/apiserver/pkg/endpoints/handlers); those of a webhook's one by one, as upstream's library does
// (gopkg.in/evanphx/json-patch.v4).

import type { Json } from "../object.ts"
import { isObject, ownValue } from "../schema/json-object.ts"
import { badRequest, requestEntityTooLarge } from "../status.ts"
import { jsonKind } from "./merge-patch.ts"

/** kube-apiserver's maxJSONPatchOperations. */
const maxOperations = 10_000

/** Why a field of an operation has no text; an error only for operations that need it. */
export class NoText {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

export interface PatchOperation {
  op: string
  path: string | NoText
  from: string | NoText
  value: Json
  /** The value is a null that upstream's library has as text, as which it equals no null, but what is empty. */
  isNullText?: true
}

const unknown = "unknown"
const missing = {
  path: new NoText("operation missing path field: missing value"),
  from: new NoText("operation, missing from field: missing value"),
} as const

export function readOperations(patch: Json): PatchOperation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type []handlers.jsonPatchOp`,
    )
  }
  checkCount(patch)
  return patch.map(readOperation)
}

function checkCount(patch: readonly Json[]): void {
  if (patch.length <= maxOperations) return
  throw requestEntityTooLarge(
    `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
  )
}

function readOperation(operation: Json): PatchOperation {
  if (!isObject(operation)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`,
    )
  }
  const text = (field: "op" | "path" | "from"): string | undefined => {
    const value = operation[field] ?? undefined
    if (value === undefined || typeof value === "string") return value
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`,
    )
  }
  return {
    op: text("op") ?? unknown,
    path: text("path") ?? missing.path,
    from: text("from") ?? missing.from,
    value: operation["value"] ?? null,
  }
}

/** A text that is no patch; the message is that of upstream's library. */
export class PatchFault extends Error {}

/** Those of a patch that upstream's library alone reads: a field of another type is an error when its operation is applied. */
export function readLenientOperations(patch: Json): PatchOperation[] {
  if (patch === null) return []
  const mistyped = (value: Json, type: string): PatchFault =>
    new PatchFault(`json: cannot unmarshal ${jsonKind(value)} into Go value of type jsonpatch.${type}`)
  if (!Array.isArray(patch)) throw mistyped(patch, "Patch")
  checkCount(patch)
  return patch.map((operation) => {
    if (operation !== null && !isObject(operation)) throw mistyped(operation, "Operation")
    const field = (name: string): Json => (operation === null ? null : (ownValue(operation, name) ?? null))
    const text = (name: "path" | "from"): string | NoText => {
      const value = field(name)
      if (typeof value === "string") return value
      if (value === null) return missing[name]
      return new NoText(`json: cannot unmarshal ${jsonKind(value)} into Go value of type string`)
    }
    const op = field("op")
    return { op: typeof op === "string" ? op : unknown, path: text("path"), from: text("from"), value: field("value") }
  })
}
