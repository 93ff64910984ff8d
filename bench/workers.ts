// Tenants distributed over processes: the cost of a request that is passed on to a worker, compared with a single process, and
// how long tenants of a killed or hanging worker do not acknowledge writes.
//   node bench/workers.ts [workers, 3] [tenants, 12] [kills, 5]

import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { createHttpClient } from "../client/http/client.ts"
import { loadKubeconfig } from "../client/credentials/kubeconfig.ts"
import { configMaps } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../test/harness/polyplane.ts"
import { processorTime, residentMiB } from "./processor-time.ts"
import { progress } from "./progress.ts"
import { argument, atMost, type Line, quantile, report } from "./report.ts"

const workers = argument(0, 3)
const tenantCount = argument(1, 12)
const kills = argument(2, 5)
const measuredMs = 4_000
const settleMs = 1_000
const namespace = "default"
const tenants = Array.from({ length: tenantCount }, (_, index) => `team-${index}`)

const settings = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name } })

async function start(count: number): Promise<Polyplane> {
  return startPolyplane({ args: ["--workers", String(count), "--tenants", tenants.join(",")], readyTimeoutMs: 120_000 })
}

async function children(up: Polyplane): Promise<number[]> {
  // pgrep fails if there are none.
  const { stdout } = await promisify(execFile)("pgrep", ["-P", String(up.pid)]).catch(() => ({ stdout: "" }))
  return stdout.split("\n").filter(Boolean).map(Number)
}

async function processes(up: Polyplane): Promise<number[]> {
  return [...(up.pid === undefined ? [] : [up.pid]), ...(await children(up))]
}

async function clientsOf(up: Polyplane, stack: AsyncDisposableStack): Promise<KubeClient[]> {
  return Promise.all(
    tenants.map(async (tenant) => stack.use(createHttpClient(await loadKubeconfig(await up.readKubeconfig(tenant))))),
  )
}

interface Measured {
  perSecond: number
  p50: number
  p99: number
  /** Microseconds of all processes per request. */
  processor: number
}

/** One client per tenant, with one request at a time over a persistent connection. */
async function measure(
  up: Polyplane,
  clients: readonly KubeClient[],
  work: (client: KubeClient, turn: number) => Promise<unknown>,
): Promise<Measured> {
  const pids = await processes(up)
  const times: number[] = []
  const run = async (ms: number, record: boolean): Promise<void> => {
    const end = performance.now() + ms
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() < end) {
          const began = performance.now()
          await work(client, turn++)
          if (record) times.push(performance.now() - began)
        }
      }),
    )
  }
  let turn = 0
  await run(settleMs, false)
  const before = await processorTime(pids)
  await run(measuredMs, true)
  const processor = (await processorTime(pids)) - before
  return {
    perSecond: (times.length * 1000) / measuredMs,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    processor: processor / times.length,
  }
}

async function requests(up: Polyplane): Promise<{ get: Measured; create: Measured; resident: number }> {
  await using stack = new AsyncDisposableStack()
  const clients = await clientsOf(up, stack)
  for (const client of clients) await client.create(configMaps, settings("read"))
  const get = await measure(up, clients, (client) => client.get(configMaps, namespace, "read"))
  const create = await measure(up, clients, (client, turn) => client.create(configMaps, settings(`made-${turn}`)))
  return { get, create, resident: await residentMiB(await processes(up)) }
}

interface Takeover {
  pause: number
  lost: number
  written: number
}

interface Writer {
  /** The time of acknowledgement of each write, by name. */
  acknowledged: Map<string, number>
  stop(): Promise<void>
}

function write(client: KubeClient, prefix: string): Writer {
  const acknowledged = new Map<string, number>()
  const stopping = new AbortController()
  const writing = (async () => {
    for (let count = 0; !stopping.signal.aborted; count++) {
      const name = `${prefix}-${count}`
      try {
        await client.create(configMaps, settings(name))
        acknowledged.set(name, performance.now())
      } catch {
        // Not acknowledged: the next write follows at once.
      }
    }
  })()
  return {
    acknowledged,
    async stop() {
      stopping.abort()
      await writing
    },
  }
}

