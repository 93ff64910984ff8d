// pods/proxy, services/proxy and webhooks of Services, through a node's port-forward.

import { once } from "node:events"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { connect } from "node:http2"
import { request as httpsRequest } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { gunzipSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { pods } from "../../client/resources.ts"
import { NodeFixture } from "../testing/node-fixture.ts"
import {
  type RawAnswer,
  type RawRequest,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../testing/start-gateway.ts"
import { reviewed, WebhookServer } from "../testing/webhook-server.ts"

let gateway: TestGateway
let tenant: TestTenant
let node: NodeFixture
let program: Server
let secureProgram: WebhookServer

beforeAll(async () => {
  node = await NodeFixture.start()
  gateway = await startTestGateway({ nodeDialer: () => node.dialer })
  tenant = await gateway.createTenant("a")
  program = createServer((request, response) => {
    const url = request.url ?? ""
    if (url.startsWith("/link?")) response.setHeader("content-type", "text/html").end(`<a href="${url.slice(6)}">`)
    else if (url.startsWith("/page")) response.setHeader("content-type", "text/html").end('<a href="/x">')
    else if (url.startsWith("/zipped")) {
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" })
      response.end(gzipSync('<a href="/x">'))
    } else if (url.startsWith("/moved")) response.writeHead(302, { location: "/elsewhere" }).end()
    else if (url.startsWith("/long")) response.setHeader("x-long", "x".repeat(Number(url.slice(6)) * 1024)).end()
    else if (url.startsWith("/early")) response.writeHead(413).end("too large")
    else if (url.startsWith("/cors")) response.setHeader("access-control-allow-origin", "*").end()
    else {
      const chunks: Buffer[] = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { method, headers } = request
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }))
      })
    }
  })
  const echo = new WebSocketServer({ server: program })
  echo.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${(data as Buffer).toString()}`)))
  const { promise, resolve } = Promise.withResolvers<void>()
  program.listen(0, "127.0.0.1", resolve)
  await promise
  secureProgram = await WebhookServer.start(
    (call) => reviewed(call, { allowed: false, status: { message: "heard" } }),
    ["web.default.svc"],
  )
  const client = gateway.gateway.tenants.client("a")
  const port = (program.address() as AddressInfo).port
  await node.addPod(client, "web", { 8080: port, 8443: secureProgram.port })
  await node.addService(client, "web", "web", { 80: 8080, 443: 8443, 81: 9999 })
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await node?.[Symbol.asyncDispose]()
  program?.closeAllConnections()
  program?.close()
  await secureProgram?.[Symbol.asyncDispose]()
})

const root = "/api/v1/namespaces/default"
const call = (path: string, options: RawRequest = {}): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${root}/${path}`, { ...tenant, ...options })
const echoed = (answer: RawAnswer) =>
  answer.json() as { method: string; url: string; headers: Record<string, string>; body: string }

