// What a process holds of requests that it forwards to the owner of their tenant.

import { once } from "node:events"
import { request as httpRequest, type IncomingMessage, type InformationEvent } from "node:http"
import { connect, type Socket } from "node:net"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test, vi } from "vitest"
import { readChunks, tinyChunks } from "../../client/testing/small-pieces.ts"
import type { RequestState } from "../filters/state.ts"
import { maxAnswerHeaderBytes } from "../proxy/forward.ts"
import { Arrivals } from "../request/arrivals.ts"
import { Routes } from "./routes.ts"
import { startForwarder } from "./testing/start-forwarder.ts"

function get(port: number, path: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  httpRequest({ host: "127.0.0.1", port, path, agent: false }, (response) => resolve(response.resume()))
    .on("error", reject)
    .end()
  return promise
}

test("requests that the owner has not answered are limited per tenant, to as many as it would accept", async () => {
  const waiting: (() => void)[] = []
  const { port } = await startForwarder((_request, response) => void waiting.push(() => response.end("answered")))
  const first = Array.from({ length: 3 }, () => get(port, "/tenants/a/api"))
  await expect.poll(() => waiting.length).toBe(3)
  const beyond = await get(port, "/tenants/a/api")
  expect([beyond.statusCode, beyond.headers["retry-after"]]).toEqual([429, "1"])
  const other = get(port, "/tenants/b/api")
  await expect.poll(() => waiting.length).toBe(4)
  for (const answer of waiting.splice(0)) answer()
  expect((await Promise.all([...first, other])).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  const next = get(port, "/tenants/a/api")
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.()
  expect((await next).statusCode).toBe(200)
})

test("what the owner says after the body is passed on", async () => {
  const { port } = await startForwarder((_request, response) => {
    response.writeHead(200, { trailer: "x-sum" }).write("body")
    response.addTrailers({ "x-sum": "1", "x-other": "2" })
    response.end()
  })
  const answer = await get(port, "/tenants/a/api")
  await expect.poll(() => answer.readableEnded).toBe(true)
  expect([answer.headers.trailer, answer.trailers]).toEqual(["x-sum", { "x-sum": "1", "x-other": "2" }])
  const old = await ask(port, "/tenants/a/api HTTP/1.0\r\nx: ")
  expect(await text(old)).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nbody$/)
})

test("what the owner says before its answer is passed on", async () => {
  const { port } = await startForwarder((_request, response) => {
    response.writeInformation(103, { link: "</a>; rel=preload" })
    response.end("body")
  })
  const asking = httpRequest({ host: "127.0.0.1", port, path: "/tenants/a/api", agent: false }).end()
  const [[hints], [answer]] = (await Promise.all([once(asking, "information"), once(asking, "response")])) as [
    [InformationEvent],
    [IncomingMessage],
  ]
  expect([hints.statusCode, hints.headers]).toEqual([103, { link: "</a>; rel=preload" }])
  expect(await text(answer)).toBe("body")
})

test("the owner may answer a head whose body has not come", async () => {
  const { port } = await startForwarder((request, response) => {
    response.flushHeaders()
    request.pipe(response)
  })
  const path = "/tenants/a/api/v1/namespaces/default/pods/p/proxy"
  const asking = httpRequest({ host: "127.0.0.1", port, path, method: "POST", agent: false })
  asking.flushHeaders()
  const [answer] = (await once(asking, "response")) as [IncomingMessage]
  asking.end("body")
  expect(await text(answer)).toBe("body")
})

test("it is known of a stream from another process for how long its tenant exists", async () => {
  const [routes, active] = [new Routes(0), new Arrivals<RequestState>()]
  const { port } = await startForwarder(() => undefined, { routes, active })
  await ask(port, "/tenants/a/api/v1/namespaces/default/pods/p/log")
  await expect.poll(() => active.values.length).toBe(1)
  const isThere = (): boolean | undefined => active.values[0]?.tenantElsewhere?.exists
  expect(isThere()).toBe(true)
  routes.set([{ name: "a", uid: "uid-a", issuer: "issuer-a" }])
  expect(isThere()).toBe(true)
  routes.set([{ name: "a", uid: "uid-another", issuer: "issuer-another", owner: 1 }])
  expect(isThere()).toBe(false)
  routes.delete("a")
  expect(isThere()).toBe(false)
})

