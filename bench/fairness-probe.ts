// Loaded into the gateway by fairness.ts (NODE_OPTIONS=--import): how long the quiet tenant's requests are in the gateway,
// from their heads having been read to their answers having been handed to the system, and how much of that the gateway's
// only thread of JavaScript was at work, for whomever. The second does not depend on what else the machine does. A line on
// standard error for each; on SIGUSR2, one about the turns of the event loop: who comes at any time waits for the work of one.

import { channel } from "node:diagnostics_channel"
import type { IncomingMessage } from "node:http"
import { probed, type Answered, type TurnsOfLoop } from "./fairness-probed.ts"
import { quantile } from "./report.ts"

interface Begun {
  at: number
  worked: number
}

const begun = new WeakMap<IncomingMessage, Begun>()

/** Milliseconds this thread has been on a processor. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

channel("http.server.request.start").subscribe((message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url?.endsWith(probed.path) === true) begun.set(request, { at: performance.now(), worked: worked() })
})

channel("http.server.response.finish").subscribe((message) => {
  const { request } = message as { request: IncomingMessage }
  const from = begun.get(request)
  if (from === undefined) return
  const line: Answered = {
    method: request.method ?? "",
    ms: performance.now() - from.at,
    workedMs: worked() - from.worked,
  }
  process.stderr.write(`${probed.line}${JSON.stringify(line)}\n`)
})

// A timer of a millisecond fires once in each turn that is as long: between two of them lies the work of one.
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
