// Streams to a node through one of two gateways, whose tenant is deleted at the other.

import { once } from "node:events"
import { createServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { nodes, pods } from "../../../client/resources.ts"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import { askRaw } from "../../../gateway/testing/raw-request.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const upgrade = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
const pod = "/api/v1/namespaces/default/pods/web"

describe.skipIf(lacks(["etcd"]))("streams through one of two gateways", () => {
  test("end when their tenant is deleted at the other", async () => {
    await using etcd = await TestEtcd.start()
    const authority = await createAuthority("node")
    const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
    const sockets = new Set<Socket>()
    const node = createServer({ cert, key }, (_request, response) => response.write("hello"))
    node.on("secureConnection", (socket: Socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket))
    })
    node.on("upgrade", (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello")
      socket.resume()
    })
    await once(node.listen(0, "127.0.0.1"), "listening")
    const { port } = node.address() as AddressInfo
    const target = { host: "127.0.0.1", port, ca: authority.certificate, agent: false as const }
    const start = () =>
      startTestGateway({
        etcd: { servers: etcd.servers },
        superCluster: false,
        nodeDialer: () => ({ dial: () => Promise.resolve(target) }),
      })
    await using first = await start()
    await using second = await start()
    const tenant = await first.createTenant("a", { controllers: false })
    const client = first.gateway.tenants.client("a")
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } })
    const spec = { nodeName: "n", serviceAccountName: "default", containers: [{ name: "c", image: "i" }] }
    const metadata = { namespace: "default", name: "web" }
    await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec } as KubeObject)

    const open = async (path: string, headers: string): Promise<{ closed: Promise<unknown> }> => {
      const socket = await askRaw(second, tenant, path, headers)
      const closed = new Promise((resolve) => socket.once("close", resolve))
      let text = ""
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")))
      await expect.poll(() => text).toContain("hello")
      return { closed }
    }
    const streams = [
      await open(`${pod}/exec?stdout=true&command=sh`, upgrade),
      await open(`${pod}/log?follow=true`, ""),
    ]
    await first.gateway.tenants.delete("a")
    await Promise.all(streams.map(({ closed }) => closed))
    await expect.poll(() => sockets.size).toBe(0)
    node.close()
  })
})
