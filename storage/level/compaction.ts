// Compaction: removes the oldest part of the revision log. First the new compacted revision is written durably, so that
// nothing reads that part any more. Then records and their history entries are removed in steps. After a crash in between, the
// next opening removes the remaining records.

import type { StoreLimits } from "../limits.ts"
import type { Revision } from "../types.ts"
import { Cursor } from "./cursor.ts"
import type { Database } from "./database.ts"
import { firstKey } from "./first-key.ts"
import { decodeLogRecord, historyKey, logEnd, logKey } from "./keys.ts"
import type { Write } from "./revision-log.ts"

/** Removes the log's records up to and including a revision, at most `limits.compactionStep` of them. */
export async function dropOldest(
  database: Database,
  revision: Revision,
  limits: StoreLimits,
  write: (writes: Write[]) => Promise<void>,
): Promise<{ bytes: number; hasMore: boolean }> {
  const writes: Write[] = []
  let bytes = 0
  {
    await using snapshot = database.snapshot()
    await using cursor = new Cursor<Buffer>(database, {
      gte: logKey(0),
      lt: logKey(revision + 1),
      snapshot,
      keyEncoding: "buffer",
    })
    while (writes.length < 2 * limits.compactionStep) {
      if (cursor.drained) await cursor.fetch()
      if (!cursor.entry) break
      const record = decodeLogRecord(...cursor.entry)
      bytes += cursor.entry[1].length
      writes.push(
        { type: "del", key: logKey(record.revision, record.index), keyEncoding: "buffer" },
        { type: "del", key: historyKey(record.key, record.revision), keyEncoding: "buffer" },
      )
      cursor.advance()
    }
  }
  if (writes.length > 0) await write(writes)
  return { bytes, hasMore: writes.length >= 2 * limits.compactionStep }
}

/** Whether an interrupted compaction has left records. */
export async function hasLeftovers(database: Database, compacted: Revision): Promise<boolean> {
  const range = { gte: logKey(0), lt: logKey(compacted + 2), keyEncoding: "buffer" } as const
  return (await firstKey(database, range)) !== undefined
}

/** Approximate size on disk of the revision log, with what LevelDB has not removed yet. */
export function logBytes(database: Database): Promise<number> {
  return database.approximateSize(logKey(0), logEnd, { keyEncoding: "buffer" })
}

/**
 * Frees the space of records that have been removed up to and including a revision. LevelDB keeps them until it merges the files that
 * they are in, which the few bytes of their deletions hardly cause.
 */
export function freeSpace(database: Database, revision: Revision): Promise<void> {
  return database.compactRange(logKey(0), logKey(revision + 1), { keyEncoding: "buffer" })
}
