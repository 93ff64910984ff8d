// JSON Patch, RFC 6902, with upstream's limits and errors (a malformed patch is 400; one that does not apply is 422 without
// details). Like upstream it is more lenient than the RFC: a missing key of an existing object counts as null, and indexes may be
// negative. Source: gopkg.in/evanphx/json-patch.v4.

import { dictionary } from "../dictionary.ts"
import { copyJson } from "../copy.ts"
import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { isObject, ownValue, setOwn, sortedEntries } from "../schema/json-object.ts"
import { maxDepth } from "../schema/json/survey.ts"
import { patchRejected, type StatusError } from "../status.ts"
import { NoText, type PatchOperation, readOperations } from "./json-patch-operations.ts"
import { indexOfInsertion, indexOfItem, PlaceFault } from "./list-index.ts"
import { PatchedLists } from "./patched-lists.ts"

/**
 * Approximate maximum number of bytes that copy operations of one patch may add. Repeated doubling would otherwise exhaust the
 * memory.
 */
const maxCopied = 3 * 1024 * 1024

const known = new Set(["add", "remove", "replace", "move", "copy", "test"])

/** The target of a pointer: the container, which must exist, and the key in it. */
interface Place {
  container: Json[] | { [key: string]: Json }
  key: string
}

/** {@link applyOperations}, of a client's patch. */
export function applyJsonPatch(object: Json, patch: Json, isWritten = false): Json {
  return applyOperations(object, readOperations(patch), isWritten)
}

/**
 * Returns a new value; modifies neither the object nor the patch. `isWritten`: its keys are in the order in which upstream's
 * library writes them.
 */
export function applyOperations(object: Json, patch: readonly PatchOperation[], isWritten = false): Json {
  try {
    const document = new Document(copyJson(object))
    for (const operation of patch) document.apply(operation)
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

class Document {
  #root: Json
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

  apply(operation: PatchOperation): void {
    const { op, value } = operation
    if (!known.has(op)) throw rejected(`Unexpected kind: ${op}`)
    if (op === "move") return this.#move(operation)
    if (op === "copy") return this.#copy(operation)
    const path = pathOf(operation)
    // The whole document.
    if (op === "replace" && path === "") return this.#replaceAll(value)
    if (op === "test" && path === "") return this.#test(operation, this.#root)
    const target = this.#locate(path)
    if (target === undefined) throw rejected(missingWords[op]?.(path) ?? path)
    const what = `error in ${op} for path: '${path}'`
    if (op === "add") return within(what, () => this.#add(target, copyJson(value)))
    if (op === "remove") return within(what, () => this.#remove(target))
    if (op === "replace") return this.#replace(path, target, value)
    const found = within(what, () => this.#read(target))
    this.#test(operation, found)
  }

  #replaceAll(value: Json): void {
    if (typeof value !== "object" || value === null)
      throw rejected("replace operation value must be object or array: %!w(<nil>)")
    this.#root = copyJson(value)
    this.#opened.add(this.#root)
  }

  /** A missing key is added. */
  #replace(path: string, target: Place, value: Json): void {
    const { container, key } = target
    if (!Array.isArray(container)) return this.#add(target, copyJson(value))
    const missing = `replace operation does not apply: doc is missing key: ${path}: missing value`
    const at = within(missing, () => this.#itemAt(container, key), true)
    this.#lists.set(container, at, copyJson(value))
  }

  #test(operation: PatchOperation, found: Json): void {
    this.#open(found)
    const { value, isNullText = false } = operation
    const whole = this.#lists.whole(found)
    if (isNullText ? !isEmpty(whole) : !equalJson(whole, value))
      throw rejected(`testing value ${pathOf(operation)} failed: test failed`)
  }

  /** The destination is located after the value has been removed from its source. */
  #move(operation: PatchOperation): void {
    const source = this.#locateSource(operation.op, fromOf(operation))
    const value = within(`error in move for path: '${source.key}'`, () => {
      const found = this.#read(source)
      this.#remove(source)
      return found
    })
    const target = this.#locateDestination(operation)
    within(`error in move for path: '${pathOf(operation)}'`, () => this.#add(target, value))
  }

  #copy(operation: PatchOperation): void {
    const from = fromOf(operation)
    const source = this.#locateSource(operation.op, from)
    const found = within(`error in copy for from: '${from}'`, () => this.#read(source))
    const target = this.#locateDestination(operation)
    const whole = this.#lists.whole(found)
    this.#copied += JSON.stringify(whole).length
    if (this.#copied > maxCopied) {
      const sizes = `the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${maxCopied}`
      throw rejected(`Unable to complete the copy, ${sizes}`)
    }
    within("error while adding value during copy", () => this.#add(target, this.#write(whole)))
  }

  #locateSource(op: string, from: string): Place {
    const source = this.#locate(from)
    if (source !== undefined) return source
    throw rejected(`${op} operation does not apply: doc is missing from path: ${from}: missing value`)
  }

  #locateDestination(operation: PatchOperation): Place {
    const path = pathOf(operation)
    const target = this.#locate(path)
    if (target !== undefined) return target
    throw rejected(`${operation.op} operation does not apply: doc is missing destination path: ${path}: missing value`)
  }

  #read({ container, key }: Place): Json {
    if (Array.isArray(container)) return this.#lists.get(container, this.#itemAt(container, key)) ?? null
    return Object.hasOwn(container, key) ? (container[key] ?? null) : null
  }

  #add({ container, key }: Place, value: Json): void {
    if (!Array.isArray(container)) setOwn(container, key, value)
    else this.#lists.insert(container, indexOfInsertion(key, this.#lists.length(container)), value)
  }

  #remove({ container, key }: Place): void {
    if (Array.isArray(container)) this.#lists.remove(container, this.#itemAt(container, key))
    else if (Object.hasOwn(container, key)) delete container[key]
    else throw new PlaceFault(`Unable to remove nonexistent key: ${key}: missing value`)
  }

  #itemAt(list: readonly Json[], key: string): number {
    return indexOfItem(key, this.#lists.length(list))
  }

  /** Undefined if the path leads nowhere. */
  #locate(path: string): Place | undefined {
    // Text before the first slash is ignored, as in upstream's library.
    if (!path.includes("/")) return undefined
    const segments = path
      .split("/")
      .slice(1)
      .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    const key = segments.pop() ?? ""
    let container: Json | undefined = this.#root
    this.#opened.add(this.#root)
    for (const segment of segments) {
      container = this.#inside(container, segment)
      if (isObject(container)) this.#opened.add(container)
    }
    return Array.isArray(container) || isObject(container) ? { container, key } : undefined
  }

  #inside(container: Json | undefined, segment: string): Json | undefined {
    if (!Array.isArray(container)) return isObject(container) ? ownValue(container, segment) : undefined
    try {
      return this.#lists.get(container, this.#itemAt(container, segment))
    } catch (error) {
      if (error instanceof PlaceFault) return undefined // the path leads nowhere, whatever the reason
      throw error
    }
  }
}

