// What a program says before its answer and after its body, as through kube-apiserver.

import { once } from "node:events"
import { createServer, type IncomingMessage, type InformationEvent } from "node:http"
import { connect } from "node:http2"
import { request as httpsRequest } from "node:https"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { type ProxiedProgram, proxyPath, startProxiedProgram } from "../testing/proxied-program.ts"
import { askRaw } from "../testing/raw-request.ts"

let proxied: ProxiedProgram
/** What the program was told last of which its clients take. */
let told: unknown

beforeAll(async () => {
  const program = createServer(({ method, url, headers }, { socket }) => {
    told = headers.te
    if (url === "/unannounced") {
      socket?.end(
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "4", "body", "0", "X-Sum: 1", "", ""].join("\r\n"),
      )
      return
    }
    if (url === "/early") {
      const hints = [
        "HTTP/1.1 103 Early Hints",
        "Link: </a>",
        "Link: </b>",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
        "Connection: x",
        "Content-Length: 7",
        "",
        "",
      ]
      const others = [...hints.with(0, "HTTP/1.1 100 Continue"), ...hints.with(0, "HTTP/1.1 199 Other")]
      socket?.end([...others, ...hints, "HTTP/1.1 200 OK", "Content-Length: 4", "", "body"].join("\r\n"))
      return
    }
    if (url === "/many") {
      const many = `HTTP/1.1 103 Early Hints\r\nLink: <${"x".repeat(1000)}>\r\n\r\n`.repeat(1000)
      socket?.end(`${many}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody`)
      return
    }
    const head = ["HTTP/1.1 200 OK", "Trailer: X-Sum, content-length, X-None, X-Many", "Transfer-Encoding: chunked"]
    const body = ["4", "body", "0", "X-Sum: 1", "X-Many: a", "X-Many: b", ""]
    socket?.end([...head, "", ...(method === "HEAD" ? [] : body), ""].join("\r\n"))
  })
  proxied = await startProxiedProgram(program)
})

afterAll(() => proxied?.[Symbol.asyncDispose]())

const own = `${proxyPath}/`
const path = `/tenants/a${own}`
const credential = () => {
  const { certificate: cert, key } = proxied.tenant
  return { ca: proxied.gateway.gateway.certificateAuthority, cert, key }
}

test.each(["GET", "POST", "HEAD"])("%s over HTTP/1.1", async (method) => {
  const request = httpsRequest(`${proxied.gateway.url}${path}`, { ...credential(), method, agent: false }).end()
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
  const request = httpsRequest(`${proxied.gateway.url}${path}`, { ...credential(), headers, agent: false }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  await text(response)
  expect(told).toBe(expected)
})

test("over HTTP/2", async () => {
  const session = connect(proxied.gateway.url, credential())
  onTestFinished(() => session.destroy())
  const stream = session.request({ ":path": path })
  const trailers = once(stream, "trailers")
  const [headers] = (await once(stream, "response")) as [Record<string, string>]
  expect(headers["trailer"]).toBe("X-Sum, X-None, X-Many")
  expect(await text(stream)).toBe("body")
  expect((await trailers)[0]).toMatchObject({ "x-sum": "1", "x-many": "a, b" })
})

test("a client of HTTP/1.0 gets none", async () => {
  const socket = await askRaw(proxied.gateway, proxied.tenant, `${own} HTTP/1.0\r\nx: `)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).toMatch(/\r\n\r\nbody$/)
})

test("trailers of which it had said nothing", async () => {
  const request = httpsRequest(`${proxied.gateway.url}${path}unannounced`, { ...credential(), agent: false }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(await text(response)).toBe("body")
  expect([response.headers.trailer, response.trailers]).toEqual([undefined, { "x-sum": "1" }])
  const session = connect(proxied.gateway.url, credential())
  onTestFinished(() => session.destroy())
  const stream = session.request({ ":path": `${path}unannounced` })
  const trailers = once(stream, "trailers")
  expect(await text(stream)).toBe("body")
  expect((await trailers)[0]).toMatchObject({ "x-sum": "1" })
})

test("informational answers", async () => {
  const hints: unknown[] = []
  const request = httpsRequest(`${proxied.gateway.url}${path}early`, { ...credential(), agent: false }).end()
  request.on("information", ({ statusCode, headers }: InformationEvent) => hints.push([statusCode, headers]))
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(await text(response)).toBe("body")
  const session = connect(proxied.gateway.url, credential())
  onTestFinished(() => session.destroy())
  const stream = session.request({ ":path": `${path}early` })
  stream.on("headers", ({ ":status": code, ...headers }) =>
    hints.push([code, Object.fromEntries(Object.entries(headers))]),
  )
  expect(await text(stream)).toBe("body")
  const both = [199, 103].map((code) => [code, { link: "</a>, </b>", "set-cookie": ["a=1", "b=2"] }])
  expect(hints).toEqual([...both, ...both])
  const old = await askRaw(proxied.gateway, proxied.tenant, `${own}early HTTP/1.0\r\nx: `)
  expect(await text(old)).toMatch(/^HTTP\/1\.1 200 /)
})

test("few of very many informational answers", async () => {
  let hints = 0
  const request = httpsRequest(`${proxied.gateway.url}${path}many`, { ...credential(), agent: false }).end()
  request.on("information", () => hints++)
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(await text(response)).toBe("body")
  expect(hints).toBeGreaterThan(5)
  expect(hints).toBeLessThan(20)
})
