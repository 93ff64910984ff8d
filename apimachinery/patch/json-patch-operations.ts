// Reads the operations of a JSON patch, with the errors of upstream's jsonPatchOp. Source: k8s.io/apiserver/pkg/endpoints/handlers.

import type { Json } from "../object.ts"
import { isObject } from "../schema/json-object.ts"
import { badRequest, requestEntityTooLarge } from "../status.ts"
import { jsonKind } from "./merge-patch.ts"

/** kube-apiserver's maxJSONPatchOperations. */
const maxOperations = 10_000

export interface PatchOperation {
  op: string
  path: string | undefined
  from: string | undefined
  value: Json
}

export function readOperations(patch: Json): PatchOperation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type []handlers.jsonPatchOp`,
    )
  }
  if (patch.length > maxOperations) {
    throw requestEntityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    )
  }
  return patch.map(readOperation)
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
  return { op: text("op") ?? "unknown", path: text("path"), from: text("from"), value: operation["value"] ?? null }
}
