// Guarantee 1 beyond kill -9: power is lost at random moments while a program works. The possible states of the disk are computed
// from the program's operations (disk.ts), opened and checked. The seed is printed; the program itself runs differently each time.

import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createRandom, seedOf } from "../../apimachinery/testing/random.ts"
import { checkDirectory } from "../../storage/level/check.ts"
import { openLevelStore } from "../../storage/level/store.ts"
import { AcknowledgedWrites } from "../../storage/testing/acknowledged-writes.ts"
import { Disk, writeState, type DiskState } from "./disk.ts"
import { describe as describeOperation, type Operation } from "./operations.ts"
import { recordingOf } from "./recording.ts"
import { whatIsMissing } from "./told.ts"
import { trace, whyNoStrace } from "./strace.ts"

const timeoutMs = 120_000
const lacking = await whyNoStrace()
if (lacking !== undefined) console.log(`skipped: ${lacking}`)

describe.skipIf(lacking !== undefined)("after power is lost", () => {
  let root = ""
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "polyplane-power-loss-")))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  /** Records the operations of a program in an empty folder. */
  async function record(program: URL, ...args: string[]): Promise<readonly Operation[]> {
    const folder = await mkdtemp(join(root, "recorded-"))
    const file = fileURLToPath(program)
    const events = await trace(process.execPath, [file, folder, ...args], { log: join(root, "strace.log"), timeoutMs })
    return recordingOf(folder, events)
  }

  /** Checks the disk after this number of simulated power losses: `faults` returns the problems as sentences. */
  async function lose(
    operations: readonly Operation[],
    times: number,
    faults: (path: string, said: readonly string[]) => Promise<readonly string[]>,
  ): Promise<void> {
    const seed = seedOf()
    console.log(`SEED=${seed}, ${operations.length} operations`)
    const random = createRandom(seed)
    const disk = new Disk(operations)
    for (let time = 0; time < times; time++) {
      const position = random(operations.length + 1)
      const state = disk.afterPowerLoss(position, random)
      const path = await mkdtemp(join(root, "state-"))
      await writeState(state, path)
      const said = operations.slice(0, position).flatMap((each) => (each.type === "said" ? [each.line] : []))
      const found = await faults(path, said).catch((error: unknown) => [String(error)])
      expect(found, explain(operations, position, state)).toEqual([])
      await rm(path, { recursive: true })
    }
  }

  test("a store has all it has acknowledged, and the check finds no fault", async () => {
    const operations = await record(new URL("../../storage/testing/crash-writer.ts", import.meta.url), "0", "8")
    await lose(operations, 150, async (path, said) => {
      const acknowledged = new AcknowledgedWrites()
      for (const line of said) acknowledged.read(line)
      return [...(await missing(path, acknowledged)), ...(await checkDirectory(path, { quotaPrefix: "/crash/" }))]
    })
  })

  test("a gateway knows all tenants and objects that clients were told of, and the check finds no fault", async () => {
    const operations = await record(new URL("gateway-program.ts", import.meta.url))
    await lose(operations, 40, whatIsMissing)
  })
})

async function missing(directory: string, acknowledged: AcknowledgedWrites): Promise<readonly string[]> {
  // With images: after a power loss they belong to another boot, but a snapshot of a volume may be opened in the same one.
  await using store = await openLevelStore({ directory, image: true })
  return await acknowledged.missingIn(store)
}

function explain(operations: readonly Operation[], position: number, { lost }: DiskState): string {
  const line = (index: number): string => `${index} ${operations[index] && describeOperation(operations[index])}`
  const before = Array.from({ length: Math.min(position, 20) }, (_, index) => line(position - 20 + index))
  return `before operation ${position}; the last were\n${before.join("\n")}\nlost were\n${lost.slice(-40).map(line).join("\n")}`
}
