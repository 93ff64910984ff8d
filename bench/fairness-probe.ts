// Loaded into the gateway by fairness.ts (NODE_OPTIONS=--import). Measures how long the quiet tenant's requests are in the
// gateway, from reading their heads to handing their responses to the system, and how much of that time the gateway's only
// JavaScript thread was working, for any tenant. The latter does not depend on other load of the machine. Prints a line on
// standard error for each request, and on SIGUSR2 one about the turns of the event loop: any new request waits for the work of
// the current turn.

import { channel } from "node:diagnostics_channel"
import type { IncomingMessage } from "node:http"
import { probed, type Answered, type TurnsOfLoop } from "./fairness-probed.ts"
import { quantile } from "./report.ts"

interface RequestTimes {
  at: number
  worked: number
}

const requestTimes = new WeakMap<IncomingMessage, RequestTimes>()

/**
 * Processor time of this thread in milliseconds. While a thread runs, Linux updates its time only with the clock's ticks, every 4 ms,
 * and when it is asked for that of the whole process.
 */
function worked(): number {
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

channel("http.server.request.start").subscribe((message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url?.endsWith(probed.path) === true)
    requestTimes.set(request, { at: performance.now(), worked: worked() })
})

channel("http.server.response.finish").subscribe((message) => {
  const { request } = message as { request: IncomingMessage }
  const from = requestTimes.get(request)
  if (from === undefined) return
  const line: Answered = {
    method: request.method ?? "",
    ms: performance.now() - from.at,
    workedMs: worked() - from.worked,
  }
  process.stderr.write(`${probed.line}${JSON.stringify(line)}\n`)
})

// A timer of one millisecond fires once in each turn that takes at least as long, so the work between two calls is that of one
// turn.
let turns: number[] = []
let last = worked()
setInterval(() => {
  const now = worked()
  turns.push(now - last)
  last = now
}, 1).unref()

process.on("SIGUSR2", () => {
  const line: TurnsOfLoop = { p99: quantile(turns, 0.99), longest: Math.max(0, ...turns) }
  turns = []
  process.stderr.write(`${probed.turnsLine}${JSON.stringify(line)}\n`)
})
