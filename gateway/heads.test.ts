// What comes before the body of a request: how many headers, which may not be twice, and what is said to who waits for a word
// before the body is sent.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import { connect, type OutgoingHttpHeaders } from "node:http2"
import { afterAll, beforeAll, expect, test } from "vitest"
import { startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

let fixture: TestGateway
let tenant: TestTenant
beforeAll(async () => {
  fixture = await startTestGateway({ http2: true })
  tenant = await fixture.createTenant("a")
})
afterAll(() => fixture[Symbol.asyncDispose]())

const reviews = "/tenants/a/apis/authentication.k8s.io/v1/selfsubjectreviews"
const review = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" })
const json = { "content-type": "application/json" }

interface Answer {
  code: number | undefined
  text: string
  continued: boolean
}

async function ask(options: RequestOptions, body = "", of = { fixture, tenant }): Promise<Answer> {
  const { hostname, port } = new URL(of.fixture.url)
  const { certificate: cert, key } = of.tenant
  const credential = { ca: of.fixture.gateway.certificateAuthority, cert, key }
  const request = httpsRequest({ host: hostname, port, agent: false, ...credential, ...options })
  let continued = false
  request.on("continue", () => (continued = true))
  request.end(body)
  const [response] = (await once(request, "response")) as [IncomingMessage]
  let text = ""
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk)
  return { code: response.statusCode, text, continued }
}

function groupsIn(text: string): string[] {
  return (JSON.parse(text) as { status: { userInfo: { groups: string[] } } }).status.userInfo.groups
}

test("a request may have as many impersonation groups as fit into the header limit", async () => {
  const groups = Array.from({ length: 2100 }, (_, index) => `${index}`)
  const headers = { ...json, "impersonate-user": "u", "impersonate-group": groups }
  const { text } = await ask({ method: "POST", path: reviews, headers }, review)
  expect(groupsIn(text)).toEqual([...groups, "system:authenticated"])
})

test("a request over HTTP/2 may also have many groups, although each header takes more space", async () => {
  const groups = Array.from({ length: 500 }, (_, index) => `${index}`)
  const session = connect(fixture.url, {
    ca: fixture.gateway.certificateAuthority,
    cert: tenant.certificate,
    key: tenant.key,
    peerMaxConcurrentStreams: 1,
  })
  const headers: OutgoingHttpHeaders = { ...json, "impersonate-user": "u", "impersonate-group": groups }
  const stream = session.request({ ":method": "POST", ":path": reviews, ...headers })
  stream.end(review)
  let text = ""
  for await (const chunk of stream.setEncoding("utf8")) text += String(chunk)
  session.close()
  expect(groupsIn(text)).toEqual([...groups, "system:authenticated"])
})

test("requests with two hosts are rejected", async () => {
  const { code, text } = await ask({ path: "/tenants/a/version", headers: ["Host", "a", "host", "b"] })
  expect([code, text]).toEqual([400, "400 Bad Request"])
})

test.each(["a b", "a/b", "a@b", 'a"b', "a<b", "ü"])("the malformed host %s is rejected in plain text", async (host) => {
  const { code, text } = await ask({ path: "/tenants/a/version", headers: ["Host", host] })
  expect([code, text]).toEqual([400, "400 Bad Request: malformed Host header"])
})

test("the path * is that of the server with OPTIONS, and any other path otherwise", async () => {
  expect(await ask({ method: "OPTIONS", path: "*" })).toMatchObject({ code: 200, text: "" })
  expect(await ask({ path: "*" })).toMatchObject({ code: 404, text: "404 page not found\n" })
})

test("a target may be a URL, as proxies are asked", async () => {
  const path = "http://user:word@other.example:80/tenants/a/version?a"
  expect(await ask({ path })).toMatchObject({ code: 200 })
  expect(await ask({ path: "http://other.example" })).toMatchObject({ code: 404 })
  expect(await ask({ path: "http://a%41/tenants/a/version" })).toMatchObject({ code: 400 })
})

test.each(["%", "%4", "%zz"])("the path /%s is rejected in plain text, and the connection ends", async (name) => {
  const { code, text } = await ask({ path: `/tenants/a/${name}` })
  expect([code, text]).toEqual([400, "400 Bad Request"])
})

test("an expectation that is empty is none, and others are not met", async () => {
  const headers = { ...json, "content-length": review.length }
  expect(await ask({ method: "POST", path: reviews, headers: { ...headers, expect: "" } }, review)).toMatchObject({
    code: 201,
  })
  expect(await ask({ method: "POST", path: reviews, headers: { ...headers, expect: "x" } }, review)).toMatchObject({
    code: 417,
  })
})

test("bodies in other codings than chunks are rejected", async () => {
  const headers = { ...json, "transfer-encoding": "gzip, chunked" }
  const { code, text } = await ask({ method: "POST", path: reviews, headers }, review)
  expect([code, text]).toEqual([501, "Unsupported transfer encoding"])
})

test("a target that is no path is rejected in plain text", async () => {
  expect(await ask({ path: "**" })).toMatchObject({ code: 400, text: "400 Bad Request" })
})

test("Expect: 100-continue is answered if there is a body", async () => {
  const expecting = { ...json, expect: "100-continue" }
  const sent = await ask(
    { method: "POST", path: reviews, headers: { ...expecting, "content-length": review.length } },
    review,
  )
  expect(sent).toMatchObject({ code: 201, continued: true })
  expect(await ask({ path: "/tenants/a/version", headers: expecting })).toMatchObject({ code: 200, continued: false })
})

test.each([true, false])(
  "a request with a body that could be upgraded is answered like any other (HTTP/2: %s)",
  async (http2) => {
    await using own = http2 ? undefined : await startTestGateway({ http2 })
    const of = own === undefined ? { fixture, tenant } : { fixture: own, tenant: await own.createTenant("a") }
    const upgrade = { connection: "Upgrade", upgrade: "h2c" }
    for (const framing of [{ "content-length": review.length }, { "transfer-encoding": "chunked" }]) {
      const { code } = await ask(
        { method: "POST", path: reviews, headers: { ...json, ...upgrade, ...framing } },
        review,
        of,
      )
      expect(code).toBe(201)
    }
  },
)
