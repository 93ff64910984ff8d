// The LevelDB of one store: opening it with small caches, its format record, and LevelDB's errors in our words.

import { readdir, readFile, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Level } from "level"
import type { StoreLimits } from "../limits.ts"
import { decodeUsage, type Usage } from "../quota.ts"
import { syncDirectory } from "../sync-directory.ts"
import { StorageError, type Revision } from "../types.ts"
import { firstKey } from "./cursor.ts"
import { decodeLogKey, formatVersion, logEnd, logKey, metaCompacted, metaFormat, metaUsage } from "./keys.ts"

export type Database = Level<string, Buffer>

/** What a store must know of what is on disk before it can serve. */
export interface DatabaseState {
  head: Revision
  compacted: Revision
  /** It has just been made: nothing is in it. */
  fresh: boolean
  /** What was counted under a quota when something was last written under one. */
  usage: Usage | undefined
}

/** A directory that is open and known to be a store, and no store yet: base, quota and budget are still to be named. */
export interface OpenedDatabase {
  database: Database
  state: DatabaseState
}

export interface DatabaseOptions {
  directory: string
  limits: StoreLimits
  /** Default true. When false, a directory without a store is Unavailable. */
  create?: boolean
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { directory, create = true } = options
  try {
    return await openLevel(options)
  } catch (error) {
    if (!create || errorCode(error) !== "LEVEL_CORRUPTION" || !(await wasNeverReady(directory)))
      throw openError(error, directory)
  }
  await rm(currentPath(directory), { force: true })
  return openLevel(options).catch((error: unknown) => {
    throw openError(error, directory)
  })
}

async function openLevel({ directory, limits, create }: DatabaseOptions): Promise<Database> {
  const database: Database = new Level(directory, {
    keyEncoding: "utf8",
    valueEncoding: "buffer",
    cacheSize: limits.blockCacheBytes,
    writeBufferSize: limits.writeBufferBytes,
    maxOpenFiles: limits.maxOpenFiles,
    createIfMissing: create ?? true,
  })
  await database.open()
  return database
}

const currentPath = (directory: string): string => join(directory, "CURRENT")

/** What LevelDB makes before the manifest by which a new database is ready. */
const firstManifest = "MANIFEST-000001"
const firstFiles: readonly string[] = ["LOCK", "LOG", "LOG.old", firstManifest, "000001.dbtmp"]

/**
 * Whether power was lost before the first openDatabase() and readState() of a store had ended, so that nobody was told of anything
 * in it. LevelDB does not flush the first manifest of a new database, and begins a second one before it is open: while the first
 * is the one that counts, it was not ready.
 */
export async function wasNeverReady(directory: string): Promise<boolean> {
  try {
    return (await readFile(currentPath(directory), "utf8")).trim() === firstManifest
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
  return (await readdir(directory)).every((name) => firstFiles.includes(name))
}

/** Of a store that nobody has open. When it returns it is gone for good, also after a loss of power. */
export async function removeDatabase(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await syncDirectory(dirname(directory))
}

/** Blocks and writes that LevelDB keeps in memory, as it counts them itself. */
export function memoryOf(database: Database): number {
  // level's types are those of all platforms; in Node it is classic-level, which has this.
  const { getProperty } = database as Partial<{ getProperty(this: Database, name: string): string }>
  if (database.status !== "open" || getProperty === undefined) return 0
  return Number(getProperty.call(database, "leveldb.approximate-memory-usage"))
}

/** Writes the format record into a new database; fails with Format or Corrupt when this is no store of ours. */
export async function readState(database: Database): Promise<DatabaseState> {
  const format = database.getSync(metaFormat)?.toString()
  if (format === undefined) {
    await initialize(database)
    return { head: 1, compacted: 0, fresh: true, usage: undefined }
  }
  checkFormat(format, database.location)
  const compacted = Number(database.getSync(metaCompacted)?.toString() ?? "0")
  if (!Number.isSafeInteger(compacted) || compacted < 0)
    throw new StorageError("Corrupt", `store ${database.location}: the compacted revision cannot be read`)
  const usage = database.getSync(metaUsage)
  return {
    head: await readHead(database, compacted),
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
  // Of its directory LevelDB flushes neither the name nor, before the next manifest, which manifest counts.
  await Promise.all([syncDirectory(dirname(database.location)), syncDirectory(database.location)])
}

function checkFormat(text: string, location: string): void {
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

// The newest record of the log has it. An empty log means that everything was compacted up to the head.
async function readHead(database: Database, compacted: Revision): Promise<Revision> {
  const last = await firstKey(database, { gte: logKey(0), lt: logEnd, reverse: true, keyEncoding: "buffer" })
  return Math.max(last ? decodeLogKey(last).revision : 0, compacted + 1)
}

function openError(error: unknown, directory: string): StorageError {
  const code = errorCode(error)
  if (code === "LEVEL_LOCKED")
    return new StorageError("InUse", `store ${directory} is in use by another process`, { cause: error })
  if (code === "LEVEL_CORRUPTION")
    return new StorageError("Corrupt", `store ${directory} is damaged: ${errorText(error)}`, { cause: error })
  return new StorageError("Unavailable", `cannot open store ${directory}: ${errorText(error)}`, { cause: error })
}

/** A failed read or write of an open database, in our words; other errors as they are. */
export function accessError(error: unknown, location: string): Error {
  const code = errorCode(error)
  const text = `store ${location}`
  if (code === "LEVEL_CORRUPTION" || error instanceof RangeError)
    return new StorageError("Corrupt", `${text} is damaged: ${errorText(error)}`, { cause: error })
  if (code !== undefined && !(error instanceof StorageError))
    return new StorageError("Unavailable", `${text}: ${errorText(error)}`, { cause: error })
  return error instanceof Error ? error : new Error(text, { cause: error })
}

// level wraps the cause of a failed open: LEVEL_DATABASE_NOT_OPEN around the code that says why.
function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const inner = errorCode(error.cause)
  return inner ?? ("code" in error && typeof error.code === "string" ? error.code : undefined)
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? errorText(error.cause) : error.message
}
