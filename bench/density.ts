// Many tenants in one process: how fast they are created, what they cost while they sleep, how fast they wake, and how soon a
// process responds that finds them on disk. Compared with the same number of namespaces of the super cluster, where meaningful,
// and with the cost of one control plane of kube-apiserver + etcd (bench/api.ts).
//   node bench/density.ts [tenants, 1000] [objects in each, 20] [at the same time, 8]

import { execFile } from "node:child_process"
import { readdir, stat } from "node:fs/promises"
import path from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps, namespaces } from "../client/resources.ts"
import { startPolyplane, type Polyplane } from "../test/harness/polyplane.ts"
import { processorTime, residentMiB } from "./processor-time.ts"
import { progress } from "./progress.ts"
import { argument, atLeast, atMost, quantile, report } from "./report.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const run = promisify(execFile)
const tenants = argument(0, 1000)
const objects = argument(1, 20)
const parallel = argument(2, 8)
/** The last tenants are created one after the other: their time to the first answer contains no waiting for others. */
const alone = Math.min(100, Math.floor(tenants / 2))
/** Number of tenants that are woken, one after the other. */
const woken = Math.min(200, tenants)
const sample = new Set(Array.from({ length: woken }, (_, index) => Math.floor((index * tenants) / woken)))
const idleSeconds = 5
/** Duration of an idle phase, to measure its cost. */
const restMs = 60_000

/** Calls `work` once for each index, with limited concurrency. */
async function forEach(what: string, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      progress(what, index, count)
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

/** Size of the tenants' stores, without that of the super cluster. */
async function storedKiB(): Promise<number> {
  const stores = path.join(up.dataDir, "stores")
  const sum = await run("du", ["-s", "--apparent-size", "--block-size=1", "--exclude=super", stores])
  return Number(sum.stdout.split(/\s/)[0]) / 1024
}

/** Of this process, whose pauses would be measured otherwise. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
}

async function descriptors(up: Polyplane): Promise<number> {
  return (await readdir(`/proc/${up.pid}/fd`)).length
}

async function awake(up: Polyplane): Promise<number> {
  const text = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  return Number(/^polyplane_tenants_awake (\d+)$/m.exec(text)?.[1])
}

async function waitUntilAsleep(up: Polyplane): Promise<void> {
  for (let left = await awake(up); left > 0; left = await awake(up)) {
    progress("falling asleep", tenants - left, tenants)
    await delay(2_000)
  }
}

/** Share of a processor that the process uses for that long. */
async function shareFor(up: Polyplane, ms: number): Promise<number> {
  const pids = up.pid === undefined ? [] : [up.pid]
  const before = await processorTime(pids)
  await delay(ms)
  return ((await processorTime(pids)) - before) / 1000 / ms
}

/** Share of a processor that the process uses while idle. */
async function restingShare(up: Polyplane): Promise<number> {
  progress(`at rest for ${restMs / 1000} s`)
  return shareFor(up, restMs)
}

/** After a start each tenant is woken once. */
async function waitUntilLookedAt(up: Polyplane): Promise<void> {
  while ((await shareFor(up, 5_000)) > 0.1) progress("looking at all tenants after the start")
}

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: "x".repeat(200) },
})

await using up = await startPolyplane({ args: ["--tenants", "", "--tenant-idle", String(idleSeconds)] })
const empty = { memory: await residentMiB([up.pid!]), disk: await storedKiB(), share: await restingShare(up) }
const together: number[] = []
const single: number[] = []
/** Of the tenants that are woken: they keep their connections, so that no handshake is measured. */
const clients: Client[] = []
const spaces: number[] = []
await using stack = new AsyncDisposableStack()
const admin = stack.use(await adminClient(up))
const maker = stack.use(await TenantMaker.start(admin))

async function makeTenant(index: number): Promise<number> {
  const begin = performance.now()
  // Thousands of open clients would make the collections of this process a part of what it measures.
  await using client = await maker.make(`t${index}`)
  await client.get(namespaces, undefined, "default")
  return performance.now() - begin
}

const began = performance.now()
await forEach("making tenants", tenants - alone, async (index) => {
  together.push(await makeTenant(index))
})
const creating = (performance.now() - began) / 1000
collectGarbage()
for (let index = tenants - alone; index < tenants; index++) single.push(await makeTenant(index))
await forEach("making namespaces", woken, async (index) => {
  const begin = performance.now()
  await admin.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: `space-${index}` } })
  await admin.get(namespaces, undefined, `space-${index}`)
  spaces.push(performance.now() - begin)
})
await waitUntilAsleep(up)
const diskEmpty = ((await storedKiB()) - empty.disk) / tenants
await forEach("making objects", tenants, async (index) => {
  const client = await maker.connect(`t${index}`)
  for (let object = 0; object < objects; object++) await client.create(configMaps, configMap(`c${object}`))
  if (sample.has(index)) clients.push(client)
  else await client[Symbol.asyncDispose]()
})
await waitUntilAsleep(up)
// V8 collects in the first minute what was left behind by falling asleep.
const settling = await restingShare(up)
const share = await restingShare(up)
const asleep = {
  memory: await residentMiB([up.pid!]),
  descriptors: await descriptors(up),
  settling,
  share,
  awake: await awake(up),
}

