// The effect of a greedy tenant on another: the durations of the other tenant's requests alone, and while the greedy one does one
// thing as much as it can (fairness-kinds.ts), and the delay of the gateway's event loop. For comparison, the same with the
// greedy tenant in a separate gateway: the effect of shared processors and disk, which no gateway could avoid.
//   node bench/fairness.ts [seconds of each, 15] [watches of the greedy one, 1000] [its requests at the same time, 32] [kind]
//
// Measured twice: by the quiet tenant's client (this process, which does nothing else), and in the gateway (fairness-probe.ts),
// where the clients' share of the processors does not count. The greedy tenant's client is a third process with lower priority,
// since with few processors it would otherwise be measured as well.

import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import { type Polyplane, startPolyplane } from "../test/harness/polyplane.ts"
import { collect, start } from "../test/harness/processes.ts"
import { allLoadKinds, type LoadKind } from "./fairness-kinds.ts"
import { type Answered, probed, type TurnsOfLoop } from "./fairness-probed.ts"
import { progress } from "./progress.ts"
import { argument, atMost, atMostOfCompared, type Goal, type Line, quantile, report } from "./report.ts"
import { adminClient, type Client, TenantMaker } from "./tenant-clients.ts"

const seconds = argument(0, 15)
const watches = argument(1, 1000)
const requests = argument(2, 32)
const kinds = allLoadKinds.filter((kind) => process.argv[5] === undefined || process.argv[5] === kind)
/** Interval between two measured requests, long enough to cause no load. */
const everyMs = 20
/** Time until the effects of starting the load have passed. */
const settlingMs = 2000

const configMap: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name: "mine" },
  data: {},
}

interface Measured {
  /** Durations of the client's requests in milliseconds. */
  get: number[]
  patch: number[]
  /** Durations of the same requests within the gateway. */
  answered: Answered[]
  loopDelayMs: number
  turns: TurnsOfLoop
}

async function measure(up: Polyplane, client: Client): Promise<Measured> {
  const times: Record<"get" | "patch", number[]> = { get: [], patch: [] }
  await loopDelayMs(up)
  await turnsOf(up)
  const { length } = up.stderr
  const end = performance.now() + seconds * 1000
  for (let round = 0; performance.now() < end; round++) {
    const begin = performance.now()
    if (round % 2 === 0) await client.get(configMaps, "default", "mine")
    else await client.patch(configMaps, "default", "mine", { data: { round: String(round) } }, { type: "merge" })
    times[round % 2 === 0 ? "get" : "patch"].push(performance.now() - begin)
    await delay(everyMs)
  }
  const turns = await turnsOf(up)
  const lines = up.stderr.slice(length).split("\n")
  const answered = lines
    .filter((line) => line.startsWith(probed.line))
    .map((line) => JSON.parse(line.slice(probed.line.length)) as Answered)
  return { ...times, answered, turns, loopDelayMs: await loopDelayMs(up) }
}

/** Since the last call. */
async function turnsOf(up: Polyplane): Promise<TurnsOfLoop> {
  const { length } = up.stderr
  process.kill(up.pid ?? 0, "SIGUSR2")
  for (;;) {
    const line = up.stderr
      .slice(length)
      .split("\n")
      .slice(0, -1)
      .find((each) => each.startsWith(probed.turnsLine))
    if (line !== undefined) return JSON.parse(line.slice(probed.turnsLine.length)) as TurnsOfLoop
    await delay(10)
  }
}

/** The p99 since the last call. */
async function loopDelayMs(up: Polyplane): Promise<number> {
  const metrics = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  const found = /^polyplane_event_loop_delay_seconds\{quantile="0.99"\} (\S+)$/m.exec(metrics)
  if (found?.[1] === undefined) throw new Error("the gateway has no metric of its event loop delay")
  return Number(found[1]) * 1000
}

/** `of`: the gateway with the greedy tenant. */
async function measureUnderLoad(up: Polyplane, client: Client, kind: LoadKind, of: Polyplane): Promise<Measured> {
  const file = new URL("fairness-load.ts", import.meta.url).pathname
  const args = [file, of.kubeconfig("greedy"), kind, String(watches), String(requests)]
  const greedy = start(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const said = collect(greedy.stdout)
  const ended = once(greedy, "close")
  const check = (): void => {
    if (greedy.exitCode !== null) throw new Error("the greedy tenant's process ended before it was stopped")
  }
  for (; !said().includes("loaded"); check()) await delay(100)
  await delay(settlingMs)
  const measured = await measure(up, client)
  check()
  greedy.kill("SIGTERM")
  await ended
  return measured
}

function linesOf(kind: LoadKind, measured: Measured, alone: Measured, apart: Measured): Line[] {
  const line = (what: string, goal: Goal | undefined, value: (of: Measured) => number): Line => ({
    what,
    value: value(measured),
    unit: "ms",
    ...(goal === undefined ? {} : { goal }),
    compared: { with: "alone", value: value(alone) },
  })
  const within = (of: Measured, verb: string, which: "ms" | "workedMs"): number[] =>
    of.answered.filter(({ method }) => method === verb.toUpperCase()).map((request) => request[which])
  const floor = (what: string, value: (of: Measured) => number): Line => ({
    what,
    value: value(apart),
    unit: "ms",
    compared: { with: "alone", value: value(alone) },
  })
  const goal = atMostOfCompared(2)
  return [
    ...(["get", "patch"] as const).flatMap((verb) => [
      line(`${verb} beside ${kind}, p50`, undefined, (of) => quantile(of[verb], 0.5)),
      line(`${verb} beside ${kind}, p99`, goal, (of) => quantile(of[verb], 0.99)),
      floor("  where that has a gateway of its own, p99", (of) => quantile(of[verb], 0.99)),
      line(`  in the gateway, p99`, goal, (of) => quantile(within(of, verb, "ms"), 0.99)),
      line(`  its thread at work then, p99`, goal, (of) => quantile(within(of, verb, "workedMs"), 0.99)),
    ]),
    line(`delay of the event loop beside ${kind}, p99`, atMost(20), (of) => of.loopDelayMs),
    line(`  its thread at work in a turn, p99`, undefined, (of) => of.turns.p99),
    line(`  in the longest turn`, undefined, (of) => of.turns.longest),
  ]
}

const probe = new URL("fairness-probe.ts", import.meta.url).href
await using up = await startPolyplane({
  args: ["--tenants", "greedy"],
  env: { NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${probe}` },
})
await using other = await startPolyplane({ args: ["--tenants", "greedy"] })
await using admin = await adminClient(up)
await using maker = await TenantMaker.start(admin)
await using client = await maker.make("quiet")
await client.create(configMaps, configMap)
progress("alone")
await measure(up, client) // warm-up
const alone = await measure(up, client)
const lines: Line[] = []
for (const kind of kinds) {
  progress(`beside ${kind}`)
  const apart = await measureUnderLoad(up, client, kind, other)
  lines.push(...linesOf(kind, await measureUnderLoad(up, client, kind, up), alone, apart))
}
await report("fairness", { seconds, watches, requests }, lines)
