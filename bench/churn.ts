// Repeatedly creates, uses and deletes the same number of tenants in one process, whose resources should not grow from round to
// round. Only the second half of the rounds is evaluated, when everything has been loaded.
//   node bench/churn.ts [tenants, 200] [rounds, 50] [at the same time, 8]

import { setTimeout as delay } from "node:timers/promises"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps, virtualClusters } from "../client/resources.ts"
import { startPolyplane } from "../test/harness/polyplane.ts"
import { argument, atMost, atMostOfCompared, quantile, report } from "./report.ts"
import { heldBy, slope, type Held } from "./resources.ts"
import { adminClient, TenantMaker } from "./tenant-clients.ts"

const tenants = argument(0, 200)
const rounds = argument(1, 50)
const parallel = argument(2, 8)
/**
 * By then everything that is created once exists, and V8 and the allocator have the maximum number of pages they need, which they
 * keep.
 */
const warmUp = Math.max(1, Math.floor(rounds / 2))
const objects = 5

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: "x".repeat(500) },
})

// Each tenant leaves an Event in the super cluster, for longer than this would run.
await using up = await startPolyplane({ args: ["--tenants", "", "--limit", "eventTtlMs=10000"] })
await using stack = new AsyncDisposableStack()
const admin = stack.use(await adminClient(up))
const maker = stack.use(await TenantMaker.start(admin))

async function liveOne(name: string): Promise<void> {
  await using client = await maker.make(name)
  for (let index = 0; index < objects; index++) await client.create(configMaps, configMap(`c${index}`))
  await client.patch(configMaps, "default", "c0", { data: { text: "y" } }, { type: "merge" })
  await client.delete(configMaps, "default", "c1")
  const { items } = await client.list<ConfigMap>(configMaps, { namespace: "default" })
  // The tenant's own, and those of every namespace.
  if (items.length !== objects) throw new Error(`${name} has ${items.length} ConfigMaps`)
  await admin.delete(virtualClusters, "default", name)
}

async function playRound(round: number): Promise<Held> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tenants; index = next++) await liveOne(`round-${round}-${index}`)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  while ((await admin.list(virtualClusters)).items.length > 0) await delay(50)
  return heldBy(up)
}

const began = performance.now()
const held: Held[] = []
for (let round = 0; round < rounds; round++) {
  const now = await playRound(round)
  held.push(now)
  process.stderr.write(
    `round ${round + 1} of ${rounds}: ${now.memoryMiB.toFixed(0)} MiB, ${now.descriptors} files, ${now.series} series\n`,
  )
}
const seconds = (performance.now() - began) / 1000
const steady = held.slice(warmUp - 1)
const third = Math.ceil(steady.length / 3)
/** The allowed growth, since the values vary between rounds. */
const flat = atMostOfCompared(1.05)
/** Compares medians of the last and the first rounds, because the amount of uncollected garbage varies. */
const change = (what: string, unit: string, of: (held: Held) => number) => ({
  what: `${what}, after the last rounds`,
  value: quantile(steady.slice(-third).map(of), 0.5),
  unit,
  goal: flat,
  compared: { with: "after the first ones", value: quantile(steady.slice(0, third).map(of), 0.5) },
})
const memory = steady.map(({ memoryMiB }, index) => ({ x: index * tenants, y: 1024 * memoryMiB }))

await report("churn", { tenants, rounds, parallel, memoryMiB: held.map(({ memoryMiB }) => Math.round(memoryMiB)) }, [
  { what: "tenants made, used and deleted per second", value: (rounds * tenants) / seconds, unit: "1/s" },
  change("memory of the process", "MiB", ({ memoryMiB }) => memoryMiB),
  { what: "memory kept of each deleted tenant", value: slope(memory), unit: "KiB", goal: atMost(0) },
  change("file descriptors", "", ({ descriptors }) => descriptors),
  change("series of metrics", "", ({ series }) => series),
])
