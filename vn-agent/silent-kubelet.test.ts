// A kubelet that accepts connections and says nothing, as one that has been stopped.

import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import { createServer, type AddressInfo, type Socket } from "node:net"
import { expect, onTestFinished, test, vi } from "vitest"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import type { KubeClient } from "../client/rest.ts"
import { createAuthority, issueServingCertificate } from "../gateway/pki/pki.ts"
import { signIdentity } from "./identity.ts"
import { VnAgent } from "./server.ts"

const host = "127.0.0.1"
const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const annotations = { [clusterAnnotation]: "ns-123456-a", [namespaceAnnotation]: "shop", [uidAnnotation]: "uid-1" }
const pod = { metadata: { name: "web", annotations }, spec: { nodeName: "node-1", containers: [{ name: "main" }] } }

test.each([
  ["a log", "/containerLogs/shop/web/main?follow=true", {}],
  ["a command", "/exec/shop/web/main?command=cat", { connection: "Upgrade", upgrade: "SPDY/3.1" }],
])("%s is given up that such a kubelet does not even begin to answer", async (_what, path, more) => {
  const kubelet = createServer()
  await once(kubelet.listen(0, host), "listening")
  const { port } = kubelet.address() as AddressInfo
  const authority = await createAuthority("nodes")
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  await using agent = await VnAgent.start({
    node: "node-1",
    host,
    port: 0,
    tls: await issueServingCertificate(authority, [host]),
    identityKeys: [createPublicKey(privateKey)],
    superClient: { get: () => Promise.resolve(pod) } as unknown as KubeClient,
    kubelet: { host, port },
    limits: { connections: 16 },
    log: silentLog,
  })
  const authorization = `Bearer ${await signIdentity(identity, "node-1", privateKey)}`
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const ca = authority.certificate
  const request = httpsRequest({ host, port: agent.port, ca, agent: false, path, headers: { authorization, ...more } })
  request.end()
  const [socket] = (await once(kubelet, "connection")) as [Socket]
  const closed = once(socket.resume(), "close")
  vi.advanceTimersByTime(30_000)
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(response.statusCode).toBe(502)
  await response.toArray()
  await closed
  kubelet.close()
})
