// A vn-agent over TLS between a caller and a kubelet: which calls are forwarded, to which pod, and that no connections remain
// open.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import type { Pod } from "../apimachinery/object.ts"
import { notFound, serviceUnavailable } from "../apimachinery/status.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import { pods as podsResource } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { openUpgrade } from "../client/http/upgrade.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../gateway/pki/pki.ts"
import { signIdentity } from "./identity.ts"
import type { VnAgentOptions } from "./options.ts"
import { VnAgent } from "./server.ts"
import { startKubelet } from "./testing/kubelet.ts"

const node = "node-1"
const host = "127.0.0.1"
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const stack = new AsyncDisposableStack()
let agent: VnAgent
/** An agent that uses an API server, with a token. */
let remoteAgent: VnAgent
let ca: string
let options: Omit<VnAgentOptions, "kubelet">

const observed: Parameters<typeof startKubelet>[1] = { seen: [], sockets: new Set<Socket>() }
const { seen, sockets } = observed
/** Super namespace/name → pod; or the super cluster does not respond. */
const pods = new Map<string, Pod>()
let superClusterAnswers = true
/** Called for each lookup in the super cluster, which waits for it before it responds. */
let onLookup: () => Promise<void> = () => Promise.resolve()

function podOf(clusterKey: string, namespace: string, name: string, nodeName = node): void {
  pods.set(`${clusterKey}-${namespace}/${name}`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      annotations: { [clusterAnnotation]: clusterKey, [namespaceAnnotation]: namespace, [uidAnnotation]: "uid-1" },
    },
    spec: { nodeName, containers: [{ name: "main" }] },
  } as unknown as Pod)
}

const superClient = {
  get: async (_resource: unknown, namespace: string, name: string) => {
    await onLookup()
    if (!superClusterAnswers) return Promise.reject(serviceUnavailable("the super cluster does not answer"))
    const pod = pods.get(`${namespace}/${name}`)
    return pod === undefined ? Promise.reject(notFound(podsResource, name)) : Promise.resolve(pod)
  },
} as unknown as KubeClient

beforeAll(async () => {
  const authority = await createAuthority("nodes")
  const serving = await issueServingCertificate(authority, [host])
  const client = await issueClientCertificate(authority, {
    name: "kube-apiserver-kubelet-client",
    groups: ["system:masters"],
  })
  ca = authority.certificate
  const { port, close } = await startKubelet({ cert: serving.certificate, key: serving.key, ca }, observed)
  stack.defer(close)
  const kubelet = { host, port, certificateAuthority: ca, certificate: client.certificate, key: client.key }
  options = {
    node,
    host,
    port: 0,
    tls: serving,
    identityKeys: [createPublicKey(privateKey)],
    superClient,
    limits: { connections: 16 },
    log: silentLog,
  }
  agent = stack.use(await VnAgent.start({ ...options, kubelet }))
  const token = () => Promise.resolve("ours")
  remoteAgent = stack.use(await VnAgent.start({ ...options, kubelet: { ...kubelet, apiServerPath: "/base", token } }))
})
afterAll(() => stack.disposeAsync())

beforeEach(() => {
  seen.length = 0
  observed.refusal = undefined
  superClusterAnswers = true
  onLookup = () => Promise.resolve()
  pods.clear()
  podOf(identity.clusterKey, "shop", "web")
  podOf(identity.clusterKey, "shop", "elsewhere", "node-2")
  podOf("ns-654321-b", "shop", "web")
  // As if a namespace of b had the name of a's "shop-web" in the super cluster.
  pods.set("ns-123456-a-stolen/web", pods.get("ns-654321-b-shop/web") as Pod)
})

const bearer = async (who = identity, where = node) => ({
  authorization: `Bearer ${await signIdentity(who, where, privateKey)}`,
})

