// JSON Patch, RFC 6902, with upstream's limits and errors (a malformed patch is 400; one that does not apply is 422 without
// details). Like upstream it is more lenient than the RFC: a missing key of an existing object counts as null, and indexes may be
// negative. Source: gopkg.in/evanphx/json-patch.v4.

import { dictionary } from "../dictionary.ts"
import { copyJson } from "../copy.ts"
import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { isObject, ownValue, setOwn, sortedEntries } from "../schema/json-object.ts"
import { maxDepth } from "../schema/json-survey.ts"
import { badRequest, requestEntityTooLarge, StatusError } from "../status.ts"
import { jsonKind } from "./merge-patch.ts"
import { PatchedLists } from "./patched-lists.ts"

/** kube-apiserver's maxJSONPatchOperations. */
const maxOperations = 10_000
/**
 * Approximate maximum number of bytes that copy operations of one patch may add. Repeated doubling would otherwise exhaust the
 * memory.
 */
const maxCopied = 3 * 1024 * 1024

const operations = new Set(["add", "remove", "replace", "move", "copy", "test"])

interface PatchOperation {
  op: string
  path: string
  from: string
  value: Json
}

/** The target of a pointer: the container, which must exist, and the key in it. */
interface Place {
  container: Json[] | { [key: string]: Json }
  key: string
}

/**
 * Returns a new value; modifies neither the object nor the patch. `isWritten`: its keys are in the order in which upstream's
 * library writes them.
 */
export function applyJsonPatch(object: Json, patch: Json, isWritten = false): Json {
  const operations = readOperations(patch)
  try {
    const document = new Document(copyJson(object))
    for (const operation of operations) document.apply(operation)
    const result = isWritten ? document.written() : document.result()
    if (isDeeper(result, maxDepth)) throw rejected("it becomes nested too deeply")
    return result
  } catch (error) {
    // Nesting created by copies and moves is traversed recursively, which may exhaust the stack.
    if (error instanceof RangeError) throw rejected("it becomes nested too deeply")
    throw error
  }
}

function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false
  if (depth === 0) return true
  for (const inner of Object.values(value)) if (isDeeper(inner, depth - 1)) return true
  return false
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

class Document {
  readonly #root: Json
  readonly #lists = new PatchedLists()
  /**
   * Objects that operations have traversed: upstream's library holds these as maps and writes them with sorted keys, all others
   * as their original text.
   */
  readonly #opened = new Set<Json>()
  #copied = 0

  constructor(root: Json) {
    this.#root = root
  }

  result(): Json {
    return this.#lists.whole(this.#root)
  }

  written(): Json {
    return this.#write(this.result())
  }

  #write(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#write(item))
    if (!isObject(value)) return value
    const entries = this.#opened.has(value) ? sortedEntries(value) : Object.entries(value)
    return Object.fromEntries(entries.map(([key, inner]) => [key, this.#write(inner)]))
  }

  #open(value: Json): void {
    if (typeof value !== "object" || value === null) return
    this.#opened.add(value)
    for (const inner of Object.values(value)) this.#open(inner)
  }

  /** "" (the whole document) can only be tested: replacing the whole object is not supported. */
  apply({ op, path, from, value }: PatchOperation): void {
    if (!operations.has(op)) throw rejected(`Unexpected kind: ${op}`)
    if (op === "test" && path === "") return this.#test(path, this.#root, value)
    if (op === "move") return this.#move(from, path)
    const target = this.#locate(path, missingWords[op]?.(path))
    if (op === "test") this.#test(path, this.#read(target), value)
    else if (op === "remove") this.#remove(target, `remove for path: '${path}'`)
    else if (op === "copy") this.#add(target, this.#copyOf(from))
    else if (op === "replace" && Array.isArray(target.container)) {
      this.#lists.set(target.container, this.#itemAt(target.container, target.key), copyJson(value))
      // Replacing a missing key adds it.
    } else this.#add(target, copyJson(value))
  }

  #test(path: string, found: Json, wanted: Json): void {
    this.#open(found)
    if (!equalJson(this.#lists.whole(found), wanted)) throw rejected(`testing value ${path} failed`)
  }

  /** The destination is located after the value has been removed from its source. */
  #move(from: string, path: string): void {
    const missing = (what: string): string =>
      `move operation does not apply: doc is missing ${what} path: ${what === "from" ? from : path}: missing value`
    const source = this.#locate(from, missing("from"))
    const value = this.#read(source)
    this.#remove(source, `move for path: '${source.key}'`)
    this.#add(this.#locate(path, missing("destination")), value)
  }

  #copyOf(from: string): Json {
    const found = this.#lists.whole(this.#read(this.#locate(from)))
    this.#copied += JSON.stringify(found).length
    if (this.#copied > maxCopied) throw rejected(`copies add more than ${maxCopied} bytes`)
    return this.#write(found)
  }

  #read({ container, key }: Place): Json {
    if (Array.isArray(container)) return this.#lists.get(container, this.#itemAt(container, key)) ?? null
    return Object.hasOwn(container, key) ? (container[key] ?? null) : null
  }

