// Many watches of many tenants: the delay from a write to its watchers, whether each receives every write exactly once, and the
// cost of a tenant that clients watch like client-go's informers. Compared with one tenant's watches alone. All clients are in
// this one process: the delay of its event loop shows how much of the measured delay it causes itself; the gateway's part is
// measured there (watch-gateway.ts).
//   node bench/watch.ts [watches, 5000] [tenants, 500] [writes per second, 500] [seconds, 20]

import { loadavg } from "node:os"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { BenchClient, type Server } from "./api-client.ts"
import { useTenant } from "./awake-tenants.ts"
import { flushTimes } from "./flushes.ts"
import { processorTime, residentMiB } from "./processor-time.ts"
import { startProgram } from "./programs.ts"
import { progress } from "./progress.ts"
import { argument, atLeast, atMost, type Goal, type Line, quantile, report } from "./report.ts"
import { CountingWatch, type Tally } from "./watch-client.ts"

const watches = argument(0, 5000)
const tenantCount = argument(1, 500)
const writesPerSecond = argument(2, 500)
const seconds = argument(3, 20)
/** The tenants whose memory is measured are used like by an informer-style client. */
/** They rest before the measurement, since an idle process collects its garbage by then. */
const awake = { objects: 100, watches: 20, restMs: 20_000 } as const
/** Number of active tenants, half of them for the warm-up. Fewer over HTTP/1.1, where each has 20 connections. */
const awakeTenants = { http2: 500, http1: 100 } as const
/** Warm-up for each of the tenants, not counted. */
const warmUpSeconds = 5
/** One tenant alone, with as many watches as each of the many has. */
const alone = { writesPerSecond: 20, seconds: 5 } as const
/** Number of connections opened concurrently. */
const opening = 16
/** Writes are started in intervals of this length. */
const stepMs = 10
/** Timeout for outstanding events at the end. */
const drainMs = 10_000

const collection = "/api/v1/namespaces/default/configmaps"
const object = (seq: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "counted", namespace: "default" },
  data: { seq: String(seq), text: "x".repeat(500) },
})

interface Running extends AsyncDisposable {
  pid: number
  /** Creates the tenants. */
  tenants(): Promise<Server[]>
  /** Milliseconds from reading a write to writing its events. */
  within(): Promise<{ p50: number; p99: number }>
}

async function startGateway(count: number, http2 = false): Promise<Running> {
  const gateway = await startProgram("watch-gateway.ts", [String(count), ...(http2 ? ["http2"] : [])])
  await gateway.line()
  const { pid } = gateway
  return {
    pid,
    async tenants() {
      gateway.send("go on")
      const servers: Server[] = []
      while (servers.length < count) {
        const place = JSON.parse(await gateway.line()) as Omit<Server, "name" | "pids">
        servers.push({ name: "tenant", pids: [pid], ...place })
      }
      return servers
    },
    async within() {
      gateway.signal("SIGUSR2")
      return JSON.parse(await gateway.line()) as { p50: number; p99: number }
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: opening }, async () => {
      for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value)
    }),
  )
}

/** A tenant with one sequential writer and its watches. */
class WatchedTenant implements Disposable {
  readonly #client: BenchClient
  readonly #server: Server
  readonly #watches: CountingWatch[] = []
  readonly #sentAt: number[] = []
  #writing: Promise<unknown> = Promise.resolve()
  readonly tally: Tally = { took: [], lost: 0, doubled: 0 }
  #warmedUp = 0

  constructor(server: Server) {
    this.#server = server
    this.#client = new BenchClient(server)
  }

  async open(count: number): Promise<void> {
    await this.#client.call({ method: "POST", path: collection, body: JSON.stringify(object(0)) })
    for (let index = 0; index < count; index++) {
      const sentAt = (seq: number): number | undefined => this.#sentAt[seq]
      this.#watches.push(await CountingWatch.open(this.#server, `${collection}?watch=1`, this.tally, sentAt))
    }
  }

  /** Writes are sequential, so that their order is that of their numbers. None starts after `until`. */
  write(until: number): Promise<unknown> {
    this.#writing = this.#writing.then(async () => {
      if (performance.now() > until) return
      const seq = Math.max(1, this.#sentAt.length)
      this.#sentAt[seq] = performance.now()
      await this.#client.call({ method: "PUT", path: `${collection}/counted`, body: JSON.stringify(object(seq)) })
    })
    return this.#writing
  }

  get #last(): number {
    return Math.max(0, this.#sentAt.length - 1)
  }

  /** Starts counting durations; lost and duplicate events are always counted. */
  begin(): void {
    this.tally.took.length = 0
    this.#warmedUp = this.#last
  }

  get written(): number {
    return this.#last - this.#warmedUp
  }

  get isDelivered(): boolean {
    return this.#watches.every((watch) => watch.seen === this.#last || watch.ended)
  }

  /** Counts events that are still missing at the end. */
  countMissing(): void {
    for (const { seen } of this.#watches) this.tally.lost += this.#last - seen
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch[Symbol.dispose]()
    this.#client[Symbol.dispose]()
  }
}

interface Measured extends Tally {
  microseconds: number
  writes: number
  /** Duration of the writes, without waiting for the last events. */
  seconds: number
  /** The p99 delay of the clients' event loop. */
  clientDelayMs: number
}

