// Compares a tenant's API with kube-apiserver and etcd: the same client and the same requests, in alternating rounds. Both sync
// writes to disk, validate, and keep managedFields. The cost is the processor time of all server processes, per request. For
// create and get a third server shows which part of it is due to Node itself (bare-server.ts).
//   node bench/api.ts [rounds, 4] [requests per round, 1500]

import { loadavg } from "node:os"
import { setTimeout as delay } from "node:timers/promises"
import { TestKubernetes } from "../test/kubernetes/harness/test-kubernetes.ts"
import { BenchClient, type Server } from "./api-client.ts"
import { create, requests, type Row, rows, sizes, warmUpFactor } from "./api-rows.ts"
import { processorTime, residentMiB } from "./processor-time.ts"
import { startProgram } from "./programs.ts"
import { progress } from "./progress.ts"
import { argument, atMostOfCompared, type Line, quantile, report } from "./report.ts"

const rounds = argument(0, 4)
const connections = 4

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
