// A kubelet that accepts connections and says nothing, as one that has been stopped.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
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