const wake: number[] = []
const warm: number[] = []
collectGarbage()
for (const client of clients) {
  for (const times of [wake, warm]) {
    const begin = performance.now()
    await client.get(configMaps, "default", "c0")
    times.push(performance.now() - begin)
  }
}
for (const client of clients) await client[Symbol.asyncDispose]()
await stack.disposeAsync()
await up.kill()
const restart = performance.now()
await up.start()
const started = performance.now() - restart
{
  await using client = await adminClient(up)
  await client.get(namespaces, undefined, "default")
}
const answered = performance.now() - restart
await waitUntilLookedAt(up)
const lookedAt = { seconds: (performance.now() - restart) / 1000, processor: await processorTime([up.pid!]) }
await restingShare(up)
const again = { highest: await residentMiB([up.pid!], "VmHWM"), memory: await residentMiB([up.pid!]) }
const { size } = await stat(path.join(up.dataDir, "gateway", "CURRENT"))
if (size === 0) throw new Error("the gateway's own store is empty")

/** From a profile of creating 800 tenants. */
const making =
  "12 ms of processor time per tenant, nothing of which is more than a twelfth: keys and certificates 8 %, LevelDB's calls 7 %, managed fields 5 %, the client's certificate 4 %, garbage 3 %, directories flushed 3 %, the rest spread over eleven writes; a fifth is the kernel, which creates LevelDB's eight files; the clients have the other processor"
const starting =
  "Node finds, reads and links more than 1,100 modules for half a second, of which the compile cache saves only the compiling; each tenant's record is 30 µs; the super cluster's tables are verified in another thread meanwhile, about 3 ms per MiB"
const against = (value: number, name: string) => ({ with: name, value })
await report("density", { tenants, objects, parallel }, [
  {
    what: `tenants made per second, ${parallel} at a time`,
    value: (tenants - alone) / creating,
    unit: "1/s",
    goal: atLeast(100),
    obstacle: making,
  },
  ...([0.5, 0.99] as const).map((share) => ({
    what: `tenant to its first answer, ${parallel} at a time, p${share * 100}`,
    value: quantile(together, share),
    unit: "ms",
    compared: against(quantile(spaces, share), `namespace to its first answer, ${parallel} at a time`),
  })),
  ...([0.5, 0.99] as const).map((share) => ({
    what: `tenant to its first answer, one at a time after ${tenants - alone} others, p${share * 100}`,
    value: quantile(single, share),
    unit: "ms",
    goal: atMost(share === 0.5 ? 10 : 50),
    obstacle: making,
  })),
  {
    what: "memory of the process, all asleep for two minutes",
    value: asleep.memory,
    unit: "MiB",
    ...(tenants === 10_000 ? { goal: atMost(1024) } : {}),
    compared: against(empty.memory, "without tenants"),
  },
  { what: "memory per sleeping tenant", value: ((asleep.memory - empty.memory) * 1024) / tenants, unit: "KiB" },
  { what: "file descriptors, all asleep", value: asleep.descriptors, unit: "" },
  {
    what: "processor time in the first of them, of a processor",
    value: asleep.settling * 100,
    unit: "%",
    compared: against(empty.share * 100, "without tenants"),
  },
  {
    what: "processor time in the second, of a processor",
    value: asleep.share * 100,
    unit: "%",
    compared: against(empty.share * 100, "without tenants"),
  },
  { what: "tenants that have woken in them", value: asleep.awake, unit: "", goal: atMost(0) },
  { what: "disk per empty tenant", value: diskEmpty, unit: "KiB", goal: atMost(16) },
  ...([0.5, 0.99] as const).map((share) => ({
    what: `first get of a sleeping tenant, p${share * 100}`,
    value: quantile(wake, share),
    unit: "ms",
    ...(share === 0.99 ? { goal: atMost(15) } : {}),
    compared: against(quantile(warm, share), "of the same tenant awake"),
  })),
  { what: "start with all on disk, ready", value: started, unit: "ms" },
  { what: "start with all on disk, first answer", value: answered, unit: "ms", goal: atMost(1000), obstacle: starting },
  { what: "start with all on disk, until each tenant has been looked at", value: lookedAt.seconds, unit: "s" },
  {
    what: "processor time of the start, per tenant",
    value: lookedAt.processor / 1000 / tenants,
    unit: "ms",
  },
  { what: "memory of the started process, highest", value: again.highest, unit: "MiB" },
  {
    what: "memory of the started process, all asleep for a minute",
    value: again.memory,
    unit: "MiB",
    ...(tenants === 10_000 ? { goal: atMost(1024) } : {}),
    compared: against(asleep.memory, "before it was killed"),
  },
])
