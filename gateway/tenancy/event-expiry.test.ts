// Events of tenants expire on a real gateway, also while a tenant sleeps and after a restart.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { events } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { type Credential, startTestGateway } from "../testing/start-gateway.ts"

vi.setConfig({ testTimeout: 60_000 })

const limits = { tenantIdleMs: 40, eventTtlMs: 2_000 }
const waitFor = { timeout: 30_000, interval: 5 }

function create(client: KubeClient, name: string): Promise<KubeObject> {
  const metadata = { namespace: "default", name, finalizers: ["example.com/hold"] }
  return client.create<KubeObject>(events, {
    apiVersion: "v1",
    kind: "Event",
    metadata,
    involvedObject: { namespace: "default" },
  } as KubeObject)
}

test("a sleeping tenant is woken to delete its Events, which its watches see, and then sleeps for good", async () => {
  await using fixture = await startTestGateway({ limits })
  const { tenants } = fixture.gateway
  const { url: _, ...credential } = await fixture.createTenant("a", { controllers: false })
  const client = fixture.client("/tenants/a", credential)
  const ending = new AbortController()
  const seen: string[] = []
  const created = await create(client, "e1")
  const { resourceVersion = "" } = created.metadata
  const watching = (async () => {
    for await (const event of client.watch(events, { resourceVersion, signal: ending.signal }))
      if (event.type !== "BOOKMARK") seen.push(`${event.type} ${event.object.metadata.name}`)
  })().catch(() => undefined)
  await vi.waitFor(() => expect(tenants.awake).toBe(0), waitFor)
  expect(seen).toEqual([])
  await vi.waitFor(() => expect(seen).toEqual(["DELETED e1"]), waitFor)
  await vi.waitFor(() => expect(tenants.awake).toBe(0), waitFor)
  expect((await client.list(events)).items).toEqual([])
  ending.abort()
  await watching
})

test("Events of an earlier process are deleted, and so are those of the super cluster", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "polyplane-events-"))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  let credential: Credential
  {
    await using fixture = await startTestGateway({ dataDir })
    const { certificate = "", key = "" } = await fixture.createTenant("a", { controllers: false })
    credential = { certificate, key }
    await create(fixture.client("/tenants/a", credential), "e1")
    await create(fixture.client("", fixture.administrator), "e2")
  }
  await using fixture = await startTestGateway({ dataDir, limits })
  for (const client of [fixture.client("/tenants/a", credential), fixture.client("", fixture.administrator)])
    await vi.waitFor(async () => expect((await client.list(events)).items).toEqual([]), waitFor)
})
