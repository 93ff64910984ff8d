// A greedy tenant as a separate process: the maximum number of concurrent requests of one kind. Prints "loaded" when its objects
// exist and its watches are open, then continues until it is stopped. It runs at low priority, since a real client would not
// share the gateway's processors: it gets what the gateway leaves.
//   node bench/fairness-load.ts KUBECONFIG KIND WATCHES REQUESTS

import { setPriority } from "node:os"
import { loadKubeconfig } from "../client/credentials/kubeconfig.ts"
import { BenchClient, type Call, type Server } from "./api-client.ts"
import { loads, watched } from "./fairness-loads.ts"
import { isLoadKind } from "./fairness-kinds.ts"

const [file = "", kind = "all", watches = "100", requests = "32"] = process.argv.slice(2)
if (!isLoadKind(kind)) throw new Error(`no kind of greed: ${kind}`)
const niceness = 10
/** Responses that are not failures: the object exists already, or the rate is limited. */
const expected = /: (?:409|413|422|429|504) /
const stop = new AbortController()
process.once("SIGTERM", () => stop.abort())
setPriority(niceness)

const { server: url, certificateAuthority = "", certificate, key, token } = await loadKubeconfig(file)
const server: Server = {
  name: "greedy",
  pids: [],
  url,
  certificateAuthority,
  ...(certificate === undefined ? {} : { certificate }),
  ...(key === undefined ? {} : { key }),
  ...(typeof token === "string" ? { token } : {}),
}
// Responses are not decoded, but compressed as for client-go, so that the gateway is measured.
using bare = new BenchClient(server)

async function call(of: Call): Promise<void> {
  try {
    await bare.call(of)
  } catch (error) {
    if (!(error instanceof Error && expected.test(error.message))) throw error
  }
}

const load = loads(server, call)[kind]
let turn = 0

/** Errors caused by the end are not failures. */
async function untilStopped(): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      await load.once(turn++)
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  }
}

let standing = 0
async function watch(resourceVersion: string): Promise<void> {
  using stream = await bare.watch(`${watched}?watch=1&resourceVersion=${resourceVersion}`)
  standing++
  await new Promise((resolve) => stop.signal.addEventListener("abort", resolve))
  void stream
}

await load.prepare?.()
const running: Promise<void>[] = []
if (kind === "watches" || kind === "all") {
  const resourceVersion = await bare.resourceVersion(`${watched}?limit=1`)
  // In steps, so that each starts soon after the previous one: only the steady state is measured.
  for (let index = 0; index < Number(watches); index += 16) {
    const step = Array.from({ length: Math.min(16, Number(watches) - index) }, () => watch(resourceVersion))
    running.push(...step)
    while (standing < index + step.length) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
for (let index = load.parallel ?? Number(requests); index > 0; index--) running.push(untilStopped())
process.stdout.write("loaded\n")
await Promise.all(running)
process.exit(0)
