// The consistency check: reads a whole store and reports, in sentences, which invariants of keys.ts are violated. It changes
// nothing. Used by `polyplane check` and the tests.

import { existsSync } from "node:fs"
import { errorMessage } from "../../apimachinery/error-message.ts"
import { defaultLimits } from "../limits.ts"
import { decodeUsage, usageOf, type Usage } from "../quota.ts"
import type { BaseLayer, KeyValue, Revision } from "../types.ts"
import { emptyBaseLayer } from "../base-layer.ts"
import { accessError, type Database } from "./database.ts"
import { checkPresence, openDatabase, wasNeverReady } from "./open-database.ts"
import { readState, type DatabaseState } from "./state.ts"
import { readImage } from "./image.ts"
import {
  decodeCurrent,
  decodeHistory,
  decodeHistoryKey,
  decodeLogRecord,
  metaCompacted,
  metaFormat,
  metaUsage,
  tables,
  type LogRecord,
} from "./keys.ts"

/** Maximum number of reported faults. */
const maxFaults = 100

interface CheckOptions {
  /** The base layer of the store. Without it, changes to keys of the base layer look like faults. */
  base?: BaseLayer
  /** It has been written before. Default: it may also be empty. */
  exists?: boolean
  /** Prefix of the store's quota. Default: that of control planes. */
  quotaPrefix?: string
}

/** Checks a store that is not open. Throws StorageError when it cannot be opened (InUse, Format, Unavailable …). */
export async function checkDirectory(directory: string, options: CheckOptions = {}): Promise<readonly string[]> {
  if (options.exists === true) checkPresence(directory)
  // The next user recreates it.
  else if (existsSync(directory) && (await wasNeverReady(directory))) return []
  const { head: atLeast = 0 } = (await readImage(directory)) ?? {}
  const database = await openDatabase({ directory, limits: defaultLimits, create: false })
  try {
    return await checkDatabase(database, await readState(database, { ...options, atLeast }), options)
  } catch (error) {
    throw accessError(error, directory)
  } finally {
    await database.close()
  }
}

async function checkDatabase(
  database: Database,
  state: DatabaseState,
  options: CheckOptions,
): Promise<readonly string[]> {
  await using snapshot = database.snapshot()
  const check = new Check(state, options.base ?? emptyBaseLayer, options.quotaPrefix ?? "/registry/")
  // Tables come in the order of their first bytes: current, history, meta, log, tombstones.
  const entries = database.iterator<Buffer, Buffer>({ snapshot, keyEncoding: "buffer", valueEncoding: "buffer" })
  for await (const [key, value] of entries) {
    check.entry(key, value)
    if (check.faults.length >= maxFaults) return check.faults
  }
  check.finish()
  return check.faults.slice(0, maxFaults)
}

class Check {
  readonly faults: string[] = []
  readonly #head: Revision
  readonly #compacted: Revision
  readonly #base: BaseLayer
  /** The entries of the current table, without values. */
  readonly #current = new Map<string, Pick<KeyValue, "createRevision" | "modRevision">>()
  readonly #tombstones = new Set<string>()
  /** History entries whose log record has not been read yet: `key revision/index kind`. */
  readonly #history = new Set<string>()
  /** The last change of each key in the part of the log read so far. */
  readonly #lastChange = new Map<string, LogRecord>()
  #last: { revision: Revision; index: number } | undefined
  readonly #quotaPrefix: string
  /** The recorded and the counted usage. */
  #usage: Usage | undefined
  readonly #counted: Usage = { objects: 0, bytes: 0 }

  constructor(state: DatabaseState, base: BaseLayer, quotaPrefix: string) {
    this.#quotaPrefix = quotaPrefix
    this.#head = state.head
    this.#compacted = state.compacted
    this.#base = base
  }

  entry(key: Buffer, value: Buffer): void {
    try {
      this.#dispatch(key, value)
    } catch (error) {
      this.#fault(errorMessage(error))
    }
  }

