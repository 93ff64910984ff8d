// Range reads: merges the current-value table, the base layer below it and, for an earlier revision, the first changes after it,
// in key order. The state of a key comes from the later change if there is one, else from the table, else from the base layer.

import { compareKeys, prefixEnd, selectKeys } from "../key-order.ts"
import { baseValue, storedLength } from "../base-layer.ts"
import { StorageError, type KeyValue, type RangeOptions, type RangeResult, type Revision } from "../types.ts"
import { Cursor } from "./cursor.ts"
import type { CountedKeys } from "./key-counts.ts"
import { decodeCurrent, tables } from "./keys.ts"
import { laterChanges, type LaterChange, type LaterChanges } from "./later-changes.ts"
import { readRecord } from "./revision-log.ts"
import { isDeletedFromBase, type View } from "./view.ts"

/** `counted`: the keys below the prefix in this view. */
export async function readRange(
  view: View,
  prefix: string,
  options: RangeOptions,
  counted?: CountedKeys,
): Promise<RangeResult> {
  const revision = options.revision ?? view.revision
  const { limit = Infinity, limitBytes = Infinity } = options
  const items: KeyValue[] = []
  let bytes = 0
  let next: string | undefined
  await using merge = new Merge(view, { prefix, after: options.after, revision, values: true, expected: limit + 1 })
  for (;;) {
    if (merge.drained) await merge.fetch()
    if (merge.ended) break
    const found = merge.step()
    if (!found) continue
    if (items.length === limit || bytes >= limitBytes) {
      next = found.key
      break
    }
    const state = merge.state(found)
    items.push(state)
    bytes += storedLength(state)
  }
  const result = { items, bytes, revision, more: next !== undefined }
  if (!options.count) return result
  if (next === undefined) return { ...result, remaining: 0 }
  const isWhole = options.after === undefined && revision === view.revision
  const known = isWhole ? counted?.count : undefined
  if (known !== undefined) return { ...result, remaining: known - items.length }
  const remaining = 1 + (await countKeys(view, prefix, next, revision))
  if (isWhole) counted?.counted(items.length + remaining)
  return { ...result, remaining }
}

async function countKeys(view: View, prefix: string, after: string, revision: Revision): Promise<number> {
  let count = 0
  await using merge = new Merge(view, { prefix, after, revision, values: false })
  for (;;) {
    if (merge.drained) await merge.fetch()
    if (merge.ended) return count
    if (merge.step()) count++
  }
}

interface MergeOptions {
  prefix: string
  after: string | undefined
  revision: Revision
  values: boolean
  expected?: number
}

/** A key that exists at the revision, and where its state is: a later change, the table, or else the base layer. */
interface Found {
  key: string
  change?: LaterChange | undefined
  data?: Buffer | undefined
}

class Merge implements AsyncDisposable {
  readonly #view: View
  readonly #table: Cursor<string>
  readonly #later: LaterChanges | undefined
  readonly #baseKeys: readonly string[]
  #baseAt = 0

  constructor(view: View, options: MergeOptions) {
    const { prefix, revision } = options
    const after = options.after !== undefined && compareKeys(options.after, prefix) >= 0 ? options.after : undefined
    this.#view = view
    this.#baseKeys = selectKeys(view.base.keys, prefix, after)
    if (revision < view.revision) this.#later = laterChanges(view, prefix, after, revision)
    this.#table = new Cursor(view.database, {
      ...(after === undefined ? { gte: tables.current + prefix } : { gt: tables.current + after }),
      lt: prefixEnd(tables.current + prefix) ?? "",
      snapshot: view.snapshot,
      keyEncoding: "utf8",
      values: options.values,
      ...(options.expected === undefined ? {} : { expected: options.expected }),
    })
  }

  /** Whether fetch() must be awaited before the next step. */
  get drained(): boolean {
    return this.#table.drained || this.#later?.drained === true
  }

  async fetch(): Promise<void> {
    if (this.#table.drained) await this.#table.fetch()
    if (this.#later?.drained) await this.#later.fetch()
  }

  /** No key is left. Only true once not `drained`. */
  get ended(): boolean {
    return !this.#table.entry && !this.#later?.change && this.#baseAt === this.#baseKeys.length
  }

  /** Takes the next key of any source; undefined when it does not exist at the revision. Neither drained nor ended before. */
  step(): Found | undefined {
    const entry = this.#table.entry
    const change = this.#later?.change
    const tableKey = entry?.[0].slice(1)
    const baseKey = this.#baseKeys[this.#baseAt]
    const key = smallest(smallest(tableKey, change?.key), baseKey)
    if (key === undefined) return undefined
    if (key === tableKey) this.#table.advance()
    if (key === baseKey) this.#baseAt++
    if (key === change?.key) {
      this.#later?.advance()
      return change.kind === "create" ? undefined : { key, change }
    }
    if (key === tableKey) return { key, data: entry?.[1] }
    return isDeletedFromBase(this.#view.database, key, this.#view.snapshot) ? undefined : { key }
  }

  state(found: Found): KeyValue {
    const { key, change, data } = found
    if (data) return decodeCurrent(key, data)
    const state = change
      ? readRecord(this.#view, change.revision, change.index).previous
      : baseValue(this.#view.base, key)
    if (!state) throw new StorageError("Corrupt", `"${key}" has no state before its change`)
    return state
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#table[Symbol.asyncDispose]()
    await this.#later?.[Symbol.asyncDispose]()
  }
}

function smallest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareKeys(a, b) <= 0 ? a : b
}
