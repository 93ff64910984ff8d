// Measures how long `polyplane up` takes to start as a separate process, and how much memory it uses.
//   node bench/start.ts [starts, 5] [idle tenants, 10]

import { execFile } from "node:child_process"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { startPolyplane } from "../test/harness/polyplane.ts"
import { residentMiB } from "./processor-time.ts"
import { progress } from "./progress.ts"
import { argument, atMost, quantile, report } from "./report.ts"
import { adminClient, TenantMaker } from "./tenant-clients.ts"

const run = promisify(execFile)
const starts = argument(0, 5)
const tenants = argument(1, 10)
/** Time until the work caused by creating tenants has finished. */
const idleMs = 10_000

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

const fresh: number[] = []
const again: number[] = []
const bare: number[] = []
for (let round = 0; round < starts; round++) {
  progress("starting", round, starts)
  bare.push(await timed(() => run(process.execPath, ["-e", "0"])))
  const begin = performance.now()
  await using up = await startPolyplane()
  fresh.push(performance.now() - begin)
  await up.kill()
  again.push(await timed(() => up.start()))
}

await using up = await startPolyplane({ args: ["--tenants", ""] })
await delay(idleMs)
const without = await residentMiB([up.pid!])
{
  await using client = await adminClient(up)
  await using maker = await TenantMaker.start(client)
  for (let index = 0; index < tenants; index++) {
    progress("making tenants", index, tenants)
    await using _tenant = await maker.make(`idle-${index}`)
  }
}
progress("at rest, and starting again")
await delay(idleMs)
const idle = await residentMiB([up.pid!])
await up.kill()
await up.start()
await delay(idleMs)
const restarted = await residentMiB([up.pid!])

const loading =
  "Node finds, reads and links more than 1,100 modules for half a second, of which the compile cache saves only the compiling"
const node = { with: "node -e 0", value: quantile(bare, 0.5) }
await report("start", { starts, tenants }, [
  {
    what: "new data directory, process start to ready",
    value: quantile(fresh, 0.5),
    unit: "ms",
    goal: atMost(1000),
    obstacle: loading,
    compared: node,
  },
  {
    what: "after kill -9, process start to ready",
    value: quantile(again, 0.5),
    unit: "ms",
    goal: atMost(1000),
    obstacle: loading,
    compared: node,
  },
  {
    what: `RSS with ${tenants} idle tenants`,
    value: idle,
    unit: "MiB",
    goal: atMost(200),
    compared: { with: "without tenants", value: without },
  },
  {
    what: `RSS with ${tenants} tenants after a restart`,
    value: restarted,
    unit: "MiB",
    goal: atMost(200),
    compared: { with: "without tenants", value: without },
  },
])
