// A tenant controls the content of its Nodes, so the gateway must get the addresses of nodes from elsewhere.

import { createPublicKey } from "node:crypto"
import { connect } from "node:net"
import { expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { notFound } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { silentLog } from "../../client/log.ts"
import { nodes } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { lookupName } from "../../gateway/backends/names.ts"
import { createSigningKey } from "../../gateway/pki/pki.ts"
import { verifyIdentity } from "../../vn-agent/identity.ts"
import { RealNodes } from "../up/real-nodes.ts"
import { createNodeAuthority } from "../up/node-authority.ts"
import { agentsOnNodes, kubeletDialer, vnAgentDialer } from "./node-dialers.ts"

const nodeAt = (name: string, address: string): Node =>
  ({
    metadata: { name },
    status: {
      addresses: [{ type: "InternalIP", address }],
      daemonEndpoints: { kubeletEndpoint: { Port: 6379 } },
    },
  }) as Node

/** A super cluster with one node. */
const superClient = {
  get: (_resource: unknown, _namespace: unknown, name: string) =>
    name === "node-1" ? Promise.resolve(nodeAt(name, "192.0.2.1")) : Promise.reject(notFound(nodes, name)),
} as unknown as KubeClient

test("a node's address is not read from the tenant", async () => {
  const signer = await createSigningKey()
  const dialer = vnAgentDialer({ name: "a", clusterKey: "default-a" } as Tenant, {
    signer: () => signer,
    certificateAuthority: () => "",
    endpoint: agentsOnNodes(superClient, 10550),
  })
  const { host, port, headers } = (await dialer.dial(nodeAt("node-1", "169.254.169.254"))) ?? {}
  expect([host, port]).toEqual(["192.0.2.1", 10550])
  const token = String(headers?.["authorization"]).replace("Bearer ", "")
  expect(await verifyIdentity(token, "node-1", [createPublicKey(signer)])).toMatchObject({ tenant: "a" })
  expect(await dialer.dial(nodeAt("trap", "169.254.169.254"))).toBeUndefined()
})

test.each(["ExternalIP", "Hostname"])("a node that only has an address of type %s is reached at that", async (type) => {
  const status = { addresses: [{ type, address: "there" }], daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } }
  const node = { metadata: { name: "node-1" }, status } as Node
  const found = { get: () => Promise.resolve(node) } as unknown as KubeClient
  expect(await agentsOnNodes(found, 10550)("node-1")).toMatchObject({ host: "there", port: 10550, lookup: lookupName })
  const kubelets = kubeletDialer({ certificateAuthority: "", certificate: "", key: "" })
  expect(await kubelets.dial(node)).toMatchObject({ host: "there", port: 10250, lookup: lookupName })
})

test("no vn-agent is started for a node that the super cluster does not have", async () => {
  const [authority, signer] = await Promise.all([createNodeAuthority(), createSigningKey()])
  const superConfig = { server: "https://127.0.0.1:1" }
  await using agents = new RealNodes({ superClient, superConfig, authority, signer, log: silentLog })
  expect(await agents.agentEndpoint("node-1")).toEqual({ host: "127.0.0.1", port: expect.any(Number) as number })
  expect(await agents.agentEndpoint("trap")).toBeUndefined()
})

test("the vn-agent of a node that the super cluster has no more ends, also if nobody asks for it again", async () => {
  const [authority, signer] = await Promise.all([createNodeAuthority(), createSigningKey()])
  const present = new Set<string>()
  const get = (_resource: unknown, _namespace: unknown, name: string) =>
    present.has(name) ? Promise.resolve(nodeAt(name, "192.0.2.1")) : Promise.reject(notFound(nodes, name))
  const superConfig = { server: "https://127.0.0.1:1" }
  const superClient = { get } as unknown as KubeClient
  const clock = new FakeClock()
  await using agents = new RealNodes({ superClient, superConfig, authority, signer, log: silentLog, clock })
  const ports: number[] = []
  const start = async (name: string): Promise<void> => {
    present.add(name)
    ports.push((await agents.agentEndpoint(name))?.port ?? 0)
  }
  const isServed = (port = 0) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(!socket.destroy().connecting))
      socket.on("error", () => resolve(false))
    })
  const served = () => Promise.all(ports.map((port) => isServed(port)))
  for (const name of ["node-1", "node-2", "node-3"]) await start(name)
  expect(await served()).toEqual([true, true, true])
  present.delete("node-2")
  clock.advance(10_000)
  expect(await agents.agentEndpoint("node-2")).toBeUndefined()
  expect(await served()).toEqual([true, false, true])
  present.delete("node-1")
  for (const name of ["node-4", "node-5"]) await start(name)
  await expect.poll(served).toEqual([false, false, true, true, true])
  // It has returned.
  await start("node-1")
  expect((await served()).at(-1)).toBe(true)
})

test("a node is looked up once for many calls", async () => {
  const [authority, signer] = await Promise.all([createNodeAuthority(), createSigningKey()])
  let asked = 0
  const get = () => Promise.resolve(nodeAt("node-1", `192.0.2.${++asked}`))
  const superClient = { get } as unknown as KubeClient
  const clock = new FakeClock()
  const superConfig = { server: "https://127.0.0.1:1" }
  await using agents = new RealNodes({ superClient, superConfig, authority, signer, log: silentLog, clock })
  const first = await agents.agentEndpoint("node-1")
  expect([await agents.agentEndpoint("node-1"), asked]).toEqual([first, 1])
  clock.advance(10_000)
  expect([await agents.agentEndpoint("node-1"), asked]).toEqual([first, 2])
})

test("a late answer that a node is missing does not end the vn-agent that it has got since", async () => {
  const [authority, signer] = await Promise.all([createNodeAuthority(), createSigningKey()])
  const late = Promise.withResolvers<Node>()
  const answers = [late.promise, Promise.resolve(nodeAt("node-1", "192.0.2.1"))]
  const superClient = { get: () => answers.shift() } as unknown as KubeClient
  const superConfig = { server: "https://127.0.0.1:1" }
  await using agents = new RealNodes({ superClient, superConfig, authority, signer, log: silentLog })
  const before = agents.agentEndpoint("node-1")
  const endpoint = await agents.agentEndpoint("node-1")
  late.reject(notFound(nodes, "node-1"))
  expect(await before).toBeUndefined()
  expect(await agents.agentEndpoint("node-1")).toEqual(endpoint)
})
