// Compares a tenant's API with kube-apiserver and etcd: the same client and the same requests, in alternating rounds. Both sync
// writes to disk, validate, and keep managedFields. The cost is the processor time of all server processes, per request. For
// create and get a third server shows which part of it is due to Node itself (bare-server.ts).
//   node bench/api.ts [rounds, 4] [requests per round, 1500]

import { loadavg } from "node:os"
import { setTimeout as delay } from "node:timers/promises"
import { TestKubernetes } from "../test/kubernetes/harness/test-kubernetes.ts"
import { BenchClient, type Call, type Server } from "./api-client.ts"
import { processorTime, residentMiB } from "./processor-time.ts"
import { startProgram } from "./programs.ts"
import { progress } from "./progress.ts"
import { argument, atMostOfCompared, type Line, quantile, report } from "./report.ts"

const rounds = argument(0, 4)
const requests = argument(1, 1500)
/** The first round, which is not counted, has this many times as many requests. */
const warmUpFactor = 2
const connections = 4
const watchers = 20
/** Number of objects of 1 KiB, in separate namespaces. */
const sizes = { small: 500, large: 4000 } as const
/** Objects of the large namespace that the label selects. */
const selected = 40

const text = "x".repeat(1000)
const collection = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

function configMap(namespace: string, name: string, index = 0): Record<string, unknown> {
  const labels = { index: String(index), part: index < selected ? "chosen" : "other" }
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data: { text } }
}

const create = (namespace: string, name: string, index?: number): Call => ({
  method: "POST",
  path: collection(namespace),
  body: JSON.stringify(configMap(namespace, name, index)),
})

/** Updates an object of the small collection, a different one each time. */
const touch = (round: number, index: number): Call => ({
  method: "PATCH",
  path: `${collection("small")}/c-${(round * 37 + index * 7) % sizes.small}`,
  contentType: "application/merge-patch+json",
  body: JSON.stringify({ data: { value: `${round}-${index}` } }),
})

interface Goals {
  cpu: number
  p99: number
  /** What prevents reaching these goals. */
  obstacle: string
}

interface Row {
  what: string
  /** Goals as shares of kube-apiserver's processor time and of its p99. */
  goal: Goals
  /** Also measured with the bare server. */
  isBare?: boolean
  /** Share of the requests per round. */
  share?: number
  prepare?: (client: BenchClient) => Promise<Disposable>
  call: (round: number, index: number) => Call
}

const write: Goals = {
  cpu: 1 / 5,
  p99: 1 / 3,
  obstacle:
    "a bare server on Node takes a fifth of kube-apiserver's time, and three fifths of its p99, for TLS, HTTP and a flushed write alone; of ours beyond it no part is more than a tenth: LevelDB's batch, managed fields, admission, validation, encoding, garbage",
}
const read: Goals = {
  cpu: 1 / 8,
  p99: 1 / 3,
  obstacle:
    "a bare server on Node takes a tenth to a seventh of kube-apiserver's time for the same answer: writev, TLS, parsing HTTP",
}
const list: Goals = { cpu: 1 / 4, p99: 1 / 3, obstacle: "compressing and writing, which are not JavaScript" }
const protobuf = "application/vnd.kubernetes.protobuf"
const own = (round: number, index: number): string => `own-${round}-${index}`
const path = (round: number, index: number): string => `${collection("work")}/${own(round, index)}`
/** More gets than creates: otherwise a round would end while earlier writes are still being compacted. */
const gets = 3
const made = (round: number, index: number): string =>
  path(round, index % (requests * (round === 0 ? warmUpFactor : 1)))
const changed = (round: number, index: number, value: string) => ({
  ...configMap("work", own(round, index), index),
  data: { text, value },
})

