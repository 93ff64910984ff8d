// Streams through a vn-agent: of which kinds, how many, and that no connections remain open.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import {
  agent,
  ask,
  bearer,
  call,
  ca,
  host,
  identity,
  openStream,
  podOf,
  remoteAgent,
  seen,
  sockets,
  spdy,
  spdyOf,
  superCluster,
  useAgent,
} from "./testing/agent.ts"

useAgent()

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
    await expect.poll(() => sockets.size).toBe(0)
  })

  test("works over SPDY unchanged and ends with the client", async () => {
    const headers = { ...(await bearer()), ...spdyOf("portforward.k8s.io") }
    const far = await openStream("/portForward/shop/web", headers, { method: "POST" })
    expect(far.headers["x-stream-protocol-version"]).toBe("portforward.k8s.io")
    const ping = [0x80, 0x03, 0x00, 0x06, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01]
    far.socket.write(Buffer.from(ping))
    const [data] = (await once(far.socket, "data")) as [Buffer]
    expect([...data]).toEqual(ping)
    expect(sockets.size).toBe(1)
    far.socket.destroy()
    await expect.poll(() => sockets.size).toBe(0)
  })

  test("works with a very long command", async () => {
    const headers = { ...(await bearer()), ...spdyOf("v4.channel.k8s.io") }
    const path = `/exec/shop/web/main?command=echo&command=${"a".repeat(60_000)}`
    const far = await openStream(path, headers, { method: "POST" })
    far.socket.destroy()
    await expect.poll(() => sockets.size).toBe(0)
  })

  test.each<[string, string, number]>([
    ["to another tenant's pod", "/exec/stolen/web/main?command=ls", 404],
    ["to a path that is not a stream", "/containerLogs/shop/web/main", 404],
    ["to all pods", "/pods", 404],
    ["that the kubelet refuses", "/exec/shop/web/main?command=ls", 403],
  ])("%s is rejected", async (_what, path, code) => {
    const headers = { ...(await bearer()), ...spdy }
    await expect(openStream(path, headers, { method: "POST" })).rejects.toMatchObject({ code })
  })

  test("without a token is rejected", async () => {
    await expect(openStream("/exec/shop/web/main", spdy)).rejects.toMatchObject({ code: 401 })
    expect(seen).toEqual([])
  })

  const follow = async (who = identity): Promise<IncomingMessage> => {
    const request = call("/containerLogs/shop/web/main?follow=true", await bearer(who))
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
    await expect.poll(() => sockets.size).toBeLessThanOrEqual(1)
  })

  test("beyond a tenant's limit is rejected until others end, and other tenants are not affected", async () => {
    const ofOther = await bearer({ tenant: "b", clusterKey: "ns-654321-b" })
    const log = "/containerLogs/shop/web/main"
    const command = { ...(await bearer()), ...spdyOf("v4") }
    const cat = "/exec/shop/web/main?command=cat"
    const { socket } = await openStream(cat, command)
    const followed = await Promise.all(Array.from({ length: 7 }, () => follow()))
    expect(followed.map(({ statusCode }) => statusCode)).toEqual(followed.map(() => 200))
    expect((await ask(log, await bearer())).code).toBe(429)
    await expect(openStream(cat, command)).rejects.toMatchObject({ code: 429 })
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
    const response = await follow()
    const [line] = (await once(response, "data")) as [Buffer]
    expect(line.toString()).toBe("line 1\n")
    const before = sockets.size
    response.destroy()
    await expect.poll(() => sockets.size).toBeLessThan(before)
  })

  test.each([
    ["log", "onLookup", "/containerLogs/shop/web/main?follow=true", {}],
    ["command", "onLookup", "/exec/shop/web/main?command=cat", spdyOf("v4")],
    ["log", "onToken", "/containerLogs/shop/web/main?follow=true", {}],
    ["command", "onToken", "/exec/shop/web/main?command=cat", spdyOf("v4")],
  ] as const)("a %s is not started for a client that has disconnected before: %s", async (_what, when, path, more) => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    superCluster[when] = () => {
      asked.resolve()
      return answered.promise
    }
    const request = call(path, { ...(await bearer()), ...more }, remoteAgent)
    const closed = Promise.withResolvers<void>()
    request.on("close", closed.resolve)
    request.on("error", () => undefined) // the request is destroyed
    request.end()
    await asked.promise
    request.destroy()
    await closed.promise
    // These connections are accepted after the agent has noticed the end of the first one.
    for (let turn = 0; turn < 3; turn++) expect((await ask("/healthz", {}, remoteAgent)).code).toBe(200)
    superCluster[when] = () => Promise.resolve()
    answered.resolve()
    // After this call the previous one is over.
    await ask("/containerLogs/shop/web/main", await bearer(), remoteAgent)
    expect(seen).toEqual([expect.stringContaining("/pods/web/log?container=main ")])
  })
})
