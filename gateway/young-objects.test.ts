// Objects that are created for a request die young (docs/decisions/0022-what-requests-make-dies-young.md).

import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { Agent, request } from "node:https"
import { buffer } from "node:stream/consumers"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Heap, Place } from "./testing/heap-program.ts"

/** Requests until their code has been compiled, since compiled code stays in memory. */
const warmUp = 2_000
const measured = 3_000
/** A full collection between two measurements hides the growth of the old generation. */
const mostTimes = 5

/** Each is read and written on a connection of its own. */
const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"]

interface Call {
  method: string
  path: string
  contentType?: string
  body?: string
}

let program: ChildProcess
let place: Place

beforeAll(async () => {
  // Optimized code allocates differently from unoptimized code, so the last compiler is disabled.
  const execArgv = ["--max-semi-space-size=32", "--no-turbofan"]
  program = fork(new URL("testing/heap-program.ts", import.meta.url), { execArgv })
  ;[place] = (await once(program, "message")) as [Place]
}, 60_000)
afterAll(async () => {
  const ended = once(program, "exit")
  program.disconnect()
  await ended
})

async function heap(): Promise<Heap> {
  program.send("heap")
  const [heap] = (await once(program, "message")) as [Heap]
  return heap
}

async function send(count: number, call: (path: string, index: number) => Call): Promise<void> {
  const { url, certificate: cert, key, certificateAuthority: ca } = place
  const agent = new Agent({ keepAlive: true, maxSockets: namespaces.length, ca, cert, key })
  let next = 0
  const work = async (namespace: string): Promise<void> => {
    while (next < count) {
      const { method, path, contentType = "application/json", body } = call(`/api/v1/namespaces/${namespace}`, next++)
      const sent = request(`${url}${path}`, { agent, method, headers: { "content-type": contentType } })
      sent.end(body)
      const [response] = (await once(sent, "response")) as [IncomingMessage]
      const answer = await buffer(response)
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${answer.toString()}`)
    }
  }
  await Promise.all(namespaces.map(work))
  agent.destroy()
}

/** Bytes that enter the old generation per request. */
async function agedBy(call: (path: string, index: number) => Call): Promise<number> {
  await send(warmUp, call)
  for (let time = 1; time <= mostTimes; time++) {
    const before = await heap()
    await send(measured, call)
    const after = await heap()
    if (after.collections === before.collections) return (after.old - before.old) / measured
  }
  throw new Error(`all objects were collected ${mostTimes} times in a row`)
}

test("no object of a get request is promoted to the old generation", { timeout: 120_000 }, async () => {
  // It was 4 KiB when there was a reference to the requests.
  expect(await agedBy((path) => ({ method: "GET", path }))).toBeLessThan(400)
})

test("of a write, only stored objects are promoted", { timeout: 120_000 }, async () => {
  const aged = await agedBy((path, index) => ({
    method: "PATCH",
    path,
    contentType: "application/merge-patch+json",
    body: JSON.stringify({ metadata: { annotations: { index: String(index) } } }),
  }))
  // The change in the recent history: its object before and after, and the data found in it.
  expect(aged).toBeLessThan(3_000)
})
