// The revision log: the records of a committed transaction, the state of a key at an earlier revision, and the
// changes after a revision for watches. The layout is in keys.ts.

import { atRevision } from "../transaction.ts"
import { StorageError, type BaseLayer, type KeyValue, type Revision, type StoreEvent } from "../types.ts"
import { Cursor } from "./cursor.ts"
import {
  currentKey,
  decodeHistory,
  decodeHistoryKey,
  decodeLogRecord,
  encodeCurrent,
  encodeHistory,
  encodeLogRecord,
  historyKey,
  logEnd,
  logKey,
  tombstoneKey,
  type ChangeKind,
  type LogRecord,
} from "./keys.ts"
import { readCurrent, type View } from "./view.ts"

export type Write =
  | { type: "put"; key: string | Buffer; value: Buffer; keyEncoding: "utf8" | "buffer" }
  | { type: "del"; key: string | Buffer; keyEncoding: "utf8" | "buffer" }

const empty = Buffer.alloc(0)

/** The writes for complete transactions, in order: current values, base tombstones, log, history. */
export function changeWrites(events: readonly StoreEvent[], base: BaseLayer): Write[] {
  const writes: Write[] = []
  let revision = 0
  let index = 0
  for (const event of events) {
    index = event.current.modRevision === revision ? index + 1 : 0
    revision = event.current.modRevision
    writeState(writes, event, base)
    const { key } = event.current
    const kind = changeKind(event)
    const record = encodeLogRecord(kind, key, event.previous)
    writes.push(
      { type: "put", key: logKey(revision, index), value: record, keyEncoding: "buffer" },
      { type: "put", key: historyKey(key, revision), value: encodeHistory(index, kind), keyEncoding: "buffer" },
    )
  }
  return writes
}

function writeState(writes: Write[], event: StoreEvent, base: BaseLayer): void {
  const { key } = event.current
  const inBase = base.has(key)
  if (event.type === "put") {
    writes.push({ type: "put", key: currentKey(key), value: encodeCurrent(event.current), keyEncoding: "utf8" })
    if (inBase && !event.previous) writes.push({ type: "del", key: tombstoneKey(key), keyEncoding: "utf8" })
  } else {
    writes.push({ type: "del", key: currentKey(key), keyEncoding: "utf8" })
    if (inBase) writes.push({ type: "put", key: tombstoneKey(key), value: empty, keyEncoding: "utf8" })
  }
}

function changeKind(event: StoreEvent): ChangeKind {
  if (event.type === "delete") return "delete"
  return event.previous ? "update" : "create"
}

/** The record `index` of `revision`, which the history index says is there. */
export function readRecord(view: View, revision: Revision, index: number): LogRecord {
  const key = logKey(revision, index)
  const data = view.database.getSync(key, {
    snapshot: view.snapshot,
    keyEncoding: "buffer",
    valueEncoding: "buffer",
  })
  if (data === undefined) throw new StorageError("Corrupt", `the revision log has no record ${revision}/${index}`)
  return decodeLogRecord(key, data)
}

/** The state of a key at a revision that is still in the log. */
export async function readAt(view: View, key: string, revision: Revision): Promise<KeyValue | undefined> {
  const current = readCurrent(view.database, view.base, key, view.snapshot)
  if (current && current.modRevision <= revision) return current
  await using cursor = new Cursor<Buffer>(view.database, {
    gte: historyKey(key, revision + 1),
    lt: historyKey(key, Number.MAX_SAFE_INTEGER),
    snapshot: view.snapshot,
    keyEncoding: "buffer",
    expected: 1,
  })
  await cursor.fetch()
  const next = cursor.entry
  if (!next) return current
  const [historyData, data] = next
  return readRecord(view, decodeHistoryKey(historyData).revision, decodeHistory(data).index).previous
}

/**
 * The next changes after a revision, in whole transactions, as much as the limits allow at once. `revision` says up to
 * where they are complete. The log has the values that were replaced; how large the new ones are shows when they are read.
 */
export async function readChanges(
  view: View,
  prefix: string,
  after: Revision,
): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
  let { records, revision } = await readRecords(view, after)
  for (;;) {
    const events = await eventsOf(view, prefix, records, revision)
    if (events !== undefined) return { events, revision }
    records = firstHalf(records)
    revision = records.at(-1)?.revision ?? revision
  }
}

/** Returns undefined if they hold too much, unless all are of one transaction. */
async function eventsOf(
  view: View,
  prefix: string,
  records: readonly LogRecord[],
  revision: Revision,
): Promise<StoreEvent[] | undefined> {
  const isDivisible = records[0]?.revision !== records.at(-1)?.revision
  const events: StoreEvent[] = []
  let bytes = 0
  // Backwards: the new value of a change is the value that the key's next change replaced.
  const states = new Map<string, KeyValue | undefined>()
  for (const record of records.toReversed()) {
    if (!record.key.startsWith(prefix)) continue
    const known = states.has(record.key)
    const state = known ? states.get(record.key) : await readAt(view, record.key, revision)
    states.set(record.key, record.previous)
    events.push(toEvent(record, state))
    bytes += state?.value.length ?? 0
    if (bytes > view.limits.backlogBytes && isDivisible) return undefined
  }
  return events.reverse()
}

/** Whole transactions, and not all of them: at least the first. */
function firstHalf(records: readonly LogRecord[]): LogRecord[] {
  const middle = records[records.length >>> 1]?.revision
  const before = records.filter(({ revision }) => revision < (middle ?? 0))
  if (before.length > 0) return before
  const first = records[0]?.revision
  return records.filter(({ revision }) => revision === first)
}

function toEvent(record: LogRecord, state: KeyValue | undefined): StoreEvent {
  const { previous, revision } = record
  if (record.kind === "delete" && previous) return { type: "delete", current: atRevision(previous, revision), previous }
  if (record.kind === "delete" || state?.modRevision !== revision)
    throw new StorageError("Corrupt", `the revision log does not lead to "${record.key}" at ${revision}`)
  return previous ? { type: "put", current: state, previous } : { type: "put", current: state }
}

async function readRecords(view: View, after: Revision): Promise<{ records: LogRecord[]; revision: Revision }> {
  const { limits } = view
  const records: LogRecord[] = []
  let bytes = 0
  await using cursor = new Cursor<Buffer>(view.database, {
    gte: logKey(after + 1),
    lt: logEnd,
    snapshot: view.snapshot,
    keyEncoding: "buffer",
  })
  for (;;) {
    if (cursor.drained) await cursor.fetch()
    if (!cursor.entry) return { records, revision: view.revision }
    const record = decodeLogRecord(...cursor.entry)
    const last = records.at(-1)
    const full = records.length >= limits.backlogChanges || bytes >= limits.backlogBytes
    if (full && last && last.revision !== record.revision) return { records, revision: last.revision }
    bytes += cursor.entry[1].length
    records.push(record)
    cursor.advance()
  }
}