interface Delivered extends Measured {
  within: { p50: number; p99: number }
}

async function write(pid: number, tenants: readonly WatchedTenant[], rate: number, forMs: number): Promise<Measured> {
  const before = await processorTime([pid])
  const begin = performance.now()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const all: Promise<unknown>[] = []
  const total = Math.round((rate * forMs) / 1000)
  while (all.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begin) * rate) / 1000))
    for (; all.length < due;) {
      const tenant = tenants[all.length % tenants.length]
      if (tenant !== undefined) all.push(tenant.write(begin + forMs))
    }
    await sleep(stepMs)
  }
  await Promise.all(all)
  const took = (performance.now() - begin) / 1000
  const until = performance.now() + drainMs
  while (performance.now() < until && !tenants.every((tenant) => tenant.isDelivered)) await sleep(stepMs)
  const microseconds = (await processorTime([pid])) - before
  for (const tenant of tenants) tenant.countMissing()
  const sum = (value: (of: Tally) => number): number => tenants.reduce((so, { tally }) => so + value(tally), 0)
  return {
    took: tenants.flatMap(({ tally }) => tally.took),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    microseconds,
    writes: tenants.reduce((so, { written }) => so + written, 0),
    seconds: took,
    clientDelayMs: delay.percentile(99) / 1e6,
  }
}

/** Writes to `count` tenants with their watches. */
async function deliver(count: number, perTenant: number, rate: number, forSeconds: number): Promise<Delivered> {
  progress(`${count * perTenant} watches of ${count} tenants for ${warmUpSeconds + forSeconds} s`)
  await using gateway = await startGateway(count)
  using stack = new DisposableStack()
  const tenants = (await gateway.tenants()).map((server) => stack.use(new WatchedTenant(server)))
  await inParallel(tenants, (tenant) => tenant.open(perTenant))
  await write(gateway.pid, tenants, rate, warmUpSeconds * 1000)
  for (const tenant of tenants) tenant.begin()
  await gateway.within() // resets the statistics
  const measured = await write(gateway.pid, tenants, rate, forSeconds * 1000)
  return { ...measured, within: await gateway.within() }
}

/** MiB of gateway memory per additional active tenant; the first half of them is the warm-up. */
async function memoryOfAwake(http2: boolean): Promise<number> {
  const count = http2 ? awakeTenants.http2 : awakeTenants.http1
  progress(`${count} tenants in use, over HTTP/${http2 ? "2" : "1.1"}`)
  await using gateway = await startGateway(count, http2)
  using stack = new DisposableStack()
  const servers = await gateway.tenants()
  const use = (some: readonly Server[]): Promise<void> =>
    inParallel(some, (server) => useTenant(stack, server, awake, http2))
  const held = async (): Promise<number> => {
    await sleep(awake.restMs)
    return residentMiB([gateway.pid])
  }
  await use(servers.slice(0, count / 2))
  const before = await held()
  await use(servers.slice(count / 2))
  return ((await held()) - before) / (count / 2)
}

const one = await deliver(1, Math.ceil(watches / tenantCount), alone.writesPerSecond, alone.seconds)
const many = await deliver(tenantCount, Math.ceil(watches / tenantCount), writesPerSecond, seconds)
progress("the disk alone")
const disk = await flushTimes(tenantCount, writesPerSecond, Math.min(seconds, 10))
const memory = { http1: await memoryOfAwake(false), http2: await memoryOfAwake(true) }

const line = (what: string, unit: string, value: (of: Delivered) => number, goal?: Goal): Line => ({
  what,
  value: value(many),
  unit,
  compared: { with: "one tenant's alone", value: value(one) },
  ...(goal === undefined ? {} : { goal }),
})
await report("watch", { watches, tenants: tenantCount, writesPerSecond, seconds, load: loadavg()[0] }, [
  line("from a write's sending to an event: p50", "ms", ({ took }) => quantile(took, 0.5)),
  line("from a write's sending to an event: p99", "ms", ({ took }) => quantile(took, 0.99), atMost(100)),
  line("  of it in the gateway: p50", "ms", ({ within }) => within.p50),
  line("  of it in the gateway: p99", "ms", ({ within }) => within.p99, atMost(100)),
  { what: "  the disk alone, as many flushes: p99", value: quantile(disk, 0.99), unit: "ms" },
  line("  the clients' own event loop is late by: p99", "ms", ({ clientDelayMs }) => clientDelayMs),
  line("writes per second", "", ({ writes, seconds }) => writes / seconds, atLeast(0.99 * writesPerSecond)),
  line("events delivered", "", ({ took }) => took.length),
  line("events lost", "", ({ lost }) => lost, atMost(0)),
  line("events doubled", "", ({ doubled }) => doubled, atMost(0)),
  line("processor time per write and its events", "µs", ({ microseconds, writes }) => microseconds / writes),
  {
    what: `memory of a tenant with ${awake.objects} objects and ${awake.watches} watches, ${awakeTenants.http2} at once`,
    value: memory.http2,
    unit: "MiB",
    goal: atMost(1.5),
    compared: {
      with: `over HTTP/1.1, where each watch is a TLS connection of its own, ${awakeTenants.http1} at once`,
      value: memory.http1,
    },
  },
])
