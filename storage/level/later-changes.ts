// For ranges at an earlier revision: finds the keys that have changed since. Uses the log itself for a revision
// close to the newest, and the history index of the range's keys otherwise.

import { compareKeys, prefixEnd } from "../key-order.ts"
import type { Revision } from "../types.ts"
import { Cursor } from "./cursor.ts"
import { decodeHistory, decodeHistoryKey, decodeLogRecord, logEnd, logKey, tables, type ChangeKind } from "./keys.ts"
import type { View } from "./view.ts"

/** Position of the log record with the state of a key before a change. */
export interface LaterChange {
  key: string
  revision: Revision
  index: number
  kind: ChangeKind
}

/** The first change after a revision for each changed key of a range, in key order. */
export interface LaterChanges extends AsyncDisposable {
  /** Undefined when `drained` or at the end. */
  readonly change: LaterChange | undefined
  readonly drained: boolean
  fetch(): Promise<void>
  advance(): void
}

/** `after`, when given, is not below the prefix. */
export function laterChanges(view: View, prefix: string, after: string | undefined, revision: Revision): LaterChanges {
  if (view.revision - revision <= view.limits.recentRevisions) return new RecentChanges(view, prefix, after, revision)
  return new IndexedChanges(view, prefix, after, revision)
}

/** Reads the log itself: for a revision close to the newest one, as when a list is read in pages. */
class RecentChanges implements LaterChanges {
  readonly #load: () => Promise<LaterChange[]>
  #changes: LaterChange[] | undefined
  #at = 0

  constructor(view: View, prefix: string, after: string | undefined, revision: Revision) {
    const load = () => readRecentChanges(view, prefix, after, revision)
    this.#load = load
  }

  get change(): LaterChange | undefined {
    return this.#changes?.[this.#at]
  }

  get drained(): boolean {
    return !this.#changes
  }

  async fetch(): Promise<void> {
    this.#changes = await this.#load()
  }

  advance(): void {
    this.#at++
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#changes = []
  }
}

async function readRecentChanges(
  view: View,
  prefix: string,
  after: string | undefined,
  revision: Revision,
): Promise<LaterChange[]> {
  const changes = new Map<string, LaterChange>()
  await using cursor = new Cursor<Buffer>(view.database, {
    gte: logKey(revision + 1),
    lt: logEnd,
    snapshot: view.snapshot,
    keyEncoding: "buffer",
  })
  for (;;) {
    if (cursor.drained) await cursor.fetch()
    if (!cursor.entry) break
    const { key, index, kind, revision: changed } = decodeLogRecord(...cursor.entry)
    const inRange = key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0)
    if (inRange && !changes.has(key)) changes.set(key, { key, revision: changed, index, kind })
    cursor.advance()
  }
  return [...changes.values()].sort((a, b) => compareKeys(a.key, b.key))
}

/** Reads the history index of the range's keys. */
class IndexedChanges implements LaterChanges {
  readonly #cursor: Cursor<Buffer>
  readonly #revision: Revision
  #key: string | undefined
  #change: LaterChange | undefined

  constructor(view: View, prefix: string, after: string | undefined, revision: Revision) {
    const end = prefixEnd(tables.history + prefix) ?? ""
    // Above all entries of `after` itself (0x00) and below those of the keys it is a prefix of.
    const start = after === undefined ? tables.history + prefix : `${tables.history}${after}\u0001`
    this.#revision = revision
    this.#cursor = new Cursor(view.database, {
      gte: Buffer.from(start),
      lt: Buffer.from(end),
      snapshot: view.snapshot,
      keyEncoding: "buffer",
    })
  }

  get change(): LaterChange | undefined {
    return this.#change
  }

  get drained(): boolean {
    return !this.#change && this.#cursor.drained
  }

  async fetch(): Promise<void> {
    while (this.drained) {
      await this.#cursor.fetch()
      this.#find()
    }
  }

  advance(): void {
    this.#change = undefined
    this.#find()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cursor[Symbol.asyncDispose]()
  }

  #find(): void {
    for (let entry = this.#cursor.entry; entry; entry = this.#cursor.entry) {
      this.#cursor.advance()
      const { key, revision } = decodeHistoryKey(entry[0])
      if (revision <= this.#revision || key === this.#key) continue
      this.#key = key
      this.#change = { key, revision, ...decodeHistory(entry[1]) }
      return
    }
  }
}
