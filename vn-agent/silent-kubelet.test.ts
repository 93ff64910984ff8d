// A kubelet that accepts connections and says nothing, as one that has been stopped: from the start, or after it has begun to answer.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer as createHttpsServer, request as httpsRequest } from "node:https"
import { createServer, type AddressInfo, type Socket } from "node:net"
import { beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import type { KubeClient } from "../client/rest.ts"
import { type Authority, createAuthority, issueServingCertificate } from "../gateway/pki/pki.ts"
import { signIdentity } from "./identity.ts"
import { VnAgent } from "./server.ts"

const host = "127.0.0.1"
const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const annotations = { [clusterAnnotation]: "ns-123456-a", [namespaceAnnotation]: "shop", [uidAnnotation]: "uid-1" }
const pod = { metadata: { name: "web", annotations }, spec: { nodeName: "node-1", containers: [{ name: "main" }] } }
const followed = "/containerLogs/shop/web/main?follow=true"

let authority: Authority

beforeEach(async () => {
  authority = await createAuthority("nodes")
})

/** A vn-agent of the kubelet at this port. Returns a function that sends a request to it. */
async function startAgent(port: number): Promise<(path: string, more?: object) => ReturnType<typeof httpsRequest>> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const agent = await VnAgent.start({
    node: "node-1",
    host,
    port: 0,
    tls: await issueServingCertificate(authority, [host]),
    identityKeys: [createPublicKey(privateKey)],
    superClient: { get: () => Promise.resolve(pod) } as unknown as KubeClient,
    kubelet: { host, port, certificateAuthority: authority.certificate },
    limits: { connections: 16 },
    log: silentLog,
  })
  onTestFinished(() => agent[Symbol.asyncDispose]())
  const authorization = `Bearer ${await signIdentity(identity, "node-1", privateKey)}`
  return (path, more = {}) => {
    const ca = authority.certificate
    const headers = { authorization, ...more }
    return httpsRequest({ host, port: agent.port, ca, agent: false, path, headers }).end()
  }
}

// The gateway waits for 30 s, so it is told which of both is silent.
test.each([
  ["a log", followed, {}],
  ["a command", "/exec/shop/web/main?command=cat", { connection: "Upgrade", upgrade: "SPDY/3.1" }],
])(
  "%s is given up that such a kubelet does not even begin to answer, before the gateway gives up",
  async (_what, path, more) => {
    const kubelet = createServer()
    await once(kubelet.listen(0, host), "listening")
    const send = await startAgent((kubelet.address() as AddressInfo).port)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const request = send(path, more)
    const [socket] = (await once(kubelet, "connection")) as [Socket]
    const closed = once(socket.resume(), "close")
    vi.advanceTimersByTime(25_000)
    const [response] = (await once(request, "response")) as [IncomingMessage]
    expect(response.statusCode).toBe(502)
    await response.toArray()
    await closed
    kubelet.close()
  },
)

test("a log that is silent goes on while its kubelet answers anybody, and is cut off when it does not", async () => {
  const { certificate: cert, key } = await issueServingCertificate(authority, [host])
  const log = Promise.withResolvers<ServerResponse>()
  const asked: ServerResponse[] = []
  const kubelet = createHttpsServer({ cert, key }, (request, response) => {
    if (request.url !== "/healthz") {
      response.write("line 1\n")
      log.resolve(response)
    } else asked.push(response)
  })
  await once(kubelet.listen(0, host), "listening")
  const send = await startAgent((kubelet.address() as AddressInfo).port)
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const [response] = (await once(send(followed), "response")) as [IncomingMessage]
  const lines: string[] = []
  response.on("data", (line: Buffer) => lines.push(line.toString()))
  const cut = once(response, "error")
  const line = async (text: string): Promise<void> => {
    ;(await log.promise).write(text)
    await expect.poll(() => lines.at(-1)).toBe(text)
  }
  const silence = (): unknown => vi.advanceTimersByTime(15_000)
  /** Resolves when it has been asked. */
  const probe = async (): Promise<ServerResponse> => {
    const before = asked.length
    silence()
    await expect.poll(() => asked.length).toBe(before + 1)
    return asked[before]!
  }

  await line("line 2\n")
  for (let round = 0; round < 2; round++) silence()
  for (let each = 0; each < 3; each++) {
    const question = await probe()
    const closed = once(question.req.socket, "close")
    // Somebody is there, whatever is said.
    question.writeHead(401).end()
    await closed
    silence()
  }
  // What it says on the log itself counts as well.
  await probe()
  await line("line 3\n")
  for (let round = 0; round < 2; round++) silence()
  await probe()
  silence()
  expect(await cut).toMatchObject([{ code: "ECONNRESET" }])
  kubelet.closeAllConnections()
  kubelet.close()
})

test("logs of a silent kubelet are one question to it, whose answer is for all; all end without one, and nothing stays", async () => {
  const { certificate: cert, key } = await issueServingCertificate(authority, [host])
  const asked: ServerResponse[] = []
  const kubelet = createHttpsServer({ cert, key }, (request, response) => {
    if (request.url === "/healthz") asked.push(response)
    else response.write("line 1\n")
  })
  await once(kubelet.listen(0, host), "listening")
  const send = await startAgent((kubelet.address() as AddressInfo).port)
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const cut: Promise<unknown>[] = []
  const follow = async (): Promise<void> => {
    const [response] = (await once(send(followed), "response")) as [IncomingMessage]
    await once(response, "data")
    cut.push(once(response, "error"))
  }
  const silence = (): unknown => vi.advanceTimersByTime(15_000)
  await follow()
  silence()
  // Whenever a log began: it is the kubelet that is silent.
  for (let more = 0; more < 3; more++) await follow()
  for (let interval = 0; interval < 3; interval++) silence()
  await expect.poll(() => asked.length).toBe(1)
  const closed = once(asked[0]!.req.socket, "close")
  asked[0]?.end()
  await closed
  for (let interval = 0; interval < 2; interval++) silence()
  await expect.poll(() => asked.length).toBe(2)
  silence()
  await Promise.all(cut)
  expect(asked).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
  kubelet.closeAllConnections()
  kubelet.close()
})
