// The duration of the first get of a sleeping tenant: its store is opened and the required data is read before it responds. The
// connection exists already. Compared with the same get of the awake tenant.
//   node bench/wake.ts [tenants of 200 objects, 20] [rounds, 10] [objects of the large tenant, 10000]

import { setTimeout as delay } from "node:timers/promises"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { startPolyplane } from "../test/harness/polyplane.ts"
import { progress } from "./progress.ts"
import { argument, atMost, type Goal, type Line, quantile, report } from "./report.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const tenants = argument(0, 20)
const rounds = argument(1, 10)
const large = argument(2, 10_000)
const small = 200
/** Number of concurrent writes of one tenant, which share flushes to the disk. */
const parallel = 32

await using up = await startPolyplane({ args: ["--tenants", "", "--tenant-idle", "1"] })
await using stack = new AsyncDisposableStack()
const admin = stack.use(await adminClient(up))
const maker = stack.use(await TenantMaker.start(admin))

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: "x".repeat(200) },
})

async function makeTenant(name: string, objects: number): Promise<Client> {
  const client = stack.use(await maker.make(name))
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < objects; index = next++) await client.create(configMaps, configMap(`c${index}`))
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return client
}

async function awake(): Promise<number> {
  const text = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  return Number(/^polyplane_tenants_awake (\d+)$/m.exec(text)?.[1])
}

interface Times {
  woken: number[]
  again: number[]
}

async function measure(client: Client, { woken, again }: Times): Promise<void> {
  for (const times of [woken, again]) {
    const begin = performance.now()
    await client.get(configMaps, "default", "c0")
    times.push(performance.now() - begin)
  }
}

const ofSmall: Times = { woken: [], again: [] }
const ofLarge: Times = { woken: [], again: [] }
const smallOnes: Client[] = []
for (let index = 0; index < tenants; index++) {
  progress(`making tenants of ${small} objects`, index, tenants)
  smallOnes.push(await makeTenant(`small-${index}`, small))
}
progress(`making one of ${large} objects`)
const largeOne = await makeTenant("large", large)
for (let round = 0; round < rounds; round++) {
  progress("falling asleep and waking", round, rounds)
  while ((await awake()) > 0) await delay(200)
  for (const client of smallOnes) await measure(client, ofSmall)
  await measure(largeOne, ofLarge)
}

const lines = (what: string, { woken, again }: Times, goal: Goal): Line[] =>
  [0.5, 0.99].map((share) => ({
    what: `first get of a sleeping tenant of ${what} objects, p${share * 100}`,
    value: quantile(woken, share),
    unit: "ms",
    ...(share === 0.99 ? { goal } : {}),
    compared: { with: "of the same tenant awake", value: quantile(again, share) },
  }))

await report("wake", { tenants, rounds, large }, [
  ...lines(String(small), ofSmall, atMost(15)),
  ...lines(String(large), ofLarge, atMost(100)),
])
