// Caches the encoding (protobuf, compressed text, rows of tables) of runs of consecutive objects in lists: in a large collection few
// runs change between two lists, and the others need not be encoded and compressed again. The end of a run is determined by the object
// before it, not by counting, so that adding or deleting an object changes only its own run.

import type { KubeValue } from "../../registry/generic/storage/value.ts"
import type { Deflated } from "./gzip-join.ts"
import type { PrintedRows } from "./printed-rows.ts"

/** A run ends after one in this many objects, on average. */
const meanObjects = 64
const maxObjects = 256
const maxBytes = 256 * 1024

/** Maximum size of the encoded runs of all control planes. Beyond it the least recently used are dropped. */
const defaultCacheBytes = 32 * 1024 * 1024

/** Overhead of an entry, and of each of its objects. */
const entryOverhead = 512
const objectOverhead = 64

export type Run = readonly KubeValue[]

/** `pieces` of the list in order, of any size. */
export async function* runsOf(pieces: Iterable<Run> | AsyncIterable<Run>): AsyncGenerator<Run> {
  let run: KubeValue[] = []
  let bytes = 0
  for await (const piece of pieces) {
    for (const value of piece) {
      run.push(value)
      bytes += value.length
      if (!endsRun(value) && run.length < maxObjects && bytes < maxBytes) continue
      yield run
      run = []
      bytes = 0
    }
  }
  if (run.length > 0) yield run
}

/** Revisions are consecutive; multiplied by an irregular constant they are distributed evenly. */
function endsRun({ revision }: KubeValue): boolean {
  return Math.imul(revision, 0x9e3779b1) >>> 0 < 2 ** 32 / meanObjects
}

interface EncodedRun {
  bytes?: Buffer
  /** Of a table. */
  rows?: PrintedRows
  deflated?: Deflated
  /** Being compressed: all who list the collection at the same time, as after a start, wait for the same. */
  deflating?: Promise<Deflated>
}

interface Entry {
  form: string
  /** Emptied when the entry is dropped. */
  identities: readonly object[]
  encoded: EncodedRun
  weight: number
}

export class RunCache {
  readonly #maxBytes: number
  /** By form of the encoding, then by first object. */
  readonly #forms = new Map<string, Map<object, Entry>>()
  /** In the order of their last use. */
  readonly #uses = new Set<Entry>()
  #bytes = 0

  constructor(maxBytes = defaultCacheBytes) {
    this.#maxBytes = maxBytes
  }

  /** The encoding of this exact run, if cached. */
  get(form: string, run: Run): EncodedRun | undefined {
    const first = run[0]?.identity
    const entry = first && this.#forms.get(form)?.get(first)
    if (entry === undefined || entry.identities.length !== run.length) return undefined
    for (const [index, identity] of entry.identities.entries()) if (run[index]?.identity !== identity) return undefined
    this.#uses.delete(entry)
    this.#uses.add(entry)
    return entry.encoded
  }

  put(form: string, run: Run, encoded: EncodedRun): void {
    const first = run[0]?.identity
    // What is computed for a request is its own identity, and nobody will have it again.
    if (first === undefined || first === run[0]) return
    const before = this.#forms.get(form)?.get(first)
    if (before !== undefined) this.#forget(before)
    // The entry keeps the objects' texts alive, even if the store already has newer ones.
    const held = run.reduce((sum, value) => sum + value.length + objectOverhead, entryOverhead)
    const entry = { form, identities: run.map(({ identity }) => identity), encoded, weight: held + weightOf(encoded) }
    let entries = this.#forms.get(form)
    if (entries === undefined) this.#forms.set(form, (entries = new Map()))
    entries.set(first, entry)
    this.#bytes += entry.weight
    this.#uses.add(entry)
    for (const oldest of this.#uses) {
      if (this.#bytes <= this.#maxBytes) break
      this.#forget(oldest)
    }
  }

  /** Emptied, since Map and Set tables that V8 has replaced retain their contents for long. */
  #forget(entry: Entry): void {
    const [first] = entry.identities
    if (first === undefined) return
    const entries = this.#forms.get(entry.form)
    entries?.delete(first)
    if (entries?.size === 0) this.#forms.delete(entry.form)
    this.#uses.delete(entry)
    this.#bytes -= entry.weight
    entry.identities = []
    entry.encoded = {}
  }
}

function weightOf({ bytes, rows, deflated }: EncodedRun): number {
  return (bytes?.length ?? 0) + (rows?.weight ?? 0) + (deflated?.blocks.length ?? 0)
}