/** The longest pause of any tenant around the end of a worker, in ms, and the number of acknowledged writes that were lost. */
async function takeover(up: Polyplane, stopSignal: NodeJS.Signals, round: number): Promise<Takeover> {
  await using stack = new AsyncDisposableStack()
  const clients = await clientsOf(up, stack)
  const writers = clients.map((client) => write(client, `${stopSignal.toLowerCase()}-${round}`))
  await eventually(() => writers.every(({ acknowledged }) => acknowledged.size > 20))
  const [victim] = await children(up)
  if (victim === undefined) throw new Error("there are no workers")
  const killed = performance.now()
  process.kill(victim, stopSignal)
  const hasRecovered = ({ acknowledged }: Writer) => [...acknowledged.values()].filter((at) => at > killed).length > 20
  await eventually(() => writers.every(hasRecovered), { timeoutMs: 60_000 })
  for (const writer of writers) await writer.stop()
  let pause = 0
  let lost = 0
  let written = 0
  for (const [index, { acknowledged }] of writers.entries()) {
    const times = [...acknowledged.values()]
    const next = times.findIndex((at) => at > killed)
    pause = Math.max(pause, (times[next] ?? Infinity) - (times[next - 1] ?? killed))
    const found = await clients[index]?.list(configMaps, { namespace })
    const there = new Set(found?.items.map(({ metadata }) => metadata.name))
    for (const name of acknowledged.keys()) if (!there.has(name)) lost++
    written += acknowledged.size
  }
  await eventually(async () => (await children(up)).length === workers, { timeoutMs: 60_000 })
  return { pause, lost, written }
}

progress("one process")
const alone = await (async () => {
  await using up = await start(1)
  return await requests(up)
})()
await using up = await start(workers)
progress(`${workers} workers`)
const spread = await requests(up)
const killed: Takeover[] = []
const stopped: Takeover[] = []
for (let round = 0; round < kills; round++) {
  progress("killing and stopping workers", round, kills)
  killed.push(await takeover(up, "SIGKILL", round))
  stopped.push(await takeover(up, "SIGSTOP", round))
}
const rounds = [...killed, ...stopped]

function pausesOf(who: string, takeovers: readonly Takeover[]): Line[] {
  const pauses = takeovers.map(({ pause }) => pause)
  return [
    {
      what: `${who} worker: longest pause between acknowledged writes of a tenant, median`,
      value: quantile(pauses, 0.5),
      unit: "ms",
      goal: atMost(2000),
    },
    { what: "the same, of all", value: Math.max(...pauses), unit: "ms", goal: atMost(2000) },
  ]
}

const comparedTo = (value: number): Pick<Line, "compared"> => ({ compared: { with: "in one process", value } })
const verbs = (["get", "create"] as const).flatMap((verb): Line[] => [
  { what: `${verb}, all tenants`, value: spread[verb].perSecond, unit: "/s", ...comparedTo(alone[verb].perSecond) },
  { what: `${verb} p50`, value: spread[verb].p50, unit: "ms", ...comparedTo(alone[verb].p50) },
  { what: `${verb} p99`, value: spread[verb].p99, unit: "ms", ...comparedTo(alone[verb].p99) },
  { what: `${verb}, processor time`, value: spread[verb].processor, unit: "us", ...comparedTo(alone[verb].processor) },
])
await report("workers", { workers, tenants: tenantCount, kills }, [
  ...verbs,
  { what: "RSS of all processes", value: spread.resident, unit: "MiB", ...comparedTo(alone.resident) },
  ...pausesOf("killed", killed),
  ...pausesOf("hung", stopped),
  {
    what: "acknowledged writes that are lost",
    value: rounds.reduce((sum, { lost }) => sum + lost, 0),
    unit: "",
    goal: atMost(0),
    compared: { with: "acknowledged", value: rounds.reduce((sum, { written }) => sum + written, 0) },
  },
])
