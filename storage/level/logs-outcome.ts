// What the records of LevelDB's logs lead to, one after the other, and how that differs from what is in a database.

import type { Revision } from "../types.ts"
import type { Database } from "./database.ts"
import { damaged } from "./files/damaged.ts"
import { lastBlocks, recordsOf } from "./files/log-file.ts"
import type { Log } from "./files/verify.ts"
import { type LoggedWrite, writesOf } from "./files/write-batch.ts"
import { decodeLogKey, logKey, logKeyBytes, metaCompacted, metaFormat, tables } from "./keys.ts"
import { checkFormat, readCompacted, readFormat } from "./state.ts"

/** Entries that are read at once. */
const readAtOnce = 1000

/** How far the last transaction and the last compaction in logs have got; 0 if there is none. */
export interface Progress {
  revision: Revision
  compacted: Revision
}

/** Compactions before the last transaction are not looked for. Throws Corrupt if a record is no batch. */
export function progressOf(directory: string, logs: readonly Log[]): Progress {
  const progress = { revision: 0, compacted: 0 }
  for (const log of logs) {
    const { revision, compacted } = progressIn(directory, log)
    progress.revision = Math.max(progress.revision, revision)
    progress.compacted = Math.max(progress.compacted, compacted)
  }
  return progress
}

function progressIn(directory: string, { name, content }: Log): Progress {
  for (let blocks = 2; ; blocks *= 4) {
    const end = lastBlocks(content, blocks)
    let compacted = 0
    for (const record of [...recordsOf(end)].reverse()) {
      const writes = writesIn(directory, name, record)
      compacted ||= compactedBy(writes.findLast(isCompaction))
      const last = writes.findLast(isChange)
      if (last !== undefined) return { revision: decodeLogKey(last.key).revision, compacted }
    }
    if (end.length === content.length) return { revision: 0, compacted }
  }
}

export class LogsOutcome {
  readonly #directory: string
  /** The last write of each key. */
  readonly #writes = new Map<string, LoggedWrite>()
  /** The changes are those of all revisions between these; 0 before the first one. */
  #first: Revision = 0
  #last: Revision = 0

  /** Throws Corrupt if a record is no batch, or revisions between the logs are missing. */
  constructor(directory: string, logs: readonly Log[]) {
    this.#directory = directory
    for (const { name, content } of logs)
      for (const record of recordsOf(content))
        for (const write of writesIn(directory, name, record)) this.#add(write, name)
  }

  #add(write: LoggedWrite, name: string): void {
    this.#writes.set(write.key.toString("latin1"), write)
    if (!isChange(write)) return
    const { revision } = decodeLogKey(write.key)
    if (this.#last > 0 && revision > this.#last + 1) {
      const what = `${name} begins at revision ${revision}, but what is before it ends at ${this.#last}`
      throw damaged(this.#directory, what)
    }
    this.#first ||= revision
    this.#last = Math.max(this.#last, revision)
  }

  /**
   * The writes that a database, which is at `revision`, lacks. If another process has gone on beyond these, only the last compaction
   * may be missing. None if they are not of a store. Throws Format, or Corrupt if it has other changes, or lacks some before them.
   */
  async missingIn(database: Database, revision: Revision): Promise<readonly LoggedWrite[]> {
    const format = readFormat(database) ?? this.#writes.get(metaFormat)?.value?.toString()
    if (format === undefined) return []
    checkFormat(format, this.#directory)
    const compaction = this.#missingCompaction(database)
    const oldest = Math.max(readCompacted(database), compactedBy(compaction)) + 1
    const isBeyond = revision > this.#last
    if (!isBeyond) this.#checkBeginning(database, oldest)
    const others = isBeyond ? [] : await this.#missingOf(database, [...this.#writes.values()])
    return compaction === undefined ? others : [...others, compaction]
  }

  #missingCompaction(database: Database): LoggedWrite | undefined {
    const compaction = this.#writes.get(metaCompacted)
    return compactedBy(compaction) > readCompacted(database) ? compaction : undefined
  }

  async #missingOf(database: Database, writes: readonly LoggedWrite[]): Promise<readonly LoggedWrite[]> {
    const missing: LoggedWrite[] = []
    for (let start = 0; start < writes.length; start += readAtOnce) {
      const some = writes.slice(start, start + readAtOnce).filter((write) => !isCompaction(write))
      const keys = some.map(({ key }) => key)
      const values = await database.getMany<Buffer, Buffer>(keys, { keyEncoding: "buffer", valueEncoding: "buffer" })
      missing.push(...some.filter((write, index) => this.#isMissing(write, values[index])))
    }
    return missing
  }

  /** `oldest`: that of which nothing need be there any more. */
  #checkBeginning(database: Database, oldest: Revision): void {
    const before = this.#first - 1
    if (before <= oldest || database.getSync(logKey(before), { keyEncoding: "buffer" }) !== undefined) return
    throw damaged(this.#directory, `its logs begin at revision ${this.#first}, and what is before it is missing`)
  }

  #isMissing(write: LoggedWrite, found: Buffer | undefined): boolean {
    const { value } = write
    if (value === undefined || found === undefined) return value !== found
    if (value.equals(found)) return false
    if (isChange(write))
      throw damaged(this.#directory, `its revision ${decodeLogKey(write.key).revision} is another one than in its logs`)
    return true
  }
}

const compactedKey = Buffer.from(metaCompacted)
const [logTable] = Buffer.from(tables.log)

/** Whether it adds a record to the revision log. */
function isChange({ key, value }: LoggedWrite): boolean {
  return key[0] === logTable && key.length === logKeyBytes && value !== undefined
}

const isCompaction = ({ key }: LoggedWrite): boolean => key.equals(compactedKey)

/** 0: by none. */
function compactedBy(write: LoggedWrite | undefined): Revision {
  return Number(write?.value?.toString() ?? 0)
}

function writesIn(directory: string, name: string, record: Buffer): readonly LoggedWrite[] {
  try {
    return [...writesOf(record)]
  } catch (error) {
    if (error instanceof RangeError) throw damaged(directory, `${name}: ${error.message}`)
    throw error
  }
}
