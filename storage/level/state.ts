// The state that a store reads of its database before it can serve, beginning with the format record.

import { dirname } from "node:path"
import { decodeUsage, type Usage } from "../quota.ts"
import { syncDirectory } from "../sync-directory.ts"
import { StorageError, type Revision } from "../types.ts"
import type { Database } from "./database.ts"
import { damaged } from "./files/damaged.ts"
import { firstKey } from "./first-key.ts"
import { decodeLogKey, formatVersion, logEnd, logKey, metaCompacted, metaFormat, metaUsage } from "./keys.ts"

/** The state on disk that a store must know before it can serve. */
export interface DatabaseState {
  head: Revision
  compacted: Revision
  /** The database has just been created and is empty. */
  fresh: boolean
  /** The recorded usage of the last write under a quota. */
  usage: Usage | undefined
}

/** An open directory that contains a store, before its base layer, quota and memory budget are set. */
export interface OpenedDatabase {
  database: Database
  state: DatabaseState
}

/**
 * Writes the format record into a new database, unless it has been written before. Fails with Format or Corrupt if the database is not
 * a Polyplane store, or has been at a later revision before.
 */
export async function readState(database: Database, { exists = false, atLeast = 0 } = {}): Promise<DatabaseState> {
  if (readFormat(database) === undefined) {
    if (exists || atLeast > 1) throw damaged(database.location, "nothing is in it")
    await initialize(database)
    return { head: 1, compacted: 0, fresh: true, usage: undefined }
  }
  const compacted = readCompacted(database)
  const usage = database.getSync(metaUsage)
  const head = await readHead(database, compacted)
  if (head < atLeast) throw damaged(database.location, `it ends at revision ${head}, but has been at ${atLeast}`)
  return {
    head,
    compacted,
    fresh: false,
    usage: usage === undefined ? undefined : decodeUsage(usage),
  }
}

async function initialize(database: Database): Promise<void> {
  const found = await firstKey(database, { keyEncoding: "utf8" })
  if (found !== undefined)
    throw new StorageError(
      "Corrupt",
      `${database.location} holds a LevelDB that is not a store: it has no format record`,
    )
  // Not synced: the first transaction's fsync covers it, and without one there is nothing to lose.
  await database.put(metaFormat, Buffer.from(String(formatVersion)))
  // LevelDB flushes neither the name of its directory nor, before the next manifest, the file that names the current manifest.
  await Promise.all([syncDirectory(dirname(database.location)), syncDirectory(database.location)])
}

/** Undefined: the database is new, or none of ours. Throws Format or Corrupt. */
export function readFormat(database: Database): string | undefined {
  const format = database.getSync(metaFormat)?.toString()
  if (format !== undefined) checkFormat(format, database.location)
  return format
}

/** Throws Format or Corrupt. */
export function checkFormat(text: string, location: string): void {
  const format = Number(text)
  if (!Number.isInteger(format) || format < 1)
    throw new StorageError("Corrupt", `store ${location}: the format version cannot be read`)
  if (format > formatVersion)
    throw new StorageError(
      "Format",
      `store ${location} was written by a newer version (format ${format}; this version reads up to ${formatVersion}): ` +
        "upgrade, or use another data directory",
    )
}

/** Throws Corrupt. */
export function readCompacted(database: Database): Revision {
  const compacted = Number(database.getSync(metaCompacted)?.toString() ?? "0")
  if (Number.isSafeInteger(compacted) && compacted >= 0) return compacted
  throw new StorageError("Corrupt", `store ${database.location}: the compacted revision cannot be read`)
}

// The newest log record contains it. An empty log means that everything was compacted up to the head.
export async function readHead(database: Database, compacted: Revision): Promise<Revision> {
  const last = await firstKey(database, { gte: logKey(0), lt: logEnd, reverse: true, keyEncoding: "buffer" })
  return Math.max(last ? decodeLogKey(last).revision : 0, compacted + 1)
}
