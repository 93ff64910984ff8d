// The database of a store in use: opened when first needed, and reopened after a failed write.

import { StorageError } from "../types.ts"
import { accessError, type Database, type OpenedDatabase } from "./database.ts"
import { closedError } from "./group-commit.ts"
import type { Write } from "./revision-log.ts"

export interface StoreDatabaseParts {
  /** Undefined: it is opened when it is needed first. */
  database: Database | undefined
  open: () => Promise<OpenedDatabase>
  now: () => number
  /** After an opening that failed it is not tried again for so long. */
  reopenMilliseconds: number
  isClosing(): boolean
  /** Asked when it is opened first: is what was known without it what it holds? */
  isKnown(state: OpenedDatabase["state"]): boolean
  /** It is opened, and holds what was known. */
  adopted(database: Database): Promise<void>
  /** What was known without it is not what it holds. */
  dropped(): void
  /** What it is told to hold may not be what it holds, until begin() says so. */
  distrusted(error: Error): void
  /** From now on its state counts. Calls `trusted` at the moment that it does. */
  begin(opened: OpenedDatabase, trusted: () => void): Promise<void>
}

export class StoreDatabase {
  readonly #parts: StoreDatabaseParts
  #database: Database | undefined
  /** Set from a failed write until the database has been opened anew. */
  #broken: Error | undefined
  /** At the first time, or anew. */
  #opening: Promise<void> | undefined
  #openAfter = 0

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

  /** Resolves when the database can be used. Undefined: it can. */
  ready(): Promise<void> | undefined {
    if (this.#parts.isClosing()) throw closedError()
    return this.#database === undefined || this.#broken !== undefined ? this.#openAgain() : undefined
  }

  async write(writes: Write[], sync: boolean): Promise<void> {
    const database = this.opened
    try {
      await database.batch<string | Buffer, Buffer>(writes, { sync, valueEncoding: "buffer" })
    } catch (error) {
      const failure = accessError(error, database.location)
      if (database === this.#database) this.#break(failure)
      throw failure
    }
  }

  /** Nobody uses it any more. */
  async close(): Promise<void> {
    await this.#database?.close()
  }

  /** Resolves when none is under way; its failure has been told to those who asked for something. */
  async opening(): Promise<void> {
    await this.#opening?.catch(() => undefined)
  }

  // After a failed write LevelDB's log may end in half a record, or even in a whole one: only opening it anew tells.
  // Watches end, because they could miss what turns out to be there. What is resident is what has been acknowledged: it is read
  // until then, however long a full disk takes.
  #break(error: Error): void {
    // Nobody waits for it: when it fails, the next caller is told.
    if (this.#distrust(error)) this.#openAgain().catch(() => undefined)
  }

  #distrust(error: Error): boolean {
    if (this.#broken || this.#parts.isClosing()) return false
    this.#broken = error
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
    await this.#database?.close()
    try {
      const opened = await open()
      if (this.#broken === undefined) await this.#adopt(opened)
      else await this.#begin(opened)
    } catch (error) {
      this.#distrust(error as Error)
      throw error
    }
  }

  /** At the first time, when all that is known comes from the image. */
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
