// Opens the LevelDB of one store whole and with small caches, and removes it.

import { existsSync } from "node:fs"
import { readdir, readFile, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Level } from "level"
import { ifThere } from "../if-there.ts"
import type { StoreLimits } from "../limits.ts"
import { syncDirectory } from "../sync-directory.ts"
import { StorageError } from "../types.ts"
import { accessError, type Database, errorCode, errorText } from "./database.ts"
import { type VerifiedTables, verifyFiles } from "./files/verify.ts"
import { LogsToOpen } from "./lost-logs.ts"

export interface DatabaseOptions {
  directory: string
  limits: StoreLimits
  /** Default true. When false, a directory without a store is Unavailable. */
  create?: boolean
  /** Tables that need not be verified again. Default: none. */
  verified?: VerifiedTables | undefined
}

/** Throws InUse, Corrupt or Unavailable. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { directory, create = true } = options
  try {
    // Of a new store nothing is read, which would take longer than its check.
    if (create && !existsSync(directory)) return await openLevel(options)
    return await openWhole(options, await LogsToOpen.of(directory, await verifyFiles(directory, options.verified)))
  } catch (error) {
    if (error instanceof StorageError) throw error
    if (!create || errorCode(error) !== "LEVEL_CORRUPTION" || !(await wasNeverReady(directory)))
      throw openError(error, directory)
  }
  await rm(currentPath(directory), { force: true })
  return openLevel(options).catch((error: unknown) => {
    throw openError(error, directory)
  })
}

async function openWhole(options: DatabaseOptions, logs: LogsToOpen): Promise<Database> {
  const database = await openLevel(options)
  try {
    await logs.restore(database)
    return database
  } catch (error) {
    await database.close()
    throw accessError(error, options.directory)
  }
}

async function openLevel({ directory, limits, create }: DatabaseOptions): Promise<Database> {
  const database = new Level<string, Buffer>(directory, {
    keyEncoding: "utf8",
    valueEncoding: "buffer",
    cacheSize: limits.blockCacheBytes,
    writeBufferSize: limits.writeBufferBytes,
    maxOpenFiles: limits.maxOpenFiles,
    createIfMissing: create ?? true,
  })
  await database.open()
  return database as Database
}

const currentPath = (directory: string): string => join(directory, "CURRENT")

/** Files that LevelDB creates before the manifest that completes a new database. */
const firstManifest = "MANIFEST-000001"
const firstFiles: readonly string[] = ["LOCK", "LOG", "LOG.old", firstManifest, "000001.dbtmp"]

/**
 * Whether power was lost before the first openDatabase() and readState() of a store had ended, so that nothing in it had been
 * acknowledged. LevelDB does not flush the first manifest of a new database, and starts a second one before the database is open: while
 * the first one is current, the database was not ready.
 */
export async function wasNeverReady(directory: string): Promise<boolean> {
  const current = await ifThere(readFile(currentPath(directory), "utf8"))
  if (current !== undefined) return current.trim() === firstManifest
  return (await readdir(directory)).every((name) => firstFiles.includes(name))
}

/** Throws Corrupt if the directory or the file that every LevelDB has is missing; LevelDB would create the directory. */
export function checkPresence(directory: string): void {
  if (existsSync(currentPath(directory))) return
  const what = existsSync(directory) ? "is damaged: its file CURRENT is missing" : "is missing"
  throw new StorageError("Corrupt", `store ${directory} ${what}`)
}

/** Deletes a store that is not open. When it resolves, the deletion is durable, even after a power loss. */
export async function removeDatabase(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await syncDirectory(dirname(directory))
}

function openError(error: unknown, directory: string): StorageError {
  const code = errorCode(error)
  if (code === "LEVEL_LOCKED")
    return new StorageError("InUse", `store ${directory} is in use by another process`, { cause: error })
  if (code === "LEVEL_CORRUPTION")
    return new StorageError("Corrupt", `store ${directory} is damaged: ${errorText(error)}`, { cause: error })
  return new StorageError("Unavailable", `cannot open store ${directory}: ${errorText(error)}`, { cause: error })
}