  #add({ container, key }: Place, value: Json): void {
    if (!Array.isArray(container)) setOwn(container, key, value)
    else {
      const length = this.#lists.length(container)
      this.#lists.insert(container, key === "-" ? length : indexIn(key, length + 1), value)
    }
  }

  #remove({ container, key }: Place, what: string): void {
    if (Array.isArray(container)) this.#lists.remove(container, this.#itemAt(container, key))
    else if (Object.hasOwn(container, key)) delete container[key]
    else throw rejected(`error in ${what}: Unable to remove nonexistent key: ${key}: missing value`)
  }

  #itemAt(list: readonly Json[], key: string): number {
    return indexIn(key, this.#lists.length(list))
  }

  #locate(path: string, missing = `"${path}" leads nowhere`): Place {
    // Text before the first slash is ignored, as in upstream's library.
    if (!path.includes("/")) throw rejected(`"${path}" leads nowhere`)
    const segments = path
      .split("/")
      .slice(1)
      .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    const key = segments.pop() ?? ""
    let container: Json | undefined = this.#root
    this.#opened.add(this.#root)
    for (const segment of segments) {
      if (Array.isArray(container)) {
        container = this.#lists.get(container, index(segment, this.#lists.length(container)))
      } else container = isObject(container) ? ownValue(container, segment) : undefined
      if (isObject(container)) this.#opened.add(container)
    }
    if (!Array.isArray(container) && !isObject(container)) throw rejected(missing)
    return { container, key }
  }
}

/** The messages of upstream (gopkg.in/evanphx/json-patch.v4). */
const missingWords: Readonly<Record<string, (path: string) => string>> = dictionary({
  add: (path) => `add operation does not apply: doc is missing path: "${path}": missing value`,
  remove: (path) => `remove operation does not apply: doc is missing path: "${path}": missing value`,
  replace: (path) => `replace operation does not apply: doc is missing path: ${path}: missing value`,
  test: (path) => `test operation does not apply: is missing path: ${path}: missing value`,
})

/** The index of an existing item. */
function indexIn(key: string, length: number): number {
  const at = index(key, length)
  if (at < 0 || at >= length) throw rejected(`"${key}" is beyond the list`)
  return at
}

/** Negative indexes count from the end. */
function index(segment: string, length: number): number {
  if (!/^[+-]?\d{1,9}$/.test(segment)) throw rejected(`"${segment}" is no index`)
  const at = Number(segment)
  return at < 0 ? at + length : at
}

/** Why a patch was rejected, in upstream's words, which it tells of the patches of webhooks and policies. */
export function rejectionReason({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message.replace(/^json patch: /, "") : message
}

/** Upstream gives clients no details; the reason is kept in the cause, for logs and for rejectionReason(). */
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
