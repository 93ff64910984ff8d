// Limits that require a whole gateway: number of watches, lists that are too long to be collected, connections.

import { channel } from "node:diagnostics_channel"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { configMaps } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { connectionsOf } from "./connections/listener.ts"
import { configMap, startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

const limits = {
  maxLongRunning: 2,
  maxGatheredObjects: 5,
  maxGatheredBytes: 100_000,
  maxConnections: 6,
}

let fixture: TestGateway

beforeAll(async () => {
  fixture = await startTestGateway({ limits })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

const local = (tenant: TestTenant): KubeClient => fixture.gateway.tenants.client(tenant.tenant.name)

describe("the size of a list", () => {
  test("is limited if it is built in memory, also in pages, but not if it is streamed", async () => {
    const many = await fixture.createTenant("many")
    for (let index = 0; index < 8; index++) await local(many).create(configMaps, configMap(`c${index}`))
    const list = (accept: string, query = "") =>
      fixture.request(`/tenants/many/api/v1/namespaces/default/configmaps${query}`, { ...many, headers: { accept } })
    const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
    const refused = await list("application/json", "?pretty=true")
    expect(refused.code).toBe(413)
    expect(refused.json()).toMatchObject({ reason: "RequestEntityTooLarge" })
    const streamed = (await list("application/json")).json() as { items: unknown[] }
    expect(streamed.items.length).toBeGreaterThanOrEqual(8)
    const rows = ((await list(asTable)).json() as { rows: unknown[] }).rows
    expect(rows).toHaveLength(streamed.items.length)
    const page = (await list(asTable, "?limit=100")).json() as { rows: unknown[]; metadata: { continue: string } }
    expect(page.rows).toHaveLength(5)
    expect(page.metadata.continue).not.toBe("")
  })

  test("is limited in bytes, too", async () => {
    const large = await fixture.createTenant("large")
    for (let index = 0; index < 2; index++)
      await local(large).create(configMaps, configMap(`c${index}`, { text: "x".repeat(60_000) }))
    const list = (accept: string, query = "") =>
      fixture.request(`/tenants/large/api/v1/namespaces/default/configmaps${query}`, { ...large, headers: { accept } })
    const refused = await list("application/yaml")
    expect(refused.code).toBe(413)
    expect(refused.text).toContain("more than 100000 bytes")
    expect((await list("application/yaml", "?limit=1")).code).toBe(200)
    expect((await list("application/json")).code).toBe(200)
    expect((await list("application/vnd.kubernetes.protobuf")).code).toBe(200)
  })
})

describe("connections", () => {
  test("a tenant's watches are limited, independently of other tenants", async () => {
    const watching = await fixture.createTenant("watching")
    const path = "/tenants/watching/api/v1/configmaps?watch=true&timeoutSeconds="
    const streams = [fixture.request(`${path}600`, watching), fixture.request(`${path}600`, watching)]
    const ended = Promise.allSettled(streams)
    await expect.poll(async () => (await fixture.request(`${path}1`, watching)).code).toBe(429)
    const other = await fixture.createTenant("watching-too")
    const answer = await fixture.request("/tenants/watching-too/api/v1/configmaps?watch=true&timeoutSeconds=1", other)
    expect(answer.code).toBe(200)
    await fixture.gateway.tenants.delete("watching")
    await ended
  })

  test("with too many pipelined requests are closed without parsing the rest", async () => {
    const { hostname, port } = new URL(fixture.url)
    let read = 0
    const count = (message: unknown): void => {
      if ((message as { request: IncomingMessage }).request.url === "/sent-ahead") read++
    }
    channel("http.server.request.start").subscribe(count)
    onTestFinished(() => {
      channel("http.server.request.start").unsubscribe(count)
    })
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    socket.on("error", () => undefined) // reset
    socket.write("GET /sent-ahead HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000))
    await once(socket, "close")
    expect(read).toBe(18)
    expect((await fixture.request("/version")).code).toBe(200)
  })

  test.each([{ headersTimeoutMs: 20 }, { bodyTimeoutMs: 20 }])(
    "with a slow request are answered: %j",
    async (limits) => {
      await using own = await startTestGateway({ limits })
      const { hostname, port } = new URL(own.url)
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }).setEncoding("utf8")
      onTestFinished(() => void socket.destroy())
      socket.write("GET /version HTTP/1.1\r\n")
      const [answer] = (await once(socket, "data")) as [string]
      expect(answer).toMatch(/^HTTP\/1.1 408 /)
    },
  )

  test("above the limit are closed, and others stay open", async () => {
    const { hostname, port } = new URL(fixture.url)
    const open: TLSSocket[] = []
    onTestFinished(() => open.forEach((socket) => socket.destroy()))
    const tryOne = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
        open.push(socket)
        socket.once("secureConnect", () => resolve(true))
        socket.on("error", () => resolve(false))
        socket.once("close", () => resolve(false))
      })
    let accepted = 0
    while (await tryOne()) accepted++
    expect(accepted).toBeLessThanOrEqual(limits.maxConnections)
    open.shift()?.destroy()
    await expect.poll(tryOne).toBe(true)
  })

  test("are limited by the number of files that the process may open", () => {
    const asked = { maxConnections: 20_000, maxAwakeTenants: 1000 }
    expect(connectionsOf(asked, Infinity)).toBe(20_000)
    expect(connectionsOf(asked, 1_048_576)).toBe(20_000)
    expect(connectionsOf(asked, 20_000)).toBe(20_000 - 8_000 - 512)
    expect(connectionsOf(asked, 1024)).toBe(64)
  })
})
