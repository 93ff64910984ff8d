// Streams of another process, over HTTP/2, whose clients do not take them, or that do not take what their clients send.

import { once } from "node:events"
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2"
import type { RequestListener, Server } from "node:http"
import { connect as connectTo, type Socket } from "node:net"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { Sweeper } from "../connections/untaken.ts"
import type { RequestState } from "../filters/state.ts"
import { Arrivals } from "../request/arrivals.ts"
import { startForwarder } from "./testing/start-forwarder.ts"

const log = "/tenants/a/api/v1/namespaces/default/pods/p/log"

/** Its streams take heads only. */
async function takingNothing(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } })
  onTestFinished(() => session.destroy())
  await once(session, "localSettings")
  return session
}

async function begin(session: ClientHttp2Session, path: string): Promise<ClientHttp2Stream> {
  const stream = session.request({ ":path": path }).on("error", () => undefined)
  stream.pause()
  await once(stream, "response")
  return stream
}

/** One after the other: few may wait for the owner. */
async function beginMany(session: ClientHttp2Session, path: string, count: number): Promise<ClientHttp2Stream[]> {
  const streams: ClientHttp2Stream[] = []
  while (streams.length < count) streams.push(await begin(session, path))
  return streams
}

test("logs that their owner has finished, and whose end nobody takes, are limited", async () => {
  const active = new Arrivals<RequestState>()
  const { http2Port } = await startForwarder((_request, response) => response.end("x"), { active })
  const session = await takingNothing(http2Port)
  const streams = await beginMany(session, log, 90)
  await expect.poll(() => active.values.length).toBeLessThanOrEqual(64)
  const sweeper = new Sweeper(active)
  for (let sweeps = 0; sweeps < 10; sweeps++) sweeper.sweep()
  expect(active.values.length).toBeGreaterThan(60)
  // Those that had waited longest have ended.
  await expect.poll(() => streams.filter(({ closed }) => !closed).length).toBe(active.values.length)
  expect(streams.slice(-active.values.length).every(({ closed }) => !closed)).toBe(true)
})

test("refusals, which anybody may get, do not end the logs of a tenant", async () => {
  const { http2Port } = await startForwarder((request, response) => {
    response.writeHead(request.url?.endsWith("?refused") === true ? 401 : 200).end("x")
  })
  const session = await takingNothing(http2Port)
  const first = await begin(session, log)
  await beginMany(session, `${log}?refused`, 90)
  expect(first.closed).toBe(false)
})

test("a client that resets its stream leaves no connection to the owner behind", async () => {
  const bytes = 64 * 1024
  const active = new Arrivals<RequestState>()
  let written = 0
  const answer: RequestListener = (_request, response) => {
    response.once("close", () => written++)
    response.writeHead(200, { "content-length": bytes }).end(Buffer.alloc(bytes))
  }
  const { http2Port, owner } = await startForwarder(answer, { active })
  const session = await takingNothing(http2Port)
  for (const all of [1, 2, 3, 4, 5]) {
    const stream = await begin(session, log)
    await expect.poll(() => written).toBe(all)
    stream.close(constants.NGHTTP2_CANCEL)
    await expect.poll(() => active.values.length).toBe(0)
  }
  await expect.poll(() => connections(owner)).toBeLessThanOrEqual(1)
})

test("uploads that the owner does not take hold no more together than the limit", async () => {
  const { port } = await startForwarder((request, response) => {
    request.pause()
    response.flushHeaders()
  })
  const upload = Buffer.alloc(8 * 1024 * 1024)
  const sockets: Socket[] = []
  while (sockets.length < 40) {
    const socket = connectTo(port, "127.0.0.1").on("error", () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.write(`POST ${log.replace(/log$/, "proxy")} HTTP/1.1\r\nhost: a\r\ncontent-length: ${upload.length}\r\n\r\n`)
    socket.write(upload)
    await once(socket, "data")
    sockets.push(socket)
  }
  const left = (): number => sockets.filter(({ destroyed }) => !destroyed).length
  await expect.poll(left).toBeLessThanOrEqual(32)
  expect(left()).toBeGreaterThan(2)
})

function connections(server: Server): Promise<number> {
  return promisify((done: (error: Error | null, count: number) => void) => server.getConnections(done))()
}
