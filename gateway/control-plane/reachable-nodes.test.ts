// Nodes that a tenant has brought itself: the gateway calls their kubelets as kube-apiserver does, where webhooks may lead.

import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { KubeObject, Node } from "../../apimachinery/object.ts"
import { virtualNodeLabel } from "../../apimachinery/tenancy.ts"
import { configMaps, nodes } from "../../client/resources.ts"
import { NodeFixture } from "../testing/node-fixture.ts"
import { type Authority, createAuthority } from "../pki/pki.ts"
import { FrontProxy } from "../aggregation/front-proxy.ts"
import { SilentServers } from "../../client/http/silent-servers.ts"
import { NetworkRules } from "../backends/networks.ts"
import { ReachableNodes } from "./reachable-nodes.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"

let gateway: TestGateway
let tenants: Record<"a" | "b", TestTenant>
let node: NodeFixture
let program: Server

beforeAll(async () => {
  gateway = await startTestGateway({
    nodeDialer: () => ({ dial: () => Promise.resolve(undefined) }),
    allowedNetworks: ["127.0.0.0/8"],
  })
  tenants = { a: await gateway.createTenant("a"), b: await gateway.createTenant("b") }
  const own = gateway.gateway.tenants.client("a")
  const published = await own.get<KubeObject & { data: Record<string, string> }>(
    configMaps,
    "kube-system",
    "extension-apiserver-authentication",
  )
  node = await NodeFixture.start(published.data["client-ca-file"])
  program = createServer((request, response) => response.end(request.url))
  await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve))
  const ports = { 8080: (program.address() as AddressInfo).port }
  for (const name of ["a", "b"]) await node.addPod(gateway.gateway.tenants.client(name), "web", ports)
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await node?.[Symbol.asyncDispose]()
  program?.closeAllConnections()
  program?.close()
})

const log = "pods/web/log"
const ask = (tenant: "a" | "b", path = log): Promise<RawAnswer> =>
  gateway.request(`/tenants/${tenant}/api/v1/namespaces/default/${path}`, tenants[tenant])

/** The node says that its kubelet is there. */
async function place(tenant: "a" | "b", addresses: Record<string, string>, more: object = {}): Promise<void> {
  const status = {
    addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })),
    daemonEndpoints: { kubeletEndpoint: { Port: node.port } },
  }
  const client = gateway.gateway.tenants.client(tenant)
  await client.patch(nodes, undefined, "node-1", { status }, { type: "merge", subresource: "status" })
  await client.patch(nodes, undefined, "node-1", more, { type: "merge" })
}

test("a pod's log, and what it serves, come from the kubelet of its node", async () => {
  await place("a", { Hostname: "unknown.invalid", InternalIP: "127.0.0.1" })
  expect(await ask("a")).toMatchObject({ code: 200, text: "hello\n" })
  expect(await ask("a", "pods/web:8080/proxy/x")).toMatchObject({ code: 200, text: "/x" })
  const missing = await ask("a", `${log}?previous=true`)
  expect(missing).toMatchObject({ code: 400, text: expect.stringContaining("previous terminated container") as string })
})

test("a kubelet does not answer to another tenant", async () => {
  await place("b", { InternalIP: "127.0.0.1" })
  const { code, text } = await ask("b")
  expect(code).toBe(503)
  expect(text).toMatch(/the node of this pod does not answer: .*(hang up|certificate|unknown ca|alert)/i)
})

test.each([
  ["link-local", { InternalIP: "169.254.169.254" }, "dial tcp: 169.254.169.254: address not allowed"],
  ["private", { ExternalIP: "10.0.0.1" }, "dial tcp: 10.0.0.1: address not allowed"],
  ["unknown", {}, "node node-1 has no address to reach its kubelet at"],
])("no connection is made to an address that is %s", async (_what, addresses, message) => {
  await place("a", addresses)
  const { code, text } = await ask("a")
  expect(code).toBe(503)
  expect(text).toContain(message)
})

test("a virtual node that the super cluster no longer has is not called", async () => {
  await place("a", { InternalIP: "127.0.0.1" }, { metadata: { labels: { [virtualNodeLabel]: "true" } } })
  const { code, text } = await ask("a")
  expect([code, text]).toEqual([503, expect.stringContaining("node node-1 has no address to reach its kubelet at")])
})

test.each<[string, (authority: Authority) => () => Promise<unknown>]>([
  [
    "kubelets",
    (clientCertificateAuthority) => {
      const nodes = new ReachableNodes({
        superNodes: { dial: () => Promise.resolve(undefined) },
        silentServers: new SilentServers(),
        networks: new NetworkRules(["192.0.2.0/24"]),
        trust: { clientCertificateAuthority },
      })
      const status = { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] }
      return () => nodes.dial({ metadata: { name: "n" }, status } as Node)
    },
  ],
  [
    "aggregated APIs",
    (authority) => {
      const proxy = new FrontProxy(authority)
      return () => proxy.certificate()
    },
  ],
])("a certificate for %s that could not be issued is issued for the next call", async (_what, start) => {
  const { certificate, key } = await createAuthority("clients")
  const authority = { certificate, key: undefined as unknown as Authority["key"] }
  const call = start(authority)
  await expect(call()).rejects.toThrow()
  authority.key = key
  await call()
})