  /** Checks that are only possible when everything has been read. */
  finish(): void {
    const { objects, bytes } = this.#counted
    if (this.#usage !== undefined && (this.#usage.objects !== objects || this.#usage.bytes !== bytes))
      this.#fault(
        `the quota's count is ${this.#usage.objects} objects of ${this.#usage.bytes} bytes, but there are ${objects} of ${bytes}`,
      )
    for (const entry of this.#history) this.#fault(`history has ${entry}, but the revision log has no such record`)
    const oldest = this.#compacted + 1
    if ((this.#last?.revision ?? oldest) < this.#head)
      this.#fault(`the revision log ends before revision ${this.#head}`)
    for (const [key, record] of this.#lastChange) this.#checkOutcome(key, record)
    for (const [key, { modRevision }] of this.#current) this.#checkUnlogged(key, modRevision)
    for (const key of this.#tombstones)
      if (this.#current.has(key)) this.#fault(`"${key}" is both present and marked as deleted from the base layer`)
  }

  #fault(sentence: string): void {
    this.faults.push(sentence)
  }

  #dispatch(key: Buffer, value: Buffer): void {
    const table = String.fromCharCode(key[0] ?? 0)
    if (table === tables.current) this.#currentEntry(key.toString("utf8", 1), value)
    else if (table === tables.history) this.#historyEntry(key, value)
    else if (table === tables.log) this.#logEntry(key, value)
    else if (table === tables.tombstone) this.#tombstones.add(key.toString("utf8", 1))
    else if (key.toString() === metaUsage) this.#usage = decodeUsage(value) ?? { objects: -1, bytes: -1 }
    else if (![metaFormat, metaCompacted].includes(key.toString())) this.#fault(`unknown record ${quote(key)}`)
  }

  #currentEntry(key: string, data: Buffer): void {
    const entry = decodeCurrent(key, data)
    const { createRevision, modRevision } = entry
    const { objects, bytes } = usageOf(entry, { prefix: this.#quotaPrefix })
    this.#counted.objects += objects
    this.#counted.bytes += bytes
    this.#current.set(key, { createRevision, modRevision })
    if (key === "" || key.includes("\0") || key.includes("\ufffd")) this.#fault(`"${key}" is not a storage key`)
    if (createRevision < 1 || createRevision > modRevision || modRevision > this.#head)
      this.#fault(`"${key}" has revisions ${createRevision}/${modRevision} in a store at ${this.#head}`)
  }

  #historyEntry(data: Buffer, value: Buffer): void {
    const { key, revision } = decodeHistoryKey(data)
    const { index, kind } = decodeHistory(value)
    this.#history.add(historyName(key, revision, index, kind))
  }

  #logEntry(data: Buffer, value: Buffer): void {
    const record = decodeLogRecord(data, value)
    const { key, revision, index, kind } = record
    if (!this.#history.delete(historyName(key, revision, index, kind)))
      this.#fault(`the revision log has ${historyName(key, revision, index, kind)}, but history does not`)
    // Records that a compaction has yet to remove need not be complete.
    if (revision <= this.#compacted + 1) return
    this.#checkSequence(record)
    this.#checkPrevious(record)
    this.#lastChange.set(key, { ...record, previous: record.previous && { ...record.previous, value: nothing } })
  }

  #checkSequence({ revision, index }: LogRecord): void {
    const last = this.#last ?? { revision: this.#compacted + 1, index: 0 }
    const next = revision === last.revision ? last.index + 1 : 0
    if (revision > last.revision + 1)
      this.#fault(`the revision log has nothing between revisions ${last.revision} and ${revision}`)
    if (index !== next)
      this.#fault(`the revision log has record ${revision}/${index} where ${revision}/${next} belongs`)
    this.#last = { revision, index }
  }

  // Each change replaced exactly the result of the key's previous change.
  #checkPrevious(record: LogRecord): void {
    const { key, revision, kind, previous } = record
    if ((kind === "create") !== (previous === undefined))
      this.#fault(`${kind} of "${key}" at ${revision} lacks its previous value`)
    if (previous && previous.modRevision >= revision)
      this.#fault(`change of "${key}" at ${revision} replaced a later revision, ${previous.modRevision}`)
    const before = this.#lastChange.get(key)
    if (!before) {
      const oldest = this.#compacted + 1
      const inBase = this.#base.has(key)
      if (previous && previous.modRevision > oldest)
        this.#fault(
          `change of "${key}" at ${revision} replaced revision ${previous.modRevision}, which is not in the log`,
        )
      if (!previous && inBase && this.#compacted === 0)
        this.#fault(`"${key}" of the base layer was created at ${revision}`)
      return
    }
    const expected = before.kind === "delete" ? undefined : before.revision
    if (previous?.modRevision !== expected)
      this.#fault(
        `change of "${key}" at ${revision} replaced revision ${previous?.modRevision ?? "none"} instead of ${expected ?? "none"}`,
      )
    if (previous && previous.createRevision !== createdAt(before))
      this.#fault(`change of "${key}" at ${revision} replaced a value created at ${previous.createRevision}`)
  }

  // The current table contains the result of the last change in the log.
  #checkOutcome(key: string, record: LogRecord): void {
    const current = this.#current.get(key)
    const { revision, kind } = record
    if (kind === "delete") {
      if (current) this.#fault(`"${key}" was deleted at ${revision}, but is there with revision ${current.modRevision}`)
      if (this.#base.has(key) && !this.#tombstones.has(key))
        this.#fault(`"${key}" of the base layer was deleted at ${revision}, but is not marked as deleted`)
    } else if (current?.modRevision !== revision || current.createRevision !== createdAt(record)) {
      const found = current ? `${current.createRevision}/${current.modRevision}` : "nothing"
      this.#fault(`"${key}" was written at ${createdAt(record)}/${revision}, but ${found} is there`)
    }
  }

  #checkUnlogged(key: string, modRevision: Revision): void {
    if (modRevision > this.#compacted + 1 && !this.#lastChange.has(key))
      this.#fault(`"${key}" has revision ${modRevision}, which is not in the revision log`)
  }
}

const nothing = new Uint8Array()

function createdAt(record: LogRecord): Revision {
  return record.previous?.createRevision ?? record.revision
}

function historyName(key: string, revision: Revision, index: number, kind: string): string {
  return `${kind} of "${key}" at ${revision}/${index}`
}

function quote(key: Buffer): string {
  return JSON.stringify(key.subarray(0, 64).toString("latin1"))
}
