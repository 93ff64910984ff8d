// What a tenant notices of a greedy one beside it: its requests' times alone, and while the other reads, writes, lists 2,000
// objects and watches as much as it can; and how late the gateway's event loop is then.
//   node bench/fairness.ts [seconds of each, 15] [watches of the greedy one, 1000] [its requests at the same time, 32]

import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { collect, start } from "../test/harness/processes.ts"
import { type Polyplane, startPolyplane } from "../test/harness/polyplane.ts"
import { argument, quantile, report } from "./report.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const seconds = argument(0, 15)
const watches = argument(1, 1000)
const requests = argument(2, 32)
/** Between two requests of the one that is measured: it is nobody's load. */
const everyMs = 20
/** The greedy one's watches connect meanwhile: what is measured is what goes on. */
const connectingMs = 3000

const configMap: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name: "mine" },
  data: {},
}

interface Times {
  get: number[]
  patch: number[]
}

async function measure(client: Client): Promise<Times> {
  const times: Times = { get: [], patch: [] }
  const end = performance.now() + seconds * 1000
  for (let round = 0; performance.now() < end; round++) {
    const begin = performance.now()
    if (round % 2 === 0) await client.get(configMaps, "default", "mine")
    else await client.patch(configMaps, "default", "mine", { data: { round: String(round) } }, { type: "merge" })
    times[round % 2 === 0 ? "get" : "patch"].push(performance.now() - begin)
    await delay(everyMs)
  }
  return times
}

/** p99 since it was asked last. */
async function loopDelayMs(up: Polyplane): Promise<number> {
  const metrics = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  const found = /^polyplane_event_loop_delay_seconds\{quantile="0.99"\} (\S+)$/m.exec(metrics)
  if (found?.[1] === undefined) throw new Error("the gateway does not tell how late its event loop is")
  return Number(found[1]) * 1000
}

await using up = await startPolyplane({ args: ["--tenants", "greedy"] })
await using admin = await adminClient(up)
await using maker = await TenantMaker.start(admin)
await using client = await maker.make("quiet")
await client.create(configMaps, configMap)
await measure(client) // code that runs for the first time
await loopDelayMs(up)
const alone = await measure(client)
const delayAlone = await loopDelayMs(up)

const greedy = start(
  process.execPath,
  [new URL("fairness-load.ts", import.meta.url).pathname, up.kubeconfig("greedy"), String(watches), String(requests)],
  { stdio: ["ignore", "pipe", "inherit"] },
)
const said = collect(greedy.stdout)
const ended = once(greedy, "close")
while (!said().includes("loaded")) {
  if (greedy.exitCode !== null) throw new Error("the greedy tenant's process ended before it had begun")
  await delay(100)
}
await delay(connectingMs)
await loopDelayMs(up)
const beside = await measure(client)
const delayBeside = await loopDelayMs(up)
if (greedy.exitCode !== null) throw new Error("the greedy tenant's process ended while the other was measured")
greedy.kill("SIGTERM")
await ended

await report("fairness", { seconds, watches, requests }, [
  ...(["get", "patch"] as const).flatMap((verb) =>
    [0.5, 0.99].map((share) => ({
      what: `${verb} beside a greedy tenant, p${share * 100}`,
      value: quantile(beside[verb], share),
      unit: "ms",
      ...(share === 0.99 ? { goal: "<= 2 x alone" } : {}),
      compared: { with: "alone", value: quantile(alone[verb], share) },
    })),
  ),
  {
    what: "delay of the event loop beside a greedy tenant, p99",
    value: delayBeside,
    unit: "ms",
    goal: "< 20",
    compared: { with: "alone", value: delayAlone },
  },
])
