// JSON Patch, RFC 6902, through the package rfc6902. What is ours: limits, upstream's errors (a patch that cannot be read
// is 400; one that does not apply is 422 and says no more), and the places where the server's library is more lenient than
// the RFC: a key that is missing in an object that is there counts as null, and indexes may be negative.

import { applyPatch, Pointer, type Operation } from "rfc6902"
import { copyJson } from "../copy.ts"
import type { Json } from "../object.ts"
import { badRequest, requestEntityTooLarge, StatusError } from "../status.ts"
import { isObject, jsonKind } from "./merge-patch.ts"

/** As kube-apiserver's maxJSONPatchOperations. */
const maxOperations = 10_000
/** Bytes that copy operations of one patch may add, roughly. Doubling copies would else fill the memory. */
const maxCopied = 3 * 1024 * 1024

const operations = new Set(["add", "remove", "replace", "move", "copy", "test"])
/** Own properties of these names are legal in a document, but no operation needs to walk through them. */
const forbiddenSegments = new Set(["__proto__", "constructor", "prototype"])

interface PatchOperation {
  op: string
  path: string
  from: string
  value: Json
}

/** Where a pointer leads: the container, which must be there, and the key in it. */
interface Place {
  container: Json[] | { [key: string]: Json }
  key: string
}

export function applyJsonPatch(object: Json, patch: Json): Json {
  const result = copyJson(object)
  let copied = 0
  for (const operation of readOperations(patch)) {
    const conforming = conform(result, operation)
    if (conforming === undefined) continue
    if (operation.op === "copy" && "value" in conforming) {
      copied += JSON.stringify(conforming.value).length
      if (copied > maxCopied) throw rejected(`copies add more than ${maxCopied} bytes`)
    }
    const [error] = applyPatch(result, [conforming])
    if (error !== null && error !== undefined) throw rejected(`${operation.op} "${operation.path}": ${error.message}`)
  }
  return result
}

function readOperations(patch: Json): PatchOperation[] {
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
  const text = (field: "op" | "path" | "from"): string => {
    const value = operation[field] ?? ""
    if (typeof value === "string") return value
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`,
    )
  }
  return { op: text("op"), path: text("path"), from: text("from"), value: operation["value"] ?? null }
}

/**
 * The same operation in terms the RFC accepts, or undefined when there is nothing to do. "" (the whole document) can only
 * be tested: replacing the object by something else is not a change of it.
 */
function conform(document: Json, { op, path, from, value }: PatchOperation): Operation | undefined {
  if (!operations.has(op)) throw rejected(`unexpected operation "${op}"`)
  if (op === "test" && path === "") return { op, path, value }
  const target = locate(document, path, missingWords[op]?.(path))
  if (op === "add" || op === "replace") {
    if (op === "replace" && Array.isArray(target.container)) return { op, path: pointer(path, target, 0), value }
    // Replacing a key that is not there adds it.
    return { op: "add", path: pointer(path, target, 1), value }
  }
  if (op === "remove") return { op, path: pointer(path, target, 0) }
  if (op === "test") {
    if (isMissing(target)) {
      if (value === null) return undefined
      throw rejected(`testing value ${path} failed`)
    }
    return { op, path: pointer(path, target, 0), value }
  }
  const source = locate(document, from)
  if (op === "move") return { op, from: pointer(from, source, 0), path: pointer(path, target, 1) }
  const taken = isMissing(source) ? null : copyJson(Pointer.fromJSON(pointer(from, source, 0)).get(document))
  if (taken === undefined) throw rejected(`copy: "${from}" is not there`)
  return { op: "add", path: pointer(path, target, 1), value: taken as Json }
}

/** In upstream's words (gopkg.in/evanphx/json-patch.v4). */
const missingWords: Readonly<Record<string, (path: string) => string>> = {
  add: (path) => `add operation does not apply: doc is missing path: "${path}": missing value`,
  remove: (path) => `remove operation does not apply: doc is missing path: "${path}": missing value`,
  replace: (path) => `replace operation does not apply: doc is missing path: ${path}: missing value`,
  test: (path) => `test operation does not apply: is missing path: ${path}: missing value`,
}

const isMissing = ({ container, key }: Place): boolean => !Array.isArray(container) && !Object.hasOwn(container, key)

function locate(document: Json, path: string, missing = `"${path}" leads nowhere`): Place {
  // What stands before the first slash is passed over, as upstream's library does.
  if (!path.includes("/")) throw rejected(`"${path}" leads nowhere`)
  const segments = path
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
  if (segments.some((segment) => forbiddenSegments.has(segment))) throw rejected(`"${path}" is refused`)
  const key = segments.pop() ?? ""
  let container: Json | undefined = document
  for (const segment of segments) {
    if (Array.isArray(container)) container = container[index(segment, container.length)]
    else container = isObject(container) && Object.hasOwn(container, segment) ? container[segment] : undefined
  }
  if (!Array.isArray(container) && !isObject(container)) throw rejected(missing)
  return { container, key }
}

/** The path with a negative last index counted from the end; `extra` is 1 where one may add after the last item. */
function pointer(path: string, { container, key }: Place, extra: 0 | 1): string {
  const rooted = path.slice(path.indexOf("/"))
  if (!Array.isArray(container) || key === "-") return rooted
  const at = index(key, container.length + extra)
  if (at < 0 || at >= container.length + extra) throw rejected(`"${path}" is beyond the list`)
  return `${rooted.slice(0, rooted.lastIndexOf("/"))}/${at}`
}

function index(segment: string, length: number): number {
  if (!/^[+-]?\d{1,9}$/.test(segment)) throw rejected(`"${segment}" is no index`)
  const at = Number(segment)
  return at < 0 ? at + length : at
}

/** Upstream tells the client no more than this; the reason stays in the cause, for logs. */
function rejected(reason: string): StatusError {
  return new StatusError(
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "the server rejected our request due to an error in our request",
      reason: "Invalid",
      details: {},
      code: 422,
    },
    { cause: new Error(`json patch: ${reason}`) },
  )
}