const rows: readonly Row[] = [
  { what: "create", goal: write, isBare: true, call: (round, index) => create("work", own(round, index), index) },
  {
    what: "get",
    goal: read,
    isBare: true,
    share: gets,
    call: (round, index) => ({ method: "GET", path: made(round, index) }),
  },
  {
    what: "get, protobuf",
    goal: read,
    share: gets,
    call: (round, index) => ({ method: "GET", path: made(round, index), accept: protobuf }),
  },
  {
    what: "update",
    goal: write,
    call: (round, index) => ({
      method: "PUT",
      path: path(round, index),
      body: JSON.stringify(changed(round, index, "updated")),
    }),
  },
  {
    what: "merge patch",
    goal: write,
    call: (round, index) => ({
      method: "PATCH",
      path: path(round, index),
      contentType: "application/merge-patch+json",
      body: JSON.stringify({ data: { value: "patched" } }),
    }),
  },
  {
    what: "apply",
    goal: write,
    call: (round, index) => ({
      method: "PATCH",
      path: `${path(round, index)}?fieldManager=bench-apply&force=true`,
      contentType: "application/apply-patch+yaml",
      body: JSON.stringify(changed(round, index, "applied")),
    }),
  },
  { what: "delete", goal: write, call: (round, index) => ({ method: "DELETE", path: path(round, index) }) },
  {
    what: `create under ${watchers} watchers`,
    goal: write,
    prepare: watched,
    call: (round, index) => create("watched", own(round, index), index),
  },
  {
    what: `list of ${sizes.small}`,
    goal: list,
    share: 0.1,
    call: () => ({ method: "GET", path: collection("small") }),
  },
  // Cached data of a list is useless after a change: every other request writes one of the objects.
  {
    what: `list of ${sizes.small} and a write to one of it, each half`,
    goal: list,
    share: 0.2,
    call: (round, index) => (index % 2 === 0 ? touch(round, index) : { method: "GET", path: collection("small") }),
  },
  {
    what: `list of ${sizes.small}, protobuf`,
    goal: list,
    share: 0.4,
    call: () => ({ method: "GET", path: collection("small"), accept: protobuf }),
  },
  {
    what: `list of ${sizes.large}`,
    goal: list,
    share: 0.04,
    call: () => ({ method: "GET", path: collection("large") }),
  },
  {
    what: `page of ${sizes.small} of ${sizes.large}`,
    goal: list,
    share: 0.1,
    call: () => ({ method: "GET", path: `${collection("large")}?limit=${sizes.small}` }),
  },
  {
    what: `${selected} of ${sizes.large} by label`,
    goal: list,
    share: 0.4,
    call: () => ({ method: "GET", path: `${collection("large")}?labelSelector=part=chosen` }),
  },
]

async function watched(client: BenchClient): Promise<Disposable> {
  const stack = new DisposableStack()
  // Watches start at the current version: existing objects are not part of the cost of a create.
  const resourceVersion = await client.resourceVersion(`${collection("watched")}?limit=1`)
  for (let index = 0; index < watchers; index++)
    stack.use(await client.watch(`${collection("watched")}?watch=1&resourceVersion=${resourceVersion}`))
  return stack
}

interface Measured {
  took: number[]
  microseconds: number
  seconds: number
}

/** Background work caused by a row (compaction, garbage collection) is part of its cost, not of the next row's. */
const idle = { everyMs: 50, microseconds: 2_500, atMostMs: 3_000 } as const

async function waitUntilIdle(server: Server): Promise<void> {
  const until = performance.now() + idle.atMostMs
  for (let before = await processorTime(server.pids); performance.now() < until;) {
    await delay(idle.everyMs)
    const now = await processorTime(server.pids)
    if (now - before < idle.microseconds) return
    before = now
  }
}

async function measure(server: Server, client: BenchClient, row: Row, round: number, into: Measured): Promise<void> {
  using _prepared = await row.prepare?.(client)
  const count = Math.max(2, Math.round(requests * (row.share ?? 1) * (round === 0 ? warmUpFactor : 1)))
  const calls = Array.from({ length: count }, (_, index) => row.call(round, index))
  const before = await processorTime(server.pids)
  const begin = performance.now()
  into.took.push(...(await client.all(calls, connections)))
  into.seconds += (performance.now() - begin) / 1000
  await waitUntilIdle(server)
  into.microseconds += (await processorTime(server.pids)) - before
}

