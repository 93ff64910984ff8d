// A long run at half load: how much memory grows, and whether any request fails. First it determines the full load, by sending
// requests as fast as possible for a few seconds; then it runs at half of that, for a warm-up and the requested time. Each tenant
// has a watch, which must receive every write exactly once.
//   node bench/soak.ts [--minutes 60] [--tenants 50]

import { setTimeout as delay } from "node:timers/promises"
import { parseArgs } from "node:util"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { startPolyplane } from "../test/harness/polyplane.ts"
import { atLeastOfCompared, atMost, quantile, report } from "./report.ts"
import { heldBy, slope, type Held } from "./resources.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "60" }, tenants: { type: "string", default: "50" } },
})
const minutes = Number(values.minutes)
const tenants = Number(values.tenants)
if (!(minutes > 0) || !Number.isInteger(tenants) || tenants < 1)
  throw new Error("usage: node bench/soak.ts [--minutes MINUTES] [--tenants COUNT]")

const fullLoadMs = 10_000
const sampleMs = Math.min(10_000, (minutes * 60_000) / 30)
/** Precedes the requested time: at this load heap, arenas and histories have reached their size after 25 minutes. */
const warmUpMinutes = Math.min(25, minutes)
/** Time for outstanding events at the end. */
const drainMs = 20_000
/** Requests per turn: create, get, patch, list, get, delete. */
const writesPerTurn = 3
const requestsPerTurn = 6

class Tenant {
  readonly #client: Client
  readonly #stop = new AbortController()
  #watching: Promise<void> = Promise.resolve()
  #turn = 0
  writes = 0
  events = 0
  readonly failures: string[] = []

  constructor(client: Client) {
    this.#client = client
  }

  async follow(): Promise<void> {
    const { metadata } = await this.#client.list(configMaps, { namespace: "default" })
    this.#watching = this.#watch(metadata.resourceVersion ?? "").catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.failures.push(String(error))
    })
  }

  /** Servers end watches from time to time: clients resume from their last version. */
  async #watch(from: string): Promise<void> {
    const { signal } = this.#stop
    for (let resourceVersion = from; !signal.aborted;) {
      const options = { namespace: "default", resourceVersion, signal }
      for await (const { object } of this.#client.watch<ConfigMap>(configMaps, options)) {
        this.events++
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion
      }
    }
  }

  async take(): Promise<void> {
    const name = `c${this.#turn++}`
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data: { a: "b" } }
    try {
      await this.#client.create<ConfigMap>(configMaps, object)
      await this.#client.get(configMaps, "default", name)
      await this.#client.patch(configMaps, "default", name, { data: { a: "c" } }, { type: "merge" })
      await this.#client.list(configMaps, { namespace: "default" })
      await this.#client.get(configMaps, "default", name)
      await this.#client.delete(configMaps, "default", name)
      this.writes += writesPerTurn
    } catch (error) {
      this.failures.push(String(error))
    }
  }

  async end(): Promise<void> {
    const until = performance.now() + drainMs
    while (this.events < this.writes && performance.now() < until) await delay(20)
    this.#stop.abort()
    await this.#watching
    await this.#client[Symbol.asyncDispose]()
  }
}

/** Runs turns in all tenants; with `everyMs` 0 as fast as possible. Returns the milliseconds of each. */
async function load(all: readonly Tenant[], forMs: number, everyMs: number): Promise<number[]> {
  const began = performance.now()
  const times: number[] = []
  const worker = async (tenant: Tenant, index: number): Promise<void> => {
    let due = began + (everyMs * index) / all.length
    while (performance.now() - began < forMs) {
      if (everyMs > 0) await delay(Math.max(0, due - performance.now()))
      const begin = performance.now()
      await tenant.take()
      times.push(performance.now() - begin)
      due = Math.max(due + everyMs, performance.now() - everyMs)
    }
  }
  await Promise.all(all.map(worker))
  return times
}

await using up = await startPolyplane({ args: ["--tenants", ""] })
await using stack = new AsyncDisposableStack()
const admin = stack.use(await adminClient(up))
const maker = stack.use(await TenantMaker.start(admin))
const all: Tenant[] = []
for (let index = 0; index < tenants; index++) all.push(new Tenant(await maker.make(`t${index}`)))
for (const tenant of all) await tenant.follow()

const fullTurns = (await load(all, fullLoadMs, 0)).length
/** Interval of each tenant. */
const everyMs = (2 * fullLoadMs * tenants) / fullTurns
const forMs = (warmUpMinutes + minutes) * 60_000
const held: { x: number; y: number; held: Held }[] = []
const began = performance.now()
const sampling = (async () => {
  while (performance.now() - began < forMs) {
    await delay(sampleMs)
    const now = await heldBy(up)
    const hours = (performance.now() - began) / 3_600_000
    held.push({ x: hours, y: now.memoryMiB, held: now })
    process.stderr.write(
      `${(60 * hours).toFixed(1)} min: ${now.memoryMiB.toFixed(0)} MiB, ${now.anonymousMiB.toFixed(0)} without files\n`,
    )
  }
})()
const times = await load(all, forMs, everyMs)
await sampling
await Promise.all(all.map((tenant) => tenant.end()))

const steady = held.filter(({ x }) => x * 60 >= warmUpMinutes)
const memory = quantile(
  steady.map(({ y }) => y),
  0.5,
)
/** In percent of that memory per hour. */
const growth = (of: (held: Held) => number): number =>
  (100 * slope(steady.map(({ x, held: now }) => ({ x, y: of(now) })))) / memory
const failures = all.flatMap((tenant) => tenant.failures)
for (const failure of failures.slice(0, 5)) process.stderr.write(`${failure}\n`)
const sum = (of: (tenant: Tenant) => number): number => all.reduce((total, tenant) => total + of(tenant), 0)
const first = steady[0]?.held
const last = steady.at(-1)?.held

await report("soak", { minutes, tenants }, [
  {
    what: "requests per second",
    value: (requestsPerTurn * times.length * 1000) / forMs,
    unit: "1/s",
    compared: { with: "at full load", value: (requestsPerTurn * fullTurns * 1000) / fullLoadMs },
  },
  { what: "errors", value: failures.length, unit: "", goal: atMost(0) },
  {
    what: "events seen by watches",
    value: sum(({ events }) => events),
    unit: "",
    goal: atLeastOfCompared(1),
    compared: { with: "writes", value: sum(({ writes }) => writes) },
  },
  { what: "memory of the process, after warm-up", value: memory, unit: "MiB" },
  {
    what: "growth of memory after warm-up",
    value: growth(({ memoryMiB }) => memoryMiB),
    unit: "%/h",
    goal: atMost(1),
    obstacle:
      "the tables of 50 LevelDBs are mapped, 100 to 260 files at a time, and count as far as the kernel keeps them; the next row is without",
  },
  { what: "growth without pages of files", value: growth(({ anonymousMiB }) => anonymousMiB), unit: "%/h" },
  {
    what: "file descriptors at the end",
    value: last?.descriptors ?? Number.NaN,
    unit: "",
    compared: { with: "after warm-up", value: first?.descriptors ?? Number.NaN },
  },
  { what: "a turn of six requests, p50", value: quantile(times, 0.5), unit: "ms" },
  { what: "a turn of six requests, p99", value: quantile(times, 0.99), unit: "ms" },
])
