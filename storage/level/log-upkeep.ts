// What is done for LevelDB's log beside writing it (docs/decisions/0029):
//
// - Space ahead of the writes. A log that grows with each write makes the file system note its new length for each flush, together with what
//   is pending for other files; where zeros are overwritten, only the data is flushed. LevelDB takes zeros for what was never
//   written, and so does files/log-file.ts.
// - An end before it is full, if it grows slowly or its store is closed. What is in the log is also in memory, and is read again when
//   the store is opened.

import { constants } from "node:fs"
import { open, readdir, readFile, truncate } from "node:fs/promises"
import { join } from "node:path"
import type { Database } from "./database.ts"
import { endOfLog } from "./files/log-file.ts"
import type { Write } from "./revision-log.ts"

/** What LevelDB adds to a batch, and to each write in it. */
const batchBytes = 24
const writeBytes = 8

/** Parts of a full log: of the default, 4 MiB. */
const parts = {
  /** Written before a log is first looked at (128 KiB): most stores are opened for a few writes. */
  first: 1 / 32,
  /** Written before it is looked at again (32 KiB). Space is made when there is less than twice as much. */
  again: 1 / 128,
  /** Space made at once (256 KiB). */
  space: 1 / 16,
  /** From this on it is worth an end before it is full (1 MiB). */
  long: 1 / 4,
}

/** One that is long after this time grows slowly. */
export const slowLogMilliseconds = 60_000

/** Beyond all keys. */
const nothing = Buffer.from([255, 255])

/** LevelDB writes its memory to a table, and begins a new log, before it merges the tables of a range. */
export function endLog(database: Database): Promise<void> {
  return database.compactRange(nothing, nothing, { keyEncoding: "buffer" })
}

interface Log {
  path: string
  since: number
  /** Estimates, as only LevelDB knows how long what it writes is. */
  bytes: number
  space: number
}

export class LogUpkeep {
  /**
   * Whether the log of any store is being ended. LevelDB writes tables in one thread for all, and who waits for it holds one of the threads that
   * all reads and writes of files need.
   */
  static #isEnding = false
  readonly #database: Database
  readonly #fullBytes: number
  readonly #now: () => number
  /** Bytes written since the log was last looked at. */
  #written = 0
  #lookAfter: number
  /** Undefined until it was looked at. */
  #log: Log | undefined
  readonly #opened: number
  #looking: Promise<void> | undefined

  /** `fullBytes`: the limit `writeBufferBytes` of the open database. */
  constructor(database: Database, fullBytes: number, now: () => number) {
    this.#database = database
    this.#fullBytes = fullBytes
    this.#now = now
    this.#opened = now()
    this.#lookAfter = fullBytes * parts.first
  }

  /** LevelDB has written the batch. Nobody waits for what follows. */
  wrote(batch: readonly Write[]): void {
    this.#written += sizeOf(batch)
    if (this.#written < this.#lookAfter || this.#looking !== undefined) return
    this.#lookAfter = this.#fullBytes * parts.again
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  /** Before LevelDB is closed. Resolves when nothing is done any more. `isBroken`: only reading the log again shows what it contains. */
  async end({ isBroken }: { isBroken: boolean }): Promise<void> {
    this.#lookAfter = Infinity
    await this.#looking
    // If it fails, the log is read when the store is opened again.
    if (this.#isLong && !isBroken) await this.#endLog().catch(() => undefined)
  }

  /** After LevelDB has been closed: gives back the space that is left. */
  async trim(): Promise<void> {
    if (this.#log === undefined) return
    const { path } = this.#log
    try {
      const content = await readFile(path)
      const end = endOfLog(content)
      if (end < content.length) await truncate(path, end)
    } catch {
      // The zeros do no harm, and are gone with this log when the store is opened again, if it is not gone already.
    }
  }

  get #isLong(): boolean {
    return this.#log !== undefined && this.#log.bytes + this.#written >= this.#fullBytes * parts.long
  }

  async #look(): Promise<void> {
    const written = this.#written
    this.#written = 0
    try {
      const path = await this.#newestLog()
      if (path === undefined) return
      const log = this.#following(path, written)
      if (this.#isLong && this.#now() - log.since >= slowLogMilliseconds) await this.#endLog()
      else if (log.space < 2 * this.#fullBytes * parts.again) await this.#makeSpace(log)
    } catch {
      // Nothing needs this: LevelDB has gone on to another log, or the disk is full or broken, of which the next write tells.
    }
  }

  #following(path: string, written: number): Log {
    if (path === this.#log?.path) {
      this.#log.bytes += written
      this.#log.space = Math.max(0, this.#log.space - written)
    } else {
      const isFirst = this.#log === undefined
      this.#log = { path, since: isFirst ? this.#opened : this.#now(), bytes: isFirst ? written : 0, space: 0 }
    }
    return this.#log
  }

  async #makeSpace(log: Log): Promise<void> {
    const bytes = this.#fullBytes * parts.space
    await append(log.path, Buffer.alloc(bytes))
    log.space += bytes
  }

  /** Unless that of another store is being ended: then at the next look, or when the store is opened again. */
  async #endLog(): Promise<void> {
    if (LogUpkeep.#isEnding) return
    LogUpkeep.#isEnding = true
    try {
      await endLog(this.#database)
    } finally {
      LogUpkeep.#isEnding = false
    }
  }

  /** The one that LevelDB writes to. It may have another one, whose content it is writing to a table. */
  async #newestLog(): Promise<string | undefined> {
    // Their numbers have six digits or, beyond them, more.
    const numberOf = (name: string): number => Number.parseInt(name, 10)
    const logs = (await readdir(this.#database.location)).filter((name) => name.endsWith(".log"))
    const newest = logs.toSorted((a, b) => numberOf(a) - numberOf(b)).at(-1)
    return newest === undefined ? undefined : join(this.#database.location, newest)
  }
}

/**
 * LevelDB may write at the same time: it has its own position, which is never beyond the end, and the kernel finds the end and moves it
 * in one step. Does not create the file.
 */
async function append(path: string, data: Buffer): Promise<void> {
  await using file = await open(path, constants.O_WRONLY | constants.O_APPEND)
  await file.write(data)
  await file.datasync()
}

function sizeOf(batch: readonly Write[]): number {
  let bytes = batchBytes
  for (const write of batch) bytes += writeBytes + write.key.length + (write.type === "put" ? write.value.length : 0)
  return bytes
}
