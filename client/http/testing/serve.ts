// A server that answers as a test says, and the client under test.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { expect } from "vitest"
import { StatusError } from "../../../apimachinery/status.ts"
import { createHttpClient } from "../client.ts"
import type { HttpClientConfig } from "../transport.ts"
import type { KubeClient } from "../../rest.ts"
import { nodes } from "../../resources.ts"

interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingMessage["headers"]
  body: string
}

interface Served extends AsyncDisposable {
  client: KubeClient
  requests: ReceivedRequest[]
}

export type Answer = (request: ReceivedRequest, response: ServerResponse) => void

export async function firstEvent(client: KubeClient): Promise<unknown> {
  const signal = new AbortController().signal
  for await (const event of client.watch(nodes, { resourceVersion: "1", signal })) return event
  return undefined
}

export async function serve(answer: Answer, config: Partial<HttpClientConfig> = {}): Promise<Served> {
  const asked: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      asked.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const client = createHttpClient({ server: `http://127.0.0.1:${port}/tenants/a`, ...config })
  return {
    client,
    requests: asked,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const send = (response: ServerResponse, code: number, body: unknown, headers = {}): void => {
  response.writeHead(code, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

export const failure = async (promise: Promise<unknown>): Promise<StatusError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StatusError)
  return error as StatusError
}
