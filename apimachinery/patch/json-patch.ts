// JSON Patch, RFC 6902, through the package rfc6902. What is ours: limits, and upstream's errors (a patch that cannot be read
// is 400; one that does not apply is 422).

import { applyPatch, type Operation } from "rfc6902"
import type { Json } from "../object.ts"
import { badRequest, StatusError } from "../status.ts"

/** As kube-apiserver's JSON patch limit. */
const maxOperations = 10_000

const operations = new Set(["add", "remove", "replace", "move", "copy", "test"])
/** Own properties of these names are legal in a document, but no operation needs to walk through them. */
const forbiddenSegments = new Set(["__proto__", "constructor", "prototype"])

export function applyJsonPatch(object: Json, patch: Json): Json {
  const list = readOperations(patch)
  const result = structuredClone(object)
  for (const operation of list) {
    const [error] = applyPatch(result, [operation])
    if (error !== null && error !== undefined) throw rejected(operation, error)
  }
  return result
}

function readOperations(patch: Json): Operation[] {
  if (!Array.isArray(patch))
    throw badRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp")
  if (patch.length > maxOperations) {
    throw new StatusError({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
      reason: "RequestEntityTooLarge",
      code: 413,
    })
  }
  return patch.map((operation) => {
    if (typeof operation !== "object" || operation === null || Array.isArray(operation)) {
      throw badRequest("json: cannot unmarshal into Go value of type jsonpatch.Operation")
    }
    const { op, path, from } = operation
    if (typeof op !== "string" || !operations.has(op)) throw unprocessable(`Unexpected kind: ${String(op)}`)
    for (const pointer of op === "move" || op === "copy" ? [path, from] : [path]) {
      if (typeof pointer !== "string") throw unprocessable(`operation "${op}" has no path`)
      if (pointer.split("/").some((segment) => forbiddenSegments.has(segment))) {
        throw unprocessable(`operation "${op}" may not walk through "${pointer}"`)
      }
    }
    if ((op === "add" || op === "replace" || op === "test") && !("value" in operation)) {
      return { ...operation, value: null } as unknown as Operation
    }
    return operation as unknown as Operation
  })
}

function unprocessable(message: string): StatusError {
  return new StatusError(
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "the server rejected our request due to an error in our request",
      reason: "Invalid",
      details: {}, // upstream tells no more to the client
      code: 422,
    },
    { cause: new Error(message) },
  )
}

function rejected(operation: Operation, error: Error): StatusError {
  const path = JSON.stringify("path" in operation ? operation.path : "")
  return unprocessable(
    operation.op === "test"
      ? `testing value ${path} failed`
      : `${operation.op} operation does not apply: doc is missing path: ${path}: ${error.message}`,
  )
}
