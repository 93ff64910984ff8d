// Objects that nobody looks at for now, as one compressed text: copies of one tenant's objects are much alike, so that is a tenth
// of their memory, and one thing instead of hundreds for the garbage collector to walk through.

import { deflateRawSync, inflateRawSync } from "node:zlib"
import { deepFreeze } from "../apimachinery/freeze.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import { parseJson } from "../apimachinery/schema/exact-integers.ts"

/** What is shorter stays as it is: to begin compressing takes as long as a dozen objects. */
const minTextLength = 2 * 1024
/** What is longer, too: it would hold the thread for milliseconds. */
const maxTextLength = 256 * 1024

/** Finds nearly all of what is said again, in a third of the time. */
const level = 1

export class Folded<T extends KubeObject> {
  readonly namespace: string
  readonly #bytes: Buffer

  /** `objects`: of that namespace. Undefined: they are too few or too large together. */
  static of<T extends KubeObject>(namespace: string, objects: readonly T[]): Folded<T> | undefined {
    const text = JSON.stringify(objects)
    if (text.length < minTextLength || text.length > maxTextLength) return undefined
    return new Folded(namespace, deflateRawSync(text, { level }))
  }

  /** Copied: what zlib answers is the beginning of a larger piece of memory. */
  private constructor(namespace: string, bytes: Buffer) {
    this.namespace = namespace
    this.#bytes = Buffer.allocUnsafeSlow(bytes.length)
    this.#bytes.set(bytes)
  }

  /** Frozen, as they were. */
  objects(): T[] {
    return deepFreeze(parseJson(inflateRawSync(this.#bytes))) as unknown as T[]
  }
}
