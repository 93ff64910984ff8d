// Writes again what LevelDB has lost of its logs when it opened a database. If it cannot open or read a log (too many open files, a failing
// disk), LevelDB as it is built for Node goes on without the rest of that log and removes it: what was acknowledged since the last table
// would be gone, without an error. See docs/decisions/0027.
//
// The logs have just been read (files/verify.ts). If the open database lacks some of what they lead to, that is written once more, in one
// batch, before anything else. Nothing is written that is not missing.

import { stat } from "node:fs/promises"
import { join } from "node:path"
import { remember } from "../../apimachinery/remember.ts"
import { ifThere } from "../if-there.ts"
import type { Revision } from "../types.ts"
import type { Database } from "./database.ts"
import type { Log } from "./files/verify.ts"
import { endLog } from "./log-upkeep.ts"
import { LogsOutcome, type Progress, progressOf } from "./logs-outcome.ts"
import { readCompacted, readFormat, readHead } from "./state.ts"

/** Stores for which that has failed. Beyond: what has been lost longest ago is. */
const mostUnwritten = 64

/** The next opening of a store tries again, unless somebody else has opened or replaced it meanwhile. */
interface Unwritten {
  logs: readonly Log[]
  /** As the failed opening has left it. */
  opening: string
}

const unwritten = new Map<string, Unwritten>()

/** What LevelDB is going to read. */
export class LogsToOpen {
  readonly #directory: string
  readonly #logs: readonly Log[]
  readonly #progress: Progress
  /** Of more than one log. */
  readonly #outcome: LogsOutcome | undefined

  /** `logs`: oldest first. Throws Corrupt if a record is no batch, or revisions between logs are missing. */
  static async of(directory: string, logs: readonly Log[]): Promise<LogsToOpen> {
    const before = unwritten.get(directory)
    if (before === undefined) return new LogsToOpen(directory, logs)
    if (before.opening === (await lastOpening(directory))) return new LogsToOpen(directory, [...before.logs, ...logs])
    unwritten.delete(directory)
    return new LogsToOpen(directory, logs)
  }

  private constructor(directory: string, logs: readonly Log[]) {
    this.#directory = directory
    this.#logs = logs
    this.#progress = progressOf(directory, logs)
    if (logs.length > 1) this.#outcome = new LogsOutcome(directory, logs)
  }

  /** LevelDB has opened it, and nothing else has been written. Throws Format, or Corrupt if what is missing does not continue what is there. */
  async restore(database: Database): Promise<void> {
    // As a rule the log of a store that was closed is empty.
    if (this.#logs.every(({ content }) => content.length === 0)) return
    try {
      await this.#compare(database)
      unwritten.delete(this.#directory)
    } catch (error) {
      const logs = this.#logs.filter(({ content }) => content.length > 0)
      const opening = await lastOpening(this.#directory)
      if (logs.length > 0 && opening !== undefined)
        remember(unwritten, this.#directory, { logs, opening }, mostUnwritten)
      throw error
    }
  }

  async #compare(database: Database): Promise<void> {
    const isEmpty = readFormat(database) === undefined
    const compacted = readCompacted(database)
    const revision = isEmpty ? 0 : await readHead(database, compacted)
    // What LevelDB loses of a log is its end, which only a later log can hide.
    const isBehind = revision < this.#progress.revision || compacted < this.#progress.compacted
    if (isBehind || this.#outcome !== undefined) await this.#restore(database, revision)
  }

  async #restore(database: Database, revision: Revision): Promise<void> {
    const outcome = this.#outcome ?? new LogsOutcome(this.#directory, this.#logs)
    const missing = await outcome.missingIn(database, revision)
    if (missing.length === 0) return
    const writes = missing.map(({ key, value }) =>
      value === undefined ? ({ type: "del", key } as const) : ({ type: "put", key, value } as const),
    )
    await database.batch<Buffer, Buffer>(writes, { sync: true, keyEncoding: "buffer", valueEncoding: "buffer" })
    // A log without a change of the revision log does not tell whether it has been lost. If this fails, they are in it all the same.
    await endLog(database)
  }
}

/** Tells openings of a store apart: each writes the file CURRENT anew. Undefined: there is none. */
async function lastOpening(directory: string): Promise<string | undefined> {
  const current = await ifThere(stat(join(directory, "CURRENT"), { bigint: true }))
  return current && `${current.ino} ${current.mtimeNs}`
}
