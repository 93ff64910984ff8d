// Loaded into the gateway by fairness.ts (NODE_OPTIONS=--import): how long the quiet tenant's requests are in the gateway,
// from their heads having been read to their answers having been handed to the system, and how much of that the gateway's
// only thread of JavaScript was at work, for whomever. The second does not depend on what else the machine does. A line on
// standard error for each.

import { channel } from "node:diagnostics_channel"
import type { IncomingMessage } from "node:http"
import { probed, type Answered } from "./fairness-probed.ts"

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