describe("a request", () => {
  test.each([
    ["pods/web/proxy/a/b?c=d%20e", "/a/b?c=d%20e"],
    ["pods/web:8080/proxy/a%2Fb/", "/a%2Fb/"],
    ["pods/http:web:8080/proxy/", "/"],
    ["services/web:80/proxy/x", "/x"],
    ["services/web:p80/proxy/x", "/x"],
    ["services/http:web:p80/proxy/x", "/x"],
  ])("for %s reaches the backend at %s", async (path, expected) => {
    expect(echoed(await call(path)).url).toBe(expected)
  })

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "%s is sent with its body and headers, without its credentials",
    async (method) => {
      const sent = { "x-mine": "1", "x-remote-user": "root", "x-remote-extra-a": "b" }
      const answer = await call("pods/web:8080/proxy/x", { method, body: "hello", headers: sent })
      const { headers, ...rest } = echoed(answer)
      expect(rest).toEqual({ method, url: "/x", body: "hello" })
      expect(headers).toMatchObject({ "x-mine": "1", "x-forwarded-uri": `${root}/pods/web:8080/proxy/x` })
      const ofCaller = /^(authorization|x-remote-)/
      expect(Object.keys(headers).filter((name) => ofCaller.test(name))).toEqual([])
      expect(headers["x-forwarded-for"]).toMatch(/127\.0\.0\.1$/)
    },
  )

  test("to https goes over TLS", async () => {
    const answer = await call("pods/https:web:8443/proxy/hook", { method: "POST", body: { request: { uid: "1" } } })
    expect(answer.json()).toMatchObject({ response: { uid: "1", allowed: false } })
  })

  test.each([{}, { expect: "100-continue" }])("may be answered before its body is sent, %j", async (headers) => {
    const { certificate: cert, key } = tenant
    const credential = { ca: gateway.gateway.certificateAuthority, cert, key, agent: false as const }
    const url = `${gateway.gateway.url}/tenants/a${root}/pods/web:8080/proxy/early`
    const request = httpsRequest(url, { ...credential, method: "POST", headers })
    request.on("error", () => undefined) // what is still sent then is not taken
    const piece = Buffer.alloc(1024 * 1024)
    const more = (): void => void request.write(piece, (error) => (error ? undefined : more()))
    more()
    const [answer] = (await once(request, "response")) as [IncomingMessage]
    expect([answer.statusCode, await text(answer)]).toEqual([413, "too large"])
    request.destroy()
  })

  test("without a path is redirected to one with a slash", async () => {
    const { code, headers } = await call("pods/web/proxy?a=b")
    expect([code, headers.location]).toEqual([301, `${root}/pods/web/proxy/?a=b`])
    expect(echoed(await call("pods/web/proxy?a=b", { method: "POST" })).url).toBe("/?a=b")
  })

  test("can switch protocols", async () => {
    const { hostname, port } = new URL(gateway.url)
    const socket = new WebSocket(`wss://${hostname}:${port}/tenants/a${root}/pods/web:8080/proxy/ws`, {
      cert: tenant.certificate,
      key: tenant.key,
      ca: gateway.gateway.certificateAuthority,
    })
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    socket.on("open", () => socket.send("hi"))
    socket.on("message", (data) => resolve((data as Buffer).toString()))
    socket.on("error", reject)
    expect(await promise).toBe("echo hi")
    socket.terminate()
  })
})

describe("a response", () => {
  test.each(["page", "zipped"])("has its links rewritten (%s)", async (page) => {
    const answer = await call(`services/web:80/proxy/${page}`)
    expect(answer.code).toBe(200)
    const html = answer.headers["content-encoding"] === "gzip" ? gunzipSync(answer.bytes).toString() : answer.text
    expect(html).toBe(`<a href="${root}/services/web:80/proxy/x">`)
  })

  test.each<[ip: string, pod: string, link: string, isRewritten: boolean]>([
    ["10.1.0.1", "linked", "http://10.1.0.1:8080/x", true],
    ["10.1.0.1", "linked", "http://10.1.0.1/x", false],
    ["10.1.0.1", "linked:8080", "http://10.1.0.1:8080/x", true],
    ["10.1.0.1", "linked:8080", "http://10.1.0.1/x", false],
    ["fd00::1", "linked", "http://[fd00::1]:8080/x", true],
    ["fd00::1", "linked", "http://[fd00::1]/x", false],
    ["fd00::1", "linked:8080", "http://[fd00::1]:8080/x", true],
    // Without a port in its spec.
    ["10.1.0.1", "portless", "http://10.1.0.1/x", true],
    ["10.1.0.1", "portless", "http://10.1.0.1:80/x", false],
    ["10.1.0.1", "portless:80", "http://10.1.0.1:80/x", true],
    ["10.1.0.1", "portless:80", "http://10.1.0.1/x", false],
    ["fd00::1", "portless", "http://[fd00::1]/x", true],
    ["fd00::1", "portless", "http://[fd00::1]:80/x", false],
  ])("of the pod at %s, called as %s, with a link to %s: rewritten %s", async (ip, pod, link, isRewritten) => {
    const client = gateway.gateway.tenants.client("a")
    const [name = ""] = pod.split(":")
    const { port } = program.address() as AddressInfo
    await node.addPod(client, name, name === "linked" ? { 8080: port } : { 80: port }, name === "linked")
    const status = { podIP: ip, podIPs: [{ ip }] }
    await client.patch(pods, "default", name, { status }, { type: "merge", subresource: "status" })
    const href = isRewritten ? `${root}/pods/${pod}/proxy/x` : link
    expect((await call(`pods/${pod}/proxy/link?${link}`)).text).toBe(`<a href="${href}">`)
    await client.delete(pods, "default", name, { gracePeriodSeconds: 0 })
  })

  test("has its redirects rewritten", async () => {
    const { code, headers } = await call("services/web:80/proxy/moved")
    expect([code, headers.location]).toEqual([302, `${root}/services/web:80/proxy/elsewhere`])
  })

  test("may have long headers", async () => {
    const { certificate: cert, key } = tenant
    const credential = { ca: gateway.gateway.certificateAuthority, cert, key }
    const path = (size: number): string => `/tenants/a${root}/pods/web:8080/proxy/long/${size}`
    const options = { ...credential, agent: false as const, maxHeaderSize: 1024 * 1024 }
    const over1 = httpsRequest(`${gateway.gateway.url}${path(200)}`, options).end()
    const [answer] = (await once(over1, "response")) as [IncomingMessage]
    expect(answer.resume().headers["x-long"]?.length).toBe(200 * 1024)
    expect((await call(`pods/web:8080/proxy/long/300`)).code).toBe(503)
    const session = connect(gateway.gateway.url, credential).on("error", () => undefined)
    onTestFinished(() => session.destroy())
    const over2 = (size: number) => once(session.request({ ":path": path(size) }), "response")
    expect(((await over2(60)) as [Record<string, string>])[0]["x-long"]?.length).toBe(60 * 1024)
    // It is this client that takes no more.
    await expect(over2(200)).rejects.toThrow("Protocol error")
  })

  test("has no CORS headers", async () => {
    expect((await call("pods/web:8080/proxy/cors")).headers["access-control-allow-origin"]).toBeUndefined()
  })
})

