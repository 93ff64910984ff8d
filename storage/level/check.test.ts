import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createBaseLayer } from "../testing/base-layer.ts"
import { defaultLimits } from "../limits.ts"
import { put, remove } from "../testing/store-suite/shorthand.ts"
import { checkDirectory } from "./check.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { currentKey, encodeCurrent, historyKey, logKey, tombstoneKey } from "./keys.ts"
import { openLevelStore } from "./store.ts"

const base = createBaseLayer([["/base", Buffer.from("b")]])
const buffer = { keyEncoding: "buffer", valueEncoding: "buffer" } as const
const state = (key: string, createRevision: number, modRevision: number) =>
  encodeCurrent({ key, value: Buffer.from("x"), createRevision, modRevision })

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-check-"))
  await using store = await openLevelStore({ directory, base })
  await put(store, "/a", "1") // 2
  await put(store, "/b", "1") // 3
  await put(store, "/a", "2") // 4
  await remove(store, "/b") // 5
  await remove(store, "/base") // 6
  await put(store, "/c", "1") // 7
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

test("a store without damage has no faults", async () => {
  expect(await checkDirectory(directory, { base })).toEqual([])
})

test.each<[name: string, damage: (db: Database) => Promise<void>, fault: string]>([
  ["a current value is missing", (db) => db.del(currentKey("/a")), `"/a" was written at 2/4, but nothing is there`],
  ["a current value is outdated", (db) => db.put(currentKey("/a"), state("/a", 2, 2)), `but 2/2 is there`],
  [
    "a deleted key is present",
    (db) => db.put(currentKey("/b"), state("/b", 3, 3)),
    `"/b" was deleted at 5, but is there`,
  ],
  [
    "a value is not in the log",
    (db) => db.put(currentKey("/x"), state("/x", 4, 4)),
    `"/x" has revision 4, which is not in`,
  ],
  ["a value has a future revision", (db) => db.put(currentKey("/x"), state("/x", 99, 99)), `"/x" has revisions 99/99`],
  ["a value has no header", (db) => db.put(currentKey("/x"), Buffer.from("x")), `current record of "/x" has 1 bytes`],
  ["the log has a gap", (db) => db.del(logKey(3), buffer), "nothing between revisions 2 and 4"],
  [
    "a log record is duplicated",
    async (db) => db.put(logKey(4, 1), db.getSync(logKey(4), buffer) as Buffer, buffer),
    "4/1, but history does not",
  ],
  [
    "a history entry is missing",
    (db) => db.del(historyKey("/a", 4), buffer),
    `update of "/a" at 4/0, but history does not`,
  ],
  [
    "a history entry is superfluous",
    async (db) => db.put(historyKey("/a", 3), db.getSync(historyKey("/a", 4), buffer) as Buffer, buffer),
    "revision log has no such record",
  ],
  ["a base tombstone is missing", (db) => db.del(tombstoneKey("/base")), "is not marked as deleted"],
  ["a present key has a tombstone", (db) => db.put(tombstoneKey("/a"), Buffer.alloc(0)), "both present and marked"],
  ["a record is unknown", (db) => db.put("zebra", Buffer.alloc(0)), `unknown record "zebra"`],
])("reports that %s", async (_name, damage, fault) => {
  const database = await openDatabase({ directory, limits: defaultLimits })
  await damage(database)
  await database.close()
  expect((await checkDirectory(directory, { base })).join("\n")).toContain(fault)
})

test("a directory without a store cannot be checked", async () => {
  await expect(checkDirectory(join(directory, "none"))).rejects.toMatchObject({ code: "Unavailable" })
})
