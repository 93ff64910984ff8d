// Which calls are forwarded, to which pod, and with which identity.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import { networkInterfaces } from "node:os"
import { describe, expect, onTestFinished, test } from "vitest"
import { openUpgrade } from "../client/http/upgrade.ts"
import { tinyChunks } from "../client/testing/small-pieces.ts"
import { type Authority, createAuthority, issueClientCertificate, issueServingCertificate } from "../gateway/pki/pki.ts"
import { signIdentity } from "./identity.ts"
import { VnAgent } from "./server.ts"
import { startKubelet } from "./testing/kubelet.ts"
import {
  agent,
  ask,
  bearer,
  call,
  host,
  identity,
  node,
  observed,
  openStream,
  options,
  remoteAgent,
  seen,
  spdy,
  spdyOf,
  superCluster,
  useAgent,
} from "./testing/agent.ts"

useAgent()

describe("a tenant's request", () => {
  test("reaches its pod without the tenant's credentials", async () => {
    expect(await ask("/containerLogs/shop/web/main?tailLines=2&evil=1", await bearer())).toEqual({
      code: 200,
      text: "line 1\nline 2\n",
    })
    expect(seen).toEqual(["GET /containerLogs/ns-123456-a-shop/web/main?tailLines=2"])
  })

  test("goes through the API server with the vn-agent's identity, whatever the caller impersonates", async () => {
    const headers = { ...(await bearer()), "impersonate-user": "system:admin", cookie: "a=b" }
    expect((await ask("/containerLogs/shop/web/main", headers, remoteAgent)).code).toBe(200)
    expect(seen).toEqual(["GET /base/api/v1/namespaces/ns-123456-a-shop/pods/web/log?container=main Bearer ours"])
  })

  test("for a log that comes in chunks of a byte is answered in larger ones", async () => {
    observed.log = tinyChunks(20_000)
    const request = call("/containerLogs/shop/web/main", await bearer()).end()
    const [response] = (await once(request, "response")) as [IncomingMessage]
    let [pieces, bytes] = [0, 0]
    response.on("data", ({ length }: Buffer) => [pieces++, (bytes += length)])
    await once(response, "end")
    expect(bytes).toBe(20_000)
    expect(pieces).toBeLessThan(1000)
  })

  test("with a pod's uid reaches only that pod", async () => {
    const upgrade = spdyOf("v4.channel.k8s.io")
    expect((await ask("/exec/shop/web/uid-2/main?command=ls", { ...(await bearer()), ...upgrade })).code).toBe(404)
    expect(seen).toEqual([])
  })

  test.each<[string, string, number]>([
    ["another namespace", "/containerLogs/other/web/main", 404],
    ["a pod on another node", "/containerLogs/shop/elsewhere/main", 404],
    ["a pod that carries another tenant's marks", "/containerLogs/stolen/web/main", 404],
    ["a pod that is not there", "/containerLogs/shop/absent/main", 404],
    ["an unknown container", "/containerLogs/shop/web/other", 404],
    ["all pods", "/pods", 404],
    ["all running pods", "/runningpods/", 404],
    ["the node's logs", "/logs/", 404],
    ["the node's metrics", "/metrics", 404],
    ["a path with dot segments", "/containerLogs/shop/%2e%2e/%2e%2e/pods", 404],
    ["a path with dot segments and encoded slashes", "/containerLogs/shop/..%2f..%2fpods/main", 404],
    ["a path with more segments", "/containerLogs/shop/web/main/../../../../pods", 404],
    ["exec without an upgrade", "/exec/shop/web/main?command=ls", 400],
  ])("to %s is rejected", async (_what, path, code) => {
    expect((await ask(path, await bearer())).code).toBe(code)
    expect(seen).toEqual([])
  })

  test.each<[string, () => Promise<Record<string, string>>]>([
    ["no token", () => Promise.resolve({})],
    ["another scheme", () => Promise.resolve({ authorization: "Basic YTpi" })],
    ["garbage", () => Promise.resolve({ authorization: "Bearer x" })],
    ["a token for another node", () => bearer(identity, "node-2")],
  ])("with %s is rejected on every path", async (_what, headers) => {
    for (const path of ["/containerLogs/shop/web/main", "/pods", "/containerLogs/shop/absent/main"])
      expect(await ask(path, await headers())).toEqual({ code: 401, text: "Unauthorized" })
    expect(seen).toEqual([])
  })

  test("gets the same response for other tenants' pods as for missing ones", async () => {
    const [absent, others] = [
      await ask("/containerLogs/shop/absent/main", await bearer()),
      await ask("/containerLogs/stolen/web/main", await bearer()),
    ]
    expect(others.text).toBe(absent.text.replace("absent", "web").replace("shop", "stolen"))
  })

  // The headers that determine the body's length are not forwarded, so the kubelet took the body for the next request on the
  // connection.
  test.each<[string, Record<string, string>]>([
    ["of a known length", {}],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])("with a body %s is rejected", async (_what, headers) => {
    const body = "GET /pods HTTP/1.1\r\nHost: kubelet\r\n\r\n"
    const length = Object.keys(headers).length === 0 ? { "content-length": String(body.length) } : headers
    const path = "/containerLogs/shop/web/main"
    const sent = { ...(await bearer()), ...length, connection: "keep-alive" }
    expect(await ask(path, sent, agent, body)).toEqual({ code: 400, text: "this takes no body" })
    // By now the kubelet has received everything sent before.
    await ask(path, await bearer())
    expect(seen).toEqual(["GET /containerLogs/ns-123456-a-shop/web/main"])
  })

  const statusOf = (message: string) => JSON.stringify({ kind: "Status", apiVersion: "v1", message, code: 500 })
  test.each<[by: string, code: number, body: string, text: string]>([
    ["a kubelet", 404, "pod web_ns-123456-a-shop not found\n", "pod web_shop not found"],
    [
      "an API server",
      500,
      statusOf('Get "https://10.0.0.1:10250/containerLogs/ns-123456-a-shop/web/main": connection refused'),
      'Get "https://10.0.0.1:10250/containerLogs/shop/web/main": connection refused',
    ],
    ["something else", 500, "x".repeat(100_000), "x".repeat(64 * 1024)],
  ])("that is refused by %s is answered without the names of the super cluster", async (_by, code, body, text) => {
    observed.refusal = { code, body }
    expect(await ask("/containerLogs/shop/web/main", await bearer())).toEqual({ code, text })
    const headers = { ...(await bearer()), ...spdy }
    const refused = openStream("/exec/shop/web/main", headers)
    await expect(refused).rejects.toMatchObject({ code, body: text })
  })

  test("is denied while the super cluster is unavailable", async () => {
    superCluster.answers = false
    expect((await ask("/containerLogs/shop/web/main", await bearer())).code).toBe(502)
    expect(seen).toEqual([])
  })
})

