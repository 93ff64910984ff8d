// A greedy tenant, in a process of its own: as many requests of one kind at the same time as it gets. Says "loaded" when its
// objects are there and its watches stand, then goes on until it is told to end. It is polite to the processor, which it would
// not share with the gateway if it ran where clients run: it gets what the gateway leaves.
//   node bench/fairness-load.ts KUBECONFIG KIND WATCHES REQUESTS

import { setPriority } from "node:os"
import { isNotFound } from "../apimachinery/status.ts"
import type { ConfigMap } from "../apimachinery/object.ts"
import { createHttpClient } from "../client/http-client.ts"
import { loadKubeconfig } from "../client/kubeconfig.ts"
import { configMaps } from "../client/resources.ts"
import { BenchClient, type Call } from "./api-client.ts"
import { isGreed, type Greed } from "./fairness-kinds.ts"

const [file = "", kind = "all", watches = "100", requests = "32"] = process.argv.slice(2)
if (!isGreed(kind)) throw new Error(`no kind of greed: ${kind}`)
const objects = 2000
/** So many events per write that few writers are enough. */
const writersBesideWatches = 4
const niceness = 10
const stop = new AbortController()
process.once("SIGTERM", () => stop.abort())
setPriority(niceness)

const config = await loadKubeconfig(file)
const withWatches = kind === "watches" || kind === "all"
const watchSockets = withWatches ? Number(watches) : 1
await using client = createHttpClient({ ...config, limits: { watchSockets } })
// Lists are not decoded, and compressed as for client-go: what is measured is the gateway.
using bare = new BenchClient({ name: "greedy", pids: [], ...benched() })

function benched() {
  const { server: url, certificateAuthority = "", certificate, key, token } = config
  return {
    url,
    certificateAuthority,
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(typeof token === "string" ? { token } : {}),
  }
}

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: "x".repeat(500) },
})

async function isFilled(): Promise<boolean> {
  try {
    await client.get(configMaps, "default", `o${objects - 1}`)
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    return false
  }
}

if (!(await isFilled())) {
  const names = Array.from({ length: objects }, (_, index) => `o${index}`).values()
  const filling = async (): Promise<void> => {
    for (const name of names) await client.create(configMaps, configMap(name))
  }
  await Promise.all(Array.from({ length: 16 }, filling))
}

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

const path = "/api/v1/namespaces/default/configmaps"
let turn = 0
const list = (): Call => ({ method: "GET", path })
const read = (): Call => ({ method: "GET", path: `${path}/o${turn % objects}` })
const write = (): Call => ({
  method: "PATCH",
  path: `${path}/o${turn % objects}`,
  contentType: "application/merge-patch+json",
  body: JSON.stringify({ data: { turn: String(turn) } }),
})
const calls: Record<Greed, () => Call> = {
  reads: read,
  writes: write,
  lists: list,
  watches: write,
  all: () => (turn % 20 === 0 ? list() : turn % 2 === 0 ? write() : read()),
}

async function request(greed: Greed): Promise<void> {
  turn++
  await bare.call(calls[greed]())
}

const resourceVersion = await bare.resourceVersion(`${path}?limit=1`)
let standing = 0
async function watch(): Promise<void> {
  // In steps, so that each begins soon after the one before: what is measured is what goes on.
  using stream = await bare.watch(`${path}?watch=1&resourceVersion=${resourceVersion}`)
  standing++
  await new Promise((resolve) => stop.signal.addEventListener("abort", resolve))
  void stream
}

const running: Promise<void>[] = []
if (withWatches) {
  for (let index = 0; index < Number(watches); index += 16) {
    const step = Array.from({ length: Math.min(16, Number(watches) - index) }, () => watch())
    running.push(...step)
    while (standing < index + step.length) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const parallel = kind === "watches" ? writersBesideWatches : Number(requests)
for (let index = 0; index < parallel; index++) running.push(untilStopped(() => request(kind)))
process.stdout.write("loaded\n")
await Promise.all(running)
process.exit(0)