function fromOf({ op, from }: PatchOperation): string {
  if (!(from instanceof NoText)) return from
  throw rejected(`${op} operation failed to decode from: ${from.reason}`)
}

function pathOf({ op, path }: PatchOperation): string {
  if (!(path instanceof NoText)) return path
  // For some operations upstream drops the reason.
  const reason = ["add", "remove", "copy"].includes(op) ? "missing value" : path.reason
  throw rejected(`${op} operation failed to decode path: ${reason}`)
}

/** Adds to a fault what was attempted; `alone`: instead of the fault. */
function within<T>(what: string, attempt: () => T, alone = false): T {
  try {
    return attempt()
  } catch (error) {
    if (!(error instanceof PlaceFault)) throw error
    throw rejected(alone ? what : `${what}: ${error.message}`)
  }
}

/** The messages of upstream (gopkg.in/evanphx/json-patch.v4). */
const missingWords: Readonly<Record<string, (path: string) => string>> = dictionary({
  add: (path) => `add operation does not apply: doc is missing path: "${path}": missing value`,
  remove: (path) => `remove operation does not apply: doc is missing path: "${path}": missing value`,
  replace: (path) => `replace operation does not apply: doc is missing path: ${path}: missing value`,
  test: (path) => `test operation does not apply: is missing path: ${path}: missing value`,
})

const isEmpty = (value: Json): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0

/** Why a patch was rejected, in upstream's words, which it tells of the patches of webhooks and policies. */
export function rejectionReason({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message.replace(/^json patch: /, "") : message
}

/** rejectionReason() finds the reason again. */
function rejected(reason: string): StatusError {
  return patchRejected(new Error(`json patch: ${reason}`))
}
