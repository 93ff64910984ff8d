// A greedy tenant, in a process of its own so that its client's work is not in the way of whoever measures: watches, and as
// many reads, writes and large lists at the same time as it gets. Says "loaded" when its objects are there, then goes on
// until it is told to end.
//   node bench/fairness-load.ts KUBECONFIG WATCHES REQUESTS

import type { ConfigMap } from "../apimachinery/object.ts"
import { createHttpClient } from "../client/http-client.ts"
import { loadKubeconfig } from "../client/kubeconfig.ts"
import { configMaps } from "../client/resources.ts"

const [file = "", watches = "100", requests = "32"] = process.argv.slice(2)
const objects = 2000
const stop = new AbortController()
process.once("SIGTERM", () => stop.abort())

const config = await loadKubeconfig(file)
await using client = createHttpClient({
  ...config,
  limits: { watchSockets: Number(watches), sockets: Number(requests) },
})

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: "x".repeat(500) },
})

let next = 0
const filling = async (): Promise<void> => {
  for (let index = next++; index < objects; index = next++) await client.create(configMaps, configMap(`o${index}`))
}
await Promise.all(Array.from({ length: 16 }, filling))
const { metadata } = await client.list(configMaps, { namespace: "default", limit: 1 })
const { resourceVersion } = metadata

/** What the end interrupts is no failure. */
async function untilStopped(work: () => Promise<unknown>): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      await work()
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  }
}

async function watch(): Promise<void> {
  const options = { namespace: "default", resourceVersion, signal: stop.signal }
  for await (const _ of client.watch(configMaps, options)) if (stop.signal.aborted) return
}

let turn = 0
async function request(): Promise<void> {
  const name = `o${turn++ % objects}`
  if (turn % 20 === 0) await client.list(configMaps, { namespace: "default" })
  else if (turn % 2 === 0)
    await client.patch(configMaps, "default", name, { data: { turn: String(turn) } }, { type: "merge" })
  else await client.get(configMaps, "default", name)
}

const running = [
  ...Array.from({ length: Number(watches) }, () => untilStopped(watch)),
  ...Array.from({ length: Number(requests) }, () => untilStopped(request)),
]
process.stdout.write("loaded\n")
await Promise.all(running)