test("new kubelet CAs and client certificates are used without a restart", async () => {
  const issue = async (name: string) => {
    const authority = await createAuthority(name)
    const serving = await issueServingCertificate(authority, [host])
    return {
      serving: { cert: serving.certificate, key: serving.key, ca: authority.certificate },
      client: {
        certificateAuthority: authority.certificate,
        ...(await issueClientCertificate(authority, { name: "vn-agent", groups: [] })),
      },
    }
  }
  const [first, second] = [await issue("first"), await issue("second")]
  const { server, port, close } = await startKubelet(first.serving, observed)
  onTestFinished(close)
  const kubelet = { host, port }
  await using renewing = await VnAgent.start({ ...options, kubelet: { ...kubelet, ...first.client } })
  const read = async () => (await ask("/containerLogs/shop/web/main", await bearer(), renewing)).code
  const exec = async (): Promise<boolean> => {
    const headers = { ...(await bearer()), ...spdyOf("v4") }
    const target = { port: renewing.port, method: "POST" }
    return openStream("/exec/shop/web/main?command=sh", headers, target).then(
      ({ socket }) => socket.destroy().destroyed,
      () => false,
    )
  }
  expect(await read()).toBe(200)
  expect(await exec()).toBe(true)
  server.setSecureContext(second.serving)
  server.closeAllConnections()
  expect(await read()).toBe(502)
  expect(await exec()).toBe(false)
  renewing.renew({ kubelet: { ...kubelet, ...second.client } })
  expect(await read()).toBe(200)
  expect(await exec()).toBe(true)
})

