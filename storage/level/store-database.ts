// The database of a store in use: opened when first needed, and reopened after a failed write.

import { closedError, StorageError } from "../types.ts"
import { accessError, type Database } from "./database.ts"
import { LogUpkeep } from "./log-upkeep.ts"
import type { Write } from "./revision-log.ts"
import type { OpenedDatabase } from "./state.ts"

interface StoreDatabaseParts {
  /** Undefined: it is opened when first needed. */
  database: Database | undefined
  open: () => Promise<OpenedDatabase>
  now: () => number
  /** As in StoreLimits. */
  writeBufferBytes: number
  /** Delay after a failed opening before the next attempt. */
  reopenMilliseconds: number
  isClosing(): boolean
  /** Called at the first opening: whether the database matches the state from the image. */
  isKnown(state: OpenedDatabase["state"]): boolean
  /** The database has been opened and matches that state. */
  adopted(database: Database): Promise<void>
  /** The database does not match the state from the image. */
  dropped(): void
  /** The content of the database is unknown until begin(). */
  distrusted(error: Error): void
  /** From now on the state of the database counts. Calls `trusted` at that moment. */
  begin(opened: OpenedDatabase, trusted: () => void): Promise<void>
}

export class StoreDatabase {
  readonly #parts: StoreDatabaseParts
  #database: Database | undefined
  /** Set from a failed write until the database has been reopened, which it is not any more if the store is being closed. */
  #broken: Error | undefined
  /** The opening or reopening in progress. */
  #opening: Promise<void> | undefined
  #openAfter = 0
  /** Resolves when the write in progress has ended. */
  #writing: Promise<void> | undefined
  /** Of the database that is open. */
  #log: LogUpkeep | undefined

  constructor(parts: StoreDatabaseParts) {
    this.#parts = parts
    this.#database = parts.database
  }

  /** Undefined: it has not been needed yet. */
  get current(): Database | undefined {
    return this.#database
  }

  get opened(): Database {
    if (this.#database === undefined) throw new Error("the database has not been opened")
    return this.#database
  }

  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  get damage(): StorageError | undefined {
    return this.#broken instanceof StorageError && this.#broken.code === "Corrupt" ? this.#broken : undefined
  }

  /** Resolves when the database can be used. Undefined: it can be used now. */
  ready(): Promise<void> | undefined {
    if (this.#parts.isClosing()) throw closedError()
    return this.#database === undefined || this.#broken !== undefined ? this.#openAgain() : undefined
  }

  /**
   * One at a time: behind a record of which the disk has taken only a part LevelDB would write the next one, acknowledge it, and skip it when
   * it reads its log. After a failure nothing more is written before the database has been reopened.
   */
  async write(writes: Write[], sync: boolean): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    if (this.#broken !== undefined) throw this.#broken
    const writing = this.#write(writes, sync)
    const ended = (): void => {
      this.#writing = undefined
    }
    this.#writing = writing.then(ended, ended)
    await writing
  }

  async #write(writes: Write[], sync: boolean): Promise<void> {
    const database = this.opened
    try {
      await database.batch<string | Buffer, Buffer>(writes, { sync, valueEncoding: "buffer" })
    } catch (error) {
      const failure = accessError(error, database.location)
      if (database === this.#database) this.#break(failure)
      throw failure
    }
    if (database !== this.#database || this.#broken !== undefined) return
    const { writeBufferBytes, now } = this.#parts
    this.#log ??= new LogUpkeep(database, writeBufferBytes, now)
    this.#log.wrote(writes)
  }

  /** Must not be in use any more. */
  async close(): Promise<void> {
    const log = this.#log
    this.#log = undefined
    await log?.end({ isBroken: this.isBroken })
    await this.#database?.close()
    await log?.trim()
  }

  /** Resolves when no opening is in progress; its failure has been reported to those who requested it. */
  async opening(): Promise<void> {
    await this.#opening?.catch(() => undefined)
  }

  // After a failed write LevelDB's log may end with a partial or even a complete record: only reopening shows which. Watches end,
  // because they could miss a change that turns out to be there. The resident values are what has been acknowledged; they are read
  // until then, even if the disk stays full for long.
  #break(error: Error): void {
    // Nobody waits for it: if it fails, the next caller gets the error.
    if (this.#distrust(error)) this.#openAgain().catch(() => undefined)
  }

  /** Returns whether the database is to be reopened. A store that is being closed has no watches any more, and is opened by its next user. */
  #distrust(error: Error): boolean {
    if (this.#broken) return false
    this.#broken = error
    if (this.#parts.isClosing()) return false
    this.#parts.distrusted(error)
    return true
  }

  #openAgain(): Promise<void> {
    this.#opening ??= this.#tryOpen().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #tryOpen(): Promise<void> {
    const { now, reopenMilliseconds, open } = this.#parts
    const reason = this.#broken
    if (reason && now() < this.#openAfter) throw reason
    this.#openAfter = now() + reopenMilliseconds
    await this.close()
    try {
      const opened = await open()
      if (this.#broken === undefined) await this.#adopt(opened)
      else await this.#begin(opened)
    } catch (error) {
      this.#distrust(error as Error)
      throw error
    }
  }

  /** The first opening, when the known state is that of the image. */
  async #adopt(opened: OpenedDatabase): Promise<void> {
    const { database, state } = opened
    if (this.#parts.isKnown(state)) {
      this.#database = database
      await this.#parts.adopted(database)
      return
    }
    this.#distrust(new StorageError("Unavailable", `store ${database.location} was written to by somebody else`))
    this.#parts.dropped()
    await this.#begin(opened)
  }

  async #begin(opened: OpenedDatabase): Promise<void> {
    this.#database = opened.database
    await this.#parts.begin(opened, () => {
      this.#broken = undefined
    })
  }
}