test("a request that is ended while it waits for an owner looks for it no more", async () => {
  const [routes, active] = [new Routes(0), new Arrivals<RequestState>()]
  const { port } = await startForwarder(() => undefined, { routes, active })
  routes.set([{ name: "a", uid: "uid-a", issuer: "issuer-a" }])
  const looks = vi.spyOn(routes, "ownerOf")
  const answer = get(port, "/tenants/a/api/v1/namespaces/default/pods/p/log")
  await expect.poll(() => looks.mock.calls.length).toBe(2)
  active.values[0]?.abort(new Error("over"))
  expect((await answer).statusCode).toBe(503)
  expect(looks.mock.calls.length).toBeLessThan(5)
})

test("the owner's answer may have the headers that it takes of a server", async () => {
  const long = "x".repeat(maxAnswerHeaderBytes)
  const { port } = await startForwarder((_request, response) => void response.setHeader("x-long", long).end("body"))
  const socket = await ask(port, "/tenants/a/api HTTP/1.0\r\nx: ")
  expect((await text(socket)).includes(long)).toBe(true)
})

test("places of clients that have left are free again", async () => {
  let [come, gone] = [0, 0]
  const { port } = await startForwarder((request) => {
    come++
    request.socket.once("close", () => gone++)
  })
  for (const all of [3, 6, 9]) {
    const sockets = await Promise.all(Array.from({ length: 3 }, () => ask(port, "/tenants/a/api")))
    await expect.poll(() => come).toBe(all)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => gone).toBe(all)
  }
})

test("a body that the owner does not take is received, and nothing is left of the request", async () => {
  const taken = new Set<Socket>()
  const { port } = await startForwarder((request, response) => {
    const { socket, method } = request
    taken.add(socket)
    socket.once("close", () => taken.delete(socket))
    if (method === "POST") request.once("data", () => request.pause())
    response.once("close", () => request.resume())
    response.end("enough")
  })
  const socket = connect(port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  const bytes = 20 * 1024 * 1024
  socket.write(`POST /tenants/a/api HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`)
  socket.write(Buffer.alloc(bytes))
  socket.write("GET /tenants/a/api HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
  expect((await text(socket)).match(/enough/g)?.length).toBe(2)
  // That of the second request is kept.
  await expect.poll(() => taken.size).toBe(1)
})

async function ask(port: number, path: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => undefined) // it is closed by the server
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  return socket
}

test("watches whose clients read nothing hold no more together than the limit", async () => {
  let [open, begun] = [0, 0]
  const { port } = await startForwarder((_request, response) => {
    open++
    begun++
    const source = new Readable({ read: () => void source.push(Buffer.alloc(32 * 1024, "x")) })
    response.once("close", () => {
      open--
      source.destroy()
    })
    source.pipe(response)
  })
  const sockets = await Promise.all(Array.from({ length: 30 }, () => ask(port, "/tenants/a/api/v1/pods?watch=true")))
  await expect.poll(() => begun).toBe(sockets.length)
  await expect.poll(() => open).toBeLessThanOrEqual(16)
  expect(open).toBeGreaterThan(4)
})

test("an answer of the owner in chunks of a byte is passed on in larger ones", async () => {
  const { port } = await startForwarder((_request, response) => void response.socket?.end(tinyChunks(20_000)))
  const socket = await ask(port, "/tenants/a/api HTTP/1.1\r\nconnection: close\r\nx: ")
  const { chunks, body } = readChunks(await text(socket))
  expect(body.length).toBe(20_000)
  expect(chunks).toBeLessThan(1000)
})
