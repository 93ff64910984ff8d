// A client in a thread of its own: its next request is under way before the server's thread knows that the answer has left.

import { once } from "node:events"
import { Agent, request, type RequestOptions } from "node:https"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { parentPort, workerData } from "node:worker_threads"

/** What the thread is started with. */
export interface Updating {
  /** Of the server, with the client's certificate. */
  connection: RequestOptions
  /** Of the objects, one for each connection; they are there. */
  paths: readonly string[]
  /** Of every update: JSON. */
  bodies: readonly string[]
  updates: number
}

/** Answers with what went wrong: codes, errors. */
async function update(): Promise<string[]> {
  const { connection, paths, bodies, updates } = workerData as Updating
  const agent = new Agent({ keepAlive: true, maxSockets: paths.length })
  const failures: string[] = []
  const put = async (path: string, body: string): Promise<void> => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const call = request({ ...connection, agent, method: "PUT", path, headers })
    call.end(body)
    const [response] = (await once(call, "response")) as [IncomingMessage]
    const answer = await text(response)
    if (response.statusCode !== 200) failures.push(answer)
  }
  const many = async (path: string, index: number): Promise<void> => {
    for (let count = 0; count < updates; count++) {
      await put(path, bodies[index] ?? "").catch((error: unknown) => failures.push(String(error)))
    }
  }
  await Promise.all(paths.map(many))
  agent.destroy()
  return failures
}

parentPort?.postMessage(await update())
