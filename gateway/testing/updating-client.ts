// A client in a separate thread: it may send its next request before the server's thread has finished sending the response.

import { once } from "node:events"
import { Agent, request, type RequestOptions } from "node:https"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { parentPort, workerData } from "node:worker_threads"

/** The data of the thread. */
export interface Updating {
  /** Options for the server, with the client's certificate. */
  connection: RequestOptions
  /** The paths of existing objects, one for each connection. */
  paths: readonly string[]
  /** The JSON bodies of the updates. */
  bodies: readonly string[]
  updates: number
}

/** Resolves with the errors and unexpected codes. */
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
