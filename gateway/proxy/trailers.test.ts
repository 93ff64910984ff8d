// What a program says after its body, if it has said before that it will, as through kube-apiserver.

import { once } from "node:events"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { connect } from "node:http2"
import { request as httpsRequest } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { NodeFixture } from "../testing/node-fixture.ts"
import { askRaw } from "../testing/raw-request.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"

let gateway: TestGateway
let tenant: TestTenant
let node: NodeFixture
let program: Server
/** What the program was told last of which its clients take. */
let told: unknown

beforeAll(async () => {
  node = await NodeFixture.start()
  gateway = await startTestGateway({ nodeDialer: () => node.dialer })
  tenant = await gateway.createTenant("a")
  program = createServer(({ method, headers }, { socket }) => {
    told = headers.te
    const head = ["HTTP/1.1 200 OK", "Trailer: X-Sum, content-length, X-None, X-Many", "Transfer-Encoding: chunked"]
    const body = ["4", "body", "0", "X-Sum: 1", "X-Many: a", "X-Many: b", ""]
    socket?.end([...head, "", ...(method === "HEAD" ? [] : body), ""].join("\r\n"))
  })
  await once(program.listen(0, "127.0.0.1"), "listening")
  const { port } = program.address() as AddressInfo
  await node.addPod(gateway.gateway.tenants.client("a"), "web", { 8080: port })
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await node?.[Symbol.asyncDispose]()
  program?.closeAllConnections()
  program?.close()
})

const own = "/api/v1/namespaces/default/pods/web:8080/proxy/"
const path = `/tenants/a${own}`
const credential = () => {
  const { certificate: cert, key } = tenant
  return { ca: gateway.gateway.certificateAuthority, cert, key }
}

test.each(["GET", "POST", "HEAD"])("%s over HTTP/1.1", async (method) => {
  const request = httpsRequest(`${gateway.gateway.url}${path}`, { ...credential(), method, agent: false }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  const isHead = method === "HEAD"
  expect(response.headers.trailer).toBe(isHead ? undefined : "X-Sum, X-None, X-Many")
  expect(await text(response)).toBe(isHead ? "" : "body")
  expect(response.trailers).toEqual(isHead ? {} : { "x-sum": "1", "x-many": "a, b" })
})

test.each([
  ["gzip, Trailers", "trailers"],
  ["gzip", undefined],
])("a client that takes %s: the program is told %s", async (te, expected) => {
  const headers = { te, connection: "te" }
  const request = httpsRequest(`${gateway.gateway.url}${path}`, { ...credential(), headers, agent: false }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  await text(response)
  expect(told).toBe(expected)
})

test("over HTTP/2", async () => {
  const session = connect(gateway.gateway.url, credential())
  onTestFinished(() => session.destroy())
  const stream = session.request({ ":path": path })
  const trailers = once(stream, "trailers")
  const [headers] = (await once(stream, "response")) as [Record<string, string>]
  expect(headers["trailer"]).toBe("X-Sum, X-None, X-Many")
  expect(await text(stream)).toBe("body")
  expect((await trailers)[0]).toMatchObject({ "x-sum": "1", "x-many": "a, b" })
})

test("a client of HTTP/1.0 gets none", async () => {
  const socket = await askRaw(gateway, tenant, `${own} HTTP/1.0\r\nx: `)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).toMatch(/\r\n\r\nbody$/)
})