async function fill(client: BenchClient): Promise<void> {
  for (const namespace of ["work", "watched", ...Object.keys(sizes)])
    await client.call({
      method: "POST",
      path: "/api/v1/namespaces",
      body: JSON.stringify({ metadata: { name: namespace } }),
    })
  for (const [namespace, count] of Object.entries(sizes))
    await client.all(
      Array.from({ length: count }, (_, index) => create(namespace, `c-${index}`, index)),
      16,
    )
}

/** Starts a program of this folder, which prints the address of its server. */
async function startServer(stack: AsyncDisposableStack, name: string, program: string): Promise<Server> {
  const started = stack.use(await startProgram(program))
  const place = JSON.parse(await started.line()) as Omit<Server, "name" | "pids">
  return { name, ...place, pids: [started.pid] }
}

async function startKubernetes(stack: AsyncDisposableStack): Promise<Server> {
  const kubernetes = stack.use(await TestKubernetes.start({ durable: true }))
  const { server: url, certificateAuthority, token, pids } = kubernetes
  return { name: "kube-apiserver + etcd", url, certificateAuthority, token, pids }
}

await using stack = new AsyncDisposableStack()
progress("starting both servers, and filling them")
const tenant = await startServer(stack, "tenant", "api-gateway.ts")
const kubernetes = await startKubernetes(stack)
const bare = await startServer(stack, "a bare server on Node", "bare-server.ts")
const servers = [tenant, kubernetes, bare]
const clients = servers.map((server) => stack.use(new BenchClient(server)))
await Promise.all(clients.slice(0, 2).map(fill))

const measured = rows.map(() => servers.map((): Measured => ({ took: [], microseconds: 0, seconds: 0 })))
const warmUp = servers.map((): Measured => ({ took: [], microseconds: 0, seconds: 0 }))
for (let round = 0; round <= rounds; round++) {
  for (const [at, row] of rows.entries()) {
    progress(round === 0 ? "warming up" : `round ${round} of ${rounds}`, at, rows.length)
    // Round 0 is a warm-up: just-in-time compilation needs some thousand requests.
    const order = round % 2 === 0 ? [0, 1] : [1, 0]
    for (const which of row.isBare === true ? [...order, 2] : order) {
      const [server, client] = [servers[which], clients[which]]
      const into = (round === 0 ? warmUp : measured[at])?.[which]
      if (server !== undefined && client !== undefined && into !== undefined)
        await measure(server, client, row, round, into)
    }
  }
}

const lines: Line[] = []
for (const [at, { what, goal, isBare }] of rows.entries()) {
  const [ours, theirs, bareServer] = measured[at] ?? []
  if (ours === undefined || theirs === undefined || bareServer === undefined) continue
  const add = (part: string, unit: string, value: (of: Measured) => number, share?: number): void => {
    const compared = { with: kubernetes.name, value: value(theirs) }
    const wanted = share === undefined ? {} : { goal: atMostOfCompared(share), obstacle: goal.obstacle }
    lines.push({ what: `${what}: ${part}`, value: value(ours), unit, compared, ...wanted })
  }
  const cost = ({ microseconds, took }: Measured): number => microseconds / took.length
  add("processor time", "µs", cost, goal.cpu)
  const addBare = (part: string, unit: string, value: (of: Measured) => number): void => {
    if (isBare !== true) return
    const compared = { with: kubernetes.name, value: value(theirs) }
    lines.push({ what: `${what}: ${part} of ${bare.name}`, value: value(bareServer), unit, compared })
  }
  addBare("processor time", "µs", cost)
  const p99 = ({ took }: Measured): number => quantile(took, 0.99)
  add("p99", "ms", p99, goal.p99)
  addBare("p99", "ms", p99)
  add("p50", "ms", ({ took }) => quantile(took, 0.5))
  add("rate", "1/s", ({ took, seconds }) => took.length / seconds)
}
const [memory = 0, comparedMemory = 0] = await Promise.all([tenant, kubernetes].map(({ pids }) => residentMiB(pids)))
lines.push({
  what: "memory at the end",
  value: memory,
  unit: "MiB",
  compared: { with: kubernetes.name, value: comparedMemory },
})
// The load of the machine: on a busy one, only the ratios are meaningful.
await report("api", { rounds, requests, connections, load: loadavg()[0] }, lines)