describe("a missing backend", () => {
  test.each([
    ["pods/none/proxy/", 404, 'pods "none" not found'],
    ["pods/ftp:web:1/proxy/", 400, 'invalid pod request "ftp:web:1"'],
    ["services/web:82/proxy/", 503, 'no service port 82 found for service "web"'],
    ["services/web:none/proxy/", 503, 'no endpoints available for service "web:none"'],
    ["pods/web:9/proxy/", 503, "error trying to reach service: connect: connection refused"],
    ["services/web:81/proxy/", 503, "error trying to reach service: connect: connection refused"],
  ])("%s", async (path, code, message) => {
    const answer = await call(path)
    expect([answer.code, (answer.json() as { message: string }).message]).toEqual([code, message])
  })
})

describe("a node", () => {
  const onNode = (path: string) => gateway.request(`/tenants/a/api/v1/nodes/${path}`, { ...tenant })

  test("proxies to its agent", async () => {
    const { code, text } = await onNode("node-1/proxy/healthz")
    expect([code, text]).toEqual([200, "ok"])
  })

  test("does not proxy to other ports", async () => {
    expect((await onNode("node-1:22/proxy/")).code).toBe(403)
  })
})

describe("a webhook of a Service", () => {
  test("is called in its pod, with its name as host", async () => {
    const configure = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false }
    const client = gateway.gateway.tenants.client("a")
    await client.create({ ...configure, resource: "validatingwebhookconfigurations" }, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "c" },
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: {
            service: { name: "web", namespace: "default", path: "/hook" },
            caBundle: secureProgram.caBundle,
          },
          rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    } as never)
    for (const name of ["a", "b"]) {
      const answer = await call("configmaps", { method: "POST", body: { metadata: { name } } })
      expect((answer.json() as { message: string }).message).toBe(
        'admission webhook "a.example.com" denied the request: heard',
      )
    }
    expect(secureProgram.calls.at(-1)?.headers.host).toBe("web.default.svc")
  })
})

test("a user with only get on pods/exec cannot execute commands by WebSocket", async () => {
  const rbac = "/tenants/a/apis/rbac.authorization.k8s.io/v1"
  const rules = [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }]
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }]
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "exec-reader" }
  const metadata = { name: "exec-reader" }
  await gateway.request(`${rbac}/clusterroles`, { ...tenant, method: "POST", body: { metadata, rules } })
  await gateway.request(`${rbac}/clusterrolebindings`, {
    ...tenant,
    method: "POST",
    body: { metadata, subjects, roleRef },
  })
  const answer = await call("pods/web/exec?command=ls&stdout=true", { headers: { "impersonate-user": "reader" } })
  expect([answer.code, (answer.json() as { message: string }).message]).toEqual([403, 'pods "web" is forbidden: '])
})
