// The LevelDB of one store, and its errors as StorageErrors.

import type { Level } from "level"
import { StorageError } from "../types.ts"

/** With functions that `level` has in Node only, which its types therefore lack. */
export type Database = Level<string, Buffer> & {
  /** Bytes on disk, roughly. */
  approximateSize(start: Buffer, end: Buffer, options: { keyEncoding: "buffer" }): Promise<number>
  compactRange(start: Buffer, end: Buffer, options: { keyEncoding: "buffer" }): Promise<void>
}

/** LevelDB's own count of the blocks and writes that it keeps in memory. */
export function memoryOf(database: Database): number {
  // level's types are those of all platforms; in Node it is classic-level, which has this.
  const { getProperty } = database as Partial<{ getProperty(this: Database, name: string): string }>
  if (database.status !== "open" || getProperty === undefined) return 0
  return Number(getProperty.call(database, "leveldb.approximate-memory-usage"))
}

/** Converts a failed read or write of an open database to a StorageError; returns other errors unchanged. */
export function accessError(error: unknown, location: string): Error {
  const code = errorCode(error)
  const text = `store ${location}`
  if (code === "LEVEL_CORRUPTION" || error instanceof RangeError)
    return new StorageError("Corrupt", `${text} is damaged: ${errorText(error)}`, { cause: error })
  if (code !== undefined && !(error instanceof StorageError))
    return new StorageError("Unavailable", `${text}: ${errorText(error)}`, { cause: error })
  return error instanceof Error ? error : new Error(text, { cause: error })
}

/** LevelDB's code. `level` wraps the cause of a failed open: LEVEL_DATABASE_NOT_OPEN around the code that says why. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const inner = errorCode(error.cause)
  return inner ?? ("code" in error && typeof error.code === "string" ? error.code : undefined)
}

/** Of the innermost cause. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? errorText(error.cause) : error.message
}
