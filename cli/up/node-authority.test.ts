// Nodes of a process that runs for longer than their certificates are valid.

import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { connect, type ConnectionOptions } from "node:tls"
import { expect, onTestFinished, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { silentLog } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { createSigningKey } from "../../gateway/pki/pki.ts"
import { kubeletDialer } from "../compose/node-dialers.ts"
import { KeptPorts } from "./kept-ports.ts"
import { createNodeAuthority, renewNodeCertificates, nodeHost } from "./node-authority.ts"
import { SimulatedNodes } from "./simulated-nodes.ts"

const dayMs = 24 * 60 * 60_000

test("kubelets and vn-agents renew their certificates before they expire, and kubelets accept the gateway's new one", async () => {
  const clock = new FakeClock(Date.now() - 320 * dayMs)
  const authority = await createNodeAuthority(clock)
  const directory = await mkdtemp(path.join(tmpdir(), "polyplane-nodes-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const ports = await KeptPorts.read(path.join(directory, "ports.json"))
  const options = { names: ["node-1"], ports, authority, sandbox: () => undefined, log: silentLog }
  await using nodes = await SimulatedNodes.start(options)
  await nodes.startAgents({} as KubeClient, await createSigningKey())
  const kubelet = nodes.kubeletPort("node-1")
  const agent = nodes.agentAddress("node-1")?.port ?? 0
  const node = {
    metadata: { name: "node-1" },
    status: {
      addresses: [{ type: "InternalIP", address: nodeHost }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet } },
    },
  } as Node
  const dialer = kubeletDialer(authority)
  /** Returns the fingerprint of the server's certificate. If the server rejects the client, the socket ends. */
  const shake = async (port: number): Promise<string> => {
    const { ca, cert, key } = (await dialer.dial(node)) as ConnectionOptions
    const socket = connect({ host: nodeHost, port, ca, cert, key })
    socket.end("GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n")
    await once(socket, "secureConnect")
    const { fingerprint256 } = new X509Certificate(socket.getPeerCertificate().raw)
    expect(Buffer.concat(await socket.toArray()).toString()).toContain("200 OK")
    return fingerprint256
  }
  const before = [await shake(kubelet), await shake(agent), authority.certificate]

  const stopping = new AbortController()
  const keeping = renewNodeCertificates(authority, () => nodes.renew(), {
    signal: stopping.signal,
    log: silentLog,
    clock,
  })
  clock.advance(304 * dayMs)
  await expect.poll(() => clock.timers).toBe(1)
  expect([await shake(kubelet), await shake(agent), authority.certificate]).toEqual(before)
  clock.advance(2 * dayMs)
  await expect.poll(() => clock.timers).toBe(1)
  const after = [await shake(kubelet), await shake(agent), authority.certificate]
  for (const [index, one] of after.entries()) expect(one).not.toBe(before[index])
  stopping.abort()
  await keeping
})
