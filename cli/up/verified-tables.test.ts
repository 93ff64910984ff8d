// What a thread has verified before the start: all tables of intact stores, and nothing of damaged ones, which whoever opens them refuses.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { emptyBaseLayer } from "../../storage/base-layer.ts"
import { DataDirectory } from "../../gateway/stores/data-directory.ts"
import { storePath, superUid } from "../../gateway/stores/paths.ts"
import { createLog } from "../log/log.ts"
import { verifyTables } from "./verified-tables.ts"

const log = createLog("fatal")
/** Each write makes a table. */
const limits = { writeBufferBytes: 64 * 1024 }
const value = Buffer.alloc(100_000, "value ")

let path = ""
let directory = ""
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "polyplane-verified-"))
  directory = storePath(path, superUid)
})
afterEach(() => rm(path, { recursive: true, force: true }))

async function fill(writes: number): Promise<void> {
  await using data = await DataDirectory.open(path, limits)
  await using store = await data.openStore(superUid, emptyBaseLayer)
  for (let write = 0; write < writes; write++)
    await store.txn({ compare: [], operations: [{ type: "put", key: `/registry/${write}`, value }] })
}

const footerBytes = 48

/** Changes the checksum of a table's last block, which LevelDB itself does not read. */
async function damage(): Promise<void> {
  const [name = ""] = (await readdir(directory)).filter((each) => each.endsWith(".ldb")).sort()
  const content = await readFile(join(directory, name))
  content[content.length - footerBytes - 1]! ^= 1
  await writeFile(join(directory, name), content)
}

async function openWith(verified?: ReturnType<typeof verifyTables>): Promise<number> {
  await using data = await DataDirectory.open(path, limits, { ahead: verified })
  await using store = await data.openStore(superUid, emptyBaseLayer)
  return (await store.range("/registry/")).items.length
}

const refused = /super is damaged: \d+\.ldb: its block at \d+ is damaged/

test("the tables of an intact store are verified, and not again when it is opened", async () => {
  await fill(40)
  const verified = await verifyTables(path, log, 1)
  expect([...verified.keys()]).toEqual([directory])
  await damage()
  await expect(openWith()).rejects.toThrow(refused)
  expect(await openWith(Promise.resolve(verified))).toBe(40)
})

test("a damaged store is left out, and refused when it is opened", async () => {
  await fill(40)
  await damage()
  const verified = verifyTables(path, log, 1)
  expect(await verified).toEqual(new Map())
  await expect(openWith(verified)).rejects.toThrow(refused)
})

test("of a directory that is not there, and of stores with few tables, nothing is verified ahead", async () => {
  expect(await verifyTables(join(path, "none"), log)).toEqual(new Map())
  await fill(1)
  expect(await verifyTables(path, log)).toEqual(new Map())
})