async function ask(
  path: string,
  headers: Record<string, string>,
  method = "GET",
  to = agent,
  body?: string,
): Promise<{ code: number; text: string }> {
  const request = httpsRequest({ host, port: to.port, ca, agent: false, path, method, headers })
  request.end(body)
  const [response] = (await once(request, "response")) as [IncomingMessage]
  return { code: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() }
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition).toBe(true)
}

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
    expect((await ask("/containerLogs/shop/web/main", headers, "GET", remoteAgent)).code).toBe(200)
    expect(seen).toEqual(["GET /base/api/v1/namespaces/ns-123456-a-shop/pods/web/log?container=main Bearer ours"])
  })

  test("with a pod's uid reaches only that pod", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" }
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
    expect(await ask(path, sent, "GET", agent, body)).toEqual({ code: 400, text: "this takes no body" })
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
    const headers = { ...(await bearer()), connection: "Upgrade", upgrade: "SPDY/3.1" }
    const refused = openUpgrade({ host, port: agent.port, ca, agent: false, path: "/exec/shop/web/main", headers })
    await expect(refused).rejects.toMatchObject({ code, body: text })
  })

  test("is denied while the super cluster is unavailable", async () => {
    superClusterAnswers = false
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
  stack.defer(close)
  const kubelet = { host, port }
  await using renewing = await VnAgent.start({ ...options, kubelet: { ...kubelet, ...first.client } })
  const read = async () => (await ask("/containerLogs/shop/web/main", await bearer(), "GET", renewing)).code
  const exec = async (): Promise<boolean> => {
    const headers = {
      ...(await bearer()),
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "v4",
    }
    const target = { host, port: renewing.port, path: "/exec/shop/web/main?command=sh", ca, headers }
    return openUpgrade({ ...target, method: "POST" }).then(
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

describe("a stream", () => {
  test.each(["v5.channel.k8s.io", "v4.channel.k8s.io"])("works over WebSocket with %s", async (protocol) => {
    const socket = new WebSocket(`wss://${host}:${agent.port}/exec/shop/web/main?command=cat&input=1`, [protocol], {
      ca,
      headers: await bearer(),
    })
    await once(socket, "open")
    expect(socket.protocol).toBe(protocol)
    socket.send(Buffer.from("\0hello"))
    const [data] = (await once(socket, "message")) as [Buffer]
    expect(data.toString()).toBe("\0hello")
    expect(seen).toEqual(["GET /exec/ns-123456-a-shop/web/main?command=cat&input=1"])
    socket.send(Buffer.from("\x03web_ns-123456-a-shop is not there"))
    const [fault] = (await once(socket, "message")) as [Buffer]
    expect(fault.toString()).toBe("\x03web_shop is not there")
    socket.close()
    await until(() => sockets.size === 0)
  })

  test("works over SPDY unchanged and ends with the client", async () => {
    const headers = {
      ...(await bearer()),
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "portforward.k8s.io",
    }
    const far = await openUpgrade({
      host,
      port: agent.port,
      ca,
      agent: false,
      method: "POST",
      path: "/portForward/shop/web",
      headers,
    })
    expect(far.headers["x-stream-protocol-version"]).toBe("portforward.k8s.io")
    const ping = [0x80, 0x03, 0x00, 0x06, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01]
    far.socket.write(Buffer.from(ping))
    const [data] = (await once(far.socket, "data")) as [Buffer]
    expect([...data]).toEqual(ping)
    expect(sockets.size).toBe(1)
    far.socket.destroy()
    await until(() => sockets.size === 0)
  })

  test("works with a very long command", async () => {
    const headers = {
      ...(await bearer()),
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "v4.channel.k8s.io",
    }
    const path = `/exec/shop/web/main?command=echo&command=${"a".repeat(60_000)}`
    const far = await openUpgrade({ host, port: agent.port, ca, agent: false, method: "POST", path, headers })
    far.socket.destroy()
    await until(() => sockets.size === 0)
  })

  test.each<[string, string, number]>([
    ["to another tenant's pod", "/exec/stolen/web/main?command=ls", 404],
    ["to a path that is not a stream", "/containerLogs/shop/web/main", 404],
    ["to all pods", "/pods", 404],
    ["that the kubelet refuses", "/exec/shop/web/main?command=ls", 403],
  ])("%s is rejected", async (_what, path, code) => {
    const headers = { ...(await bearer()), connection: "Upgrade", upgrade: "SPDY/3.1" }
    await expect(
      openUpgrade({ host, port: agent.port, ca, agent: false, method: "POST", path, headers }),
    ).rejects.toMatchObject({ code })
  })

  test("without a token is rejected", async () => {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1" }
    const target = { host, port: agent.port, ca, agent: false, path: "/exec/shop/web/main", headers } as const
    await expect(openUpgrade(target)).rejects.toMatchObject({ code: 401 })
    expect(seen).toEqual([])
  })

  const follow = async (who = identity): Promise<IncomingMessage> => {
    const path = "/containerLogs/shop/web/main?follow=true"
    const request = httpsRequest({ host, port: agent.port, ca, agent: false, path, headers: await bearer(who) })
    request.end()
    const [response] = (await once(request, "response")) as [IncomingMessage]
    response.on("error", () => undefined) // the connection is cut off
    return response
  }

  test("of some tenants, however many they want, leave room for those of others", async () => {
    const others = ["b", "c", "d"].map((tenant) => ({ tenant, clusterKey: `ns-654321-${tenant}` }))
    const opened: IncomingMessage[] = []
    const granted: number[] = []
    for (const who of [identity, ...others]) {
      podOf(who.clusterKey, "shop", "web")
      let count = 0
      for (; ; count++) {
        const response = await follow(who)
        opened.push(response)
        if (response.statusCode !== 200) break
      }
      granted.push(count)
    }
    for (const one of opened) one.destroy()
    expect(granted).toEqual([8, 4, 2, 1])
    await expect.poll(async () => (await ask("/containerLogs/shop/web/main", await bearer())).code).toBe(200)
    await until(() => sockets.size <= 1)
  })

  test("beyond a tenant's limit is rejected until others end, and other tenants are not affected", async () => {
    const ofOther = await bearer({ tenant: "b", clusterKey: "ns-654321-b" })
    const log = "/containerLogs/shop/web/main"
    const command = {
      ...(await bearer()),
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "v4",
    }
    const target = { host, port: agent.port, ca, agent: false, path: "/exec/shop/web/main?command=cat" } as const
    const { socket } = await openUpgrade({ ...target, headers: command })
    const followed = await Promise.all(Array.from({ length: 7 }, () => follow()))
    expect(followed.map(({ statusCode }) => statusCode)).toEqual(followed.map(() => 200))
    expect((await ask(log, await bearer())).code).toBe(429)
    await expect(openUpgrade({ ...target, headers: command })).rejects.toMatchObject({ code: 429 })
    expect((await ask(log, ofOther)).code).toBe(200)
    followed[0]?.destroy()
    await expect.poll(async () => (await ask(log, await bearer())).code).toBe(200)
    socket.destroy()
    for (const one of followed) one.destroy()
    await expect
      .poll(async () =>
        (await Promise.all([1, 2, 3].map(async () => ask(log, await bearer())))).map(({ code }) => code),
      )
      .toEqual([200, 200, 200])
  })

  test("a followed log ends when its client disconnects", async () => {
    const request = httpsRequest({
      host,
      port: agent.port,
      ca,
      agent: false,
      path: "/containerLogs/shop/web/main?follow=true",
      headers: await bearer(),
    })
    request.end()
    const [response] = (await once(request, "response")) as [IncomingMessage]
    const [line] = (await once(response, "data")) as [Buffer]
    expect(line.toString()).toBe("line 1\n")
    const before = sockets.size
    response.destroy()
    await until(() => sockets.size < before)
  })

  test.each([
    ["log", "/containerLogs/shop/web/main?follow=true", {}],
    [
      "command",
      "/exec/shop/web/main?command=cat",
      { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4" },
    ],
  ])("a %s is not started for a client that has disconnected", async (_what, path, more) => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onLookup = () => {
      asked.resolve()
      return answered.promise
    }
    const request = httpsRequest({
      host,
      port: agent.port,
      ca,
      agent: false,
      path,
      headers: { ...(await bearer()), ...more },
    })
    const closed = Promise.withResolvers<void>()
    request.on("close", closed.resolve)
    request.on("error", () => undefined) // the request is destroyed
    request.end()
    await asked.promise
    request.destroy()
    await closed.promise
    // These connections are accepted after the agent has noticed the end of the first one.
    for (let call = 0; call < 3; call++) expect((await ask("/healthz", {})).code).toBe(200)
    onLookup = () => Promise.resolve()
    answered.resolve()
    // After this call the previous one is over.
    await ask("/containerLogs/shop/web/main", await bearer())
    expect(seen).toEqual(["GET /containerLogs/ns-123456-a-shop/web/main"])
  })
})
