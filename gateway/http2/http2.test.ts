// The gateway over HTTP/2: the same responses as over HTTP/1.1, on the same port.

import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2"
import { once } from "node:events"
import { connect as connectTLS } from "node:tls"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { configMaps } from "../../client/resources.ts"
import { configMap, startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"

let fixture: TestGateway
let tenant: TestTenant
let session: ClientHttp2Session
/** What the audit log has of them. */
const audited: Record<string, unknown>[] = []

function open(credential: TestTenant | undefined): ClientHttp2Session {
  const { certificate, key } = credential ?? {}
  const opened = connect(fixture.url, {
    ca: fixture.gateway.certificateAuthority,
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
  opened.on("error", () => undefined)
  return opened
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }]
  let text = ""
  for await (const chunk of stream.setEncoding("utf8")) text += String(chunk)
  return { status: headers[":status"] ?? 0, headers, text }
}

function send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const stream = session.request({ ":method": method, ":path": path, ...headers })
  const answer = answerOf(stream)
  stream.end(body)
  return answer
}

test("administrators reach the admin API, and the gateway continues when they leave", async () => {
  const { administrator } = fixture
  const admin = open(administrator as TestTenant)
  const ask = (method: string, path: string, body?: string): Promise<Answer> => {
    const stream = admin.request({ ":method": method, ":path": `/polyplane/v1/${path}` })
    const answer = answerOf(stream)
    stream.end(body)
    return answer
  }
  const listed = await ask("GET", "tenants")
  expect(listed.status).toBe(200)
  expect((JSON.parse(listed.text) as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual(["a", "b"])
  expect(await ask("GET", "tenants/a/kubeconfig")).toMatchObject({
    status: 200,
    text: expect.stringContaining("/tenants/a"),
  })
  expect(await ask("POST", "tenants", "{")).toMatchObject({ status: 400 })
  expect(await ask("PUT", "tenants")).toMatchObject({ status: 405 })
  expect(await ask("GET", "watch")).toMatchObject({ status: 400 })
  const watch = admin.request({ ":path": "/polyplane/v1/tenants?watch=true" }).setEncoding("utf8")
  await once(watch, "data")
  admin.destroy()
  await once(admin, "close")
  expect((await send("GET", "/version")).status).toBe(200)
})

const objects = "/tenants/a/api/v1/namespaces/default/configmaps"
beforeAll(async () => {
  fixture = await startTestGateway({
    http2: true,
    domain: "tenants.test",
    limits: { maxStreams: 20, maxBodyBytes: 100_000 },
    audit: { ...silentLog, info: (fields) => void audited.push(fields as Record<string, unknown>) },
  })
  tenant = await fixture.createTenant("a")
  await fixture.createTenant("b")
  session = open(tenant)
})

afterAll(async () => {
  session?.destroy()
  await fixture?.[Symbol.asyncDispose]()
})

describe("over HTTP/2", () => {
  test("requests are answered as over HTTP/1.1", async () => {
    const json = { "content-type": "application/json" }
    const created = await send("POST", objects, JSON.stringify(configMap("one")), json)
    expect(created.status).toBe(201)
    expect(created.headers["content-type"]).toBe("application/json")
    expect(created.headers["audit-id"]).toBeTypeOf("string")
    const got = await send("GET", `${objects}/one`)
    expect(JSON.parse(got.text)).toEqual(JSON.parse((await fixture.request(`${objects}/one`, tenant)).text))
    expect((await send("GET", `${objects}/none`)).status).toBe(404)
    expect((await send("DELETE", `${objects}/one`)).status).toBe(200)
  })

  test.each(["/version", "/api", "/api/v1", "/apis/apps/v1"])("a method in lower case is none of %s", async (path) => {
    expect((await send("GET", `/tenants/a${path}`)).status).toBe(200)
    expect((await send("get", `/tenants/a${path}`)).status).toBe(405)
  })

  test("nothing is expected of a server", async () => {
    expect((await send("GET", "/tenants/a/version", undefined, { expect: "more" })).status).toBe(200)
  })

  test("a HEAD is answered", async () => {
    expect(await send("HEAD", "/tenants/a/livez/ping")).toMatchObject({ status: 200, text: "" })
    expect(await send("HEAD", `${objects}/none`)).toMatchObject({ status: 405, text: "" })
    expect(await send("HEAD", "/tenants/b/version")).toMatchObject({ status: 401, text: "" })
  })

  test("a body that is too large is rejected", async () => {
    const large = JSON.stringify(configMap("large", { text: "x".repeat(200_000) }))
    expect((await send("POST", objects, large, { "content-type": "application/json" })).status).toBe(413)
  })

  test("a client without credentials is anonymous, per connection", async () => {
    const anonymous = open(undefined)
    onTestFinished(() => anonymous.destroy())
    expect((await answerOf(anonymous.request({ ":path": objects }))).status).toBe(403) // system:anonymous
    expect((await send("GET", objects)).status).toBe(200)
  })

  test("a client that breaks its connection is in the audit log with its address", async () => {
    const leaving = open(tenant)
    const agent = "leaves-at-once"
    const watch = leaving.request({ ":path": `${objects}?watch=true`, "user-agent": agent })
    watch.on("error", () => undefined)
    await once(watch, "response")
    leaving.destroy()
    const entry = () => audited.find(({ userAgent }) => userAgent === agent)
    await expect.poll(entry).toMatchObject({ verb: "watch", sourceIP: "127.0.0.1", code: 200 })
    expect((await send("GET", "/version")).status).toBe(200)
  })

  test("the host can name the tenant", async () => {
    const { status } = await send("GET", "/api/v1/namespaces/default/configmaps", undefined, {
      ":authority": "a.tenants.test",
    })
    expect(status).toBe(200)
  })

  test("requests to another tenant get 401 whether it exists or not, and the connection stays open", async () => {
    const { text } = await send("GET", objects)
    for (const [path, authority] of [
      ["/tenants/b/api/v1/pods", undefined],
      ["/tenants/c/api/v1/pods", undefined],
      ["/api/v1/pods", "b.tenants.test"],
      ["/api/v1/pods", "c.tenants.test"],
      ["/tenants/a/api/v1/pods", "b.tenants.test"],
      ["/tenants/a/api/v1/pods", "c.tenants.test"],
    ] as const) {
      const refused = await send("GET", path, undefined, authority === undefined ? {} : { ":authority": authority })
      expect(refused.status, `${authority} ${path}`).toBe(401)
      expect(JSON.parse(refused.text)).toMatchObject({ message: "Unauthorized" })
    }
    expect(await send("GET", objects)).toMatchObject({ status: 200, text })
  })

  test("large lists arrive complete, and do not block other requests on the connection", async () => {
    const client = fixture.gateway.tenants.client("a")
    for (let index = 0; index < 60; index++)
      await client.create(configMaps, configMap(`large-${index}`, { text: "x".repeat(50_000) }))
    const slow = session.request({ ":path": objects })
    const [headers] = (await once(slow, "response")) as [IncomingHttpHeaders & { ":status"?: number }]
    expect(headers[":status"]).toBe(200)
    // Nobody reads it yet.
    expect((await send("GET", `${objects}/large-1`)).status).toBe(200)
    let text = ""
    for await (const chunk of slow.setEncoding("utf8")) text += String(chunk)
    expect((JSON.parse(text) as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(60)
  })

  test("many watches share a connection, and each gets the events", async () => {
    const streams = Array.from({ length: 10 }, () =>
      session.request({ ":path": `${objects}?watch=true&fieldSelector=metadata.name%3Dwatched` }),
    )
    await Promise.all(streams.map((stream) => once(stream, "response")))
    const lines = streams.map(async (stream) => {
      let text = ""
      for await (const chunk of stream.setEncoding("utf8")) {
        text += String(chunk)
        if (text.endsWith("\n")) break
      }
      return (JSON.parse(text) as { type: string }).type
    })
    await fixture.gateway.tenants.client("a").create(configMaps, configMap("watched"))
    expect(await Promise.all(lines)).toEqual(Array.from({ length: 10 }, () => "ADDED"))
    expect((await send("GET", `${objects}/watched`)).status).toBe(200)
  })

  test("a client that disconnects with open streams does not affect other connections", async () => {
    const leaving = open(tenant)
    const streams = Array.from({ length: 10 }, (_, index) => {
      const stream = leaving.request({ ":path": index % 2 === 0 ? `${objects}?watch=true` : objects })
      stream.on("error", () => undefined)
      return stream
    })
    await once(streams[0]!, "response")
    leaving.destroy()
    expect((await send("GET", `${objects}/watched`)).status).toBe(200)
  })

  test("the first of several lines of a header counts", async () => {
    const accept = ["application/yaml", "application/json"]
    const stream = session.request({ ":path": "/tenants/a/version", accept: accept.toReversed() })
    expect((await answerOf(stream)).status).toBe(200)
    const yaml = session.request({ ":path": objects, accept })
    expect((await answerOf(yaml)).headers["content-type"]).toBe("application/yaml")
  })

  test("clients that take the gateway for their proxy are told that there is nothing", async () => {
    const stream = session.request({ ":method": "CONNECT", ":authority": "example.com:443" })
    expect(await answerOf(stream)).toMatchObject({ status: 404, text: "404 page not found\n" })
    const { hostname, port } = new URL(fixture.url)
    const socket = connectTLS({ host: hostname, port: Number(port), ca: fixture.gateway.certificateAuthority })
    onTestFinished(() => void socket.destroy())
    socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
    const text = (await socket.setEncoding("utf8").toArray()).join("")
    expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n[^]*\r\n\r\n404 page not found\n$/)
  })

  test("clients of HTTP/1.1 are served on the same port", async () => {
    const answer = await fixture.request(`${objects}/watched`, tenant)
    expect(answer.code).toBe(200)
    expect(answer.headers["content-length"]).toBeDefined()
  })
})

test("a gateway that stops closes its connections and their watches", async () => {
  await using stopping = await startTestGateway({ http2: true })
  const own = await stopping.createTenant("a")
  const client = connect(stopping.url, {
    ca: stopping.gateway.certificateAuthority,
    cert: own.certificate ?? "",
    key: own.key ?? "",
  })
  client.on("error", () => undefined)
  const watch = client.request({ ":path": `${objects}?watch=true` })
  watch.on("error", () => undefined)
  await once(watch, "response")
  watch.resume()
  const closed = once(client, "close")
  await stopping.gateway[Symbol.asyncDispose]()
  await closed
})

test("an authorized client can impersonate a user with several groups", async () => {
  const path = "/tenants/a/apis/authentication.k8s.io/v1/selfsubjectreviews"
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/json",
    "impersonate-user": "someone",
    "impersonate-group": ["one", "two", "system:authenticated"],
  })
  const answer = answerOf(stream)
  stream.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }))
  const { status, text } = await answer
  expect(JSON.parse(text)).toMatchObject({
    status: { userInfo: { username: "someone", groups: ["one", "two", "system:authenticated"] } },
  })
  expect(status).toBe(201)
})