test("streams go on when certificates, authorities and the gateway's key are replaced; new ones need the new ones", async () => {
  const [before, after] = await Promise.all([createAuthority("before"), createAuthority("after")])
  const serving = (authority: Authority) => issueServingCertificate(authority, [host])
  const client = (authority: Authority) => issueClientCertificate(authority, { name: "vn-agent", groups: [] })
  const tlsOf = async (authority: Authority) => {
    const { certificate: cert, key } = await serving(authority)
    return { cert, key, ca: authority.certificate }
  }
  const { server, port, close } = await startKubelet(await tlsOf(before), observed)
  onTestFinished(close)
  const kubeletOf = async (authority: Authority) => ({
    host,
    port,
    certificateAuthority: authority.certificate,
    ...(await client(authority)),
  })
  const kubelet = await kubeletOf(before)
  await using renewing = await VnAgent.start({ ...options, tls: await serving(before), kubelet })
  const headers = { ...(await bearer()), ...spdyOf("v4") }
  const path = "/exec/shop/web/main?command=sh"
  const open = (ca: string, more = headers) =>
    openUpgrade({ host, port: renewing.port, ca, agent: false, method: "POST", path, headers: more })
  const { socket } = await open(before.certificate)

  server.setSecureContext(await tlsOf(after))
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" })
  renewing.renew({
    tls: await serving(after),
    identityKeys: [createPublicKey(key.privateKey)],
    kubelet: await kubeletOf(after),
  })
  const ping = Buffer.from([0x80, 0x03, 0x00, 0x06, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01])
  socket.write(ping)
  expect(await once(socket, "data")).toEqual([ping])
  socket.destroy()

  await expect(open(before.certificate)).rejects.toThrow("unable to verify the first certificate")
  await expect(open(after.certificate)).rejects.toMatchObject({ code: 401 })
  const authorization = `Bearer ${await signIdentity(identity, node, key.privateKey)}`
  const renewed = await open(after.certificate, { ...headers, authorization })
  renewed.socket.destroy()
})

const dayMs = 24 * 3_600_000
test.each([
  ["has expired", Date.now() - 2 * 365 * dayMs],
  ["is not valid yet", Date.now() + dayMs],
])("a kubelet whose certificate %s is not called", async (_what, issuedAt) => {
  const authority = await createAuthority("nodes")
  const dated = await issueServingCertificate(authority, [host], issuedAt)
  const tls = { cert: dated.certificate, key: dated.key, ca: authority.certificate }
  const { port, close } = await startKubelet(tls, observed)
  onTestFinished(close)
  const client = await issueClientCertificate(authority, { name: "vn-agent", groups: [] })
  const kubelet = { host, port, certificateAuthority: authority.certificate, ...client }
  await using there = await VnAgent.start({ ...options, kubelet })
  expect((await ask("/containerLogs/shop/web/main", await bearer(), there)).code).toBe(502)
  const headers = { ...(await bearer()), ...spdyOf("v4") }
  await expect(openStream("/exec/shop/web/main?command=sh", headers, { port: there.port })).rejects.toMatchObject({
    code: 502,
  })
  expect(seen).toEqual([])
})

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"))

test.runIf(hasIPv6)("a node may have addresses of IPv6 only, and its vn-agent listens on them, too", async () => {
  const authority = await createAuthority("nodes")
  const serving = await issueServingCertificate(authority, ["::1", "127.0.0.1"])
  const client = await issueClientCertificate(authority, { name: "kubelet-client", groups: [] })
  const tls = { cert: serving.certificate, key: serving.key, ca: authority.certificate }
  const kubelet = await startKubelet(tls, observed, "::1")
  onTestFinished(kubelet.close)
  const { host: _host, ...elsewhere } = options
  await using there = await VnAgent.start({
    ...elsewhere,
    tls: serving,
    kubelet: { host: "::1", port: kubelet.port, certificateAuthority: authority.certificate, ...client },
  })
  for (const address of ["::1", "127.0.0.1"]) {
    const to = { host: address, port: there.port, ca: authority.certificate, agent: false as const }
    const log = httpsRequest({ ...to, path: "/containerLogs/shop/web/main", headers: await bearer() }).end()
    const [answer] = (await once(log, "response")) as [IncomingMessage]
    expect([answer.statusCode, Buffer.concat(await answer.toArray()).toString()]).toEqual([200, "line 1\nline 2\n"])
    const headers = { ...(await bearer()), ...spdyOf("v4.channel.k8s.io") }
    const { socket } = await openUpgrade({ ...to, method: "POST", path: "/exec/shop/web/main?command=ls", headers })
    socket.destroy()
  }
})
