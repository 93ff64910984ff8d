// Repeatedly kills a process that writes to a store under load, and checks the content afterwards.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { AcknowledgedWrites } from "../testing/acknowledged-writes.ts"
import { checkDirectory } from "./check.ts"
import { openLevelStore } from "./store.ts"

// Thousands of writes, each flushed to disk: slow on slow disks.
vi.setConfig({ testTimeout: 300_000 })

const rounds = 6
const limits = { residentBytes: 16 * 1024 * 1024 }
const writer = fileURLToPath(new URL("../testing/crash-writer.ts", import.meta.url))

let root = ""
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "polyplane-crash-"))
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

/** Runs the writer until it has acknowledged `count` writes, then kills it. Returns all acknowledged writes. */
async function writeUntilKilled(directory: string, round: number, count: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, directory, String(round)], { stdio: ["ignore", "pipe", "inherit"] })
  const closed = once(child, "close")
  let output = ""
  let lines = 0
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    output += String(chunk)
    lines += String(chunk).split("\n").length - 1
    if (lines >= count) child.kill("SIGKILL")
  }
  await closed
  // The last line may be incomplete because of the kill.
  return output.split("\n").slice(0, -1)
}

test("after kill -9 under load, all acknowledged writes are present and the check finds no faults", async () => {
  const directory = join(root, "store")
  const acknowledged = new AcknowledgedWrites()
  for (let round = 0; round < rounds; round++) {
    const count = 1 + Math.floor(Math.random() * 1500)
    const lines = await writeUntilKilled(directory, round, count)
    expect(lines.length).toBeGreaterThanOrEqual(count)
    for (const line of lines) acknowledged.read(line)
    // The check opens LevelDB, which invalidates the store's image, so it runs before the opening only in every other round.
    const check = async () => expect(await checkDirectory(directory, { quotaPrefix: "/crash/" })).toEqual([])
    if (round % 2 === 0) await check()
    {
      await using store = await openLevelStore({ directory, image: true, limits })
      expect(await acknowledged.missingIn(store)).toEqual([])
    }
    await check()
  }
})
