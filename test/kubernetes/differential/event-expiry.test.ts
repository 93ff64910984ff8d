// Events on servers that keep them for seconds.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { printDifferences } from "./compare.ts"
import type { Connection } from "./connection.ts"
import { compareScenario } from "./differential.ts"
import { get, mergePatch, post, type RequestStep, type Scenario, watch } from "./scenario.ts"
import { type Servers, startServers } from "./servers.ts"

const ttlSeconds = 3
const events = "/api/v1/namespaces/@{ns}/events"
const newEvents = "/apis/events.k8s.io/v1/namespaces/@{ns}/events"

const event = (name: string, namespace: string, metadata = {}) => ({
  metadata: { name, namespace, ...metadata },
  involvedObject: { namespace },
  reason: "Tested",
})

const gone = (name: string): RequestStep => get(`${events}/${name}`, { untilCode: 404 })

/** One after the other, since upstream deletes together, in any order, those that share a lease. */
const expiring: Scenario = {
  name: "Events expire",
  steps: [
    watch(events),
    watch(newEvents),
    post(events, event("plain", "@{ns}")),
    gone("plain"),
    post(events, event("held", "@{ns}", { finalizers: ["example.com/hold"], ownerReferences: [] })),
    gone("held"),
    post(newEvents, {
      metadata: { name: "new", namespace: "@{ns}" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/tester",
      reportingInstance: "tester-1",
      action: "Test",
      reason: "Tested",
      type: "Normal",
      regarding: { namespace: "@{ns}" },
    }),
    gone("new"),
    get(events),
    post(events, event("plain", "@{ns}")),
  ],
}

describe.skipIf(lacks(TestKubernetes.binaries()))("Events that nobody writes", () => {
  let servers: Servers

  beforeAll(async () => {
    servers = await startServers({
      apiServerFlags: [`--event-ttl=${ttlSeconds}s`],
      limits: { eventTtlMs: ttlSeconds * 1_000 },
    })
  })
  afterAll(() => servers?.[Symbol.asyncDispose]())

  test("are deleted by the server itself, which watches see", async () => {
    expect(printDifferences(await compareScenario(servers, expiring, { patienceMs: 60_000 }))).toBe("")
  })

  test.each(["kubernetes", "polyplane"] as const)("live longer if they are written, on %s", async (name) => {
    const server = servers[name]
    const path = "/api/v1/namespaces/default/events"
    const codeOf = async (of: string): Promise<number> => (await server.call("GET", `${path}/${of}`)).code
    for (const created of ["written", "left"])
      await send(server, "POST", path, "application/json", event(created, "default"))
    let count = 0
    do await send(server, "PATCH", `${path}/written`, mergePatch, { count: ++count })
    while ((await codeOf("left")) === 200)
    expect([await codeOf("written"), await codeOf("left")]).toEqual([200, 404])
    await expect.poll(() => codeOf("written")).toBe(404)
  })
})

async function send(server: Connection, method: string, path: string, type: string, body: object): Promise<void> {
  const { code } = await server.call(method, path, { headers: { "content-type": type }, body: JSON.stringify(body) })
  expect(code).toBeLessThan(300)
}
