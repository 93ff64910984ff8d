// An etcd that has no room left accepts only deletions until its alarm is taken back: nothing of a gateway but writes fails, and
// nothing is lost.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import { configMaps } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const room = 16 * 1024 * 1024
/** More of them than there is room for. */
const objects = { bytes: 500_000, count: 100 } as const
const namespace = "default"

const configMap = (name: string, bytes = 0): KubeObject & { data: Record<string, string> } => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data: { text: "x".repeat(bytes) },
})

/** As etcdctl does it, through etcd's JSON API. */
async function maintain(server: string, path: string, body: Record<string, unknown> = {}): Promise<Answer> {
  const response = await fetch(`${server}/v3/${path}`, { method: "POST", body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

interface Answer {
  header: { revision: string; member_id: string }
}

/** Creates objects until one is refused; returns the names of the others, and the refusal. */
async function fill(client: KubeClient): Promise<{ names: string[]; refusal: unknown }> {
  const names: string[] = []
  for (let index = 0; index < objects.count; index++) {
    try {
      await client.create(configMaps, configMap(`large-${index}`, objects.bytes))
    } catch (refusal) {
      return { names, refusal }
    }
    names.push(`large-${index}`)
  }
  throw new Error("there was room for all of them")
}

describe.skipIf(lacks(["etcd"]))("an etcd without room", () => {
  test("refuses writes clearly, reads and deletions go on, and no event is lost", { timeout: 240_000 }, async () => {
    await using etcd = await TestEtcd.start({ flags: [`--quota-backend-bytes=${room}`] })
    await using gateway = await startTestGateway({ etcd: { servers: etcd.servers }, superCluster: false })
    const tenant = await gateway.createTenant("tenant")
    const client = gateway.client("/tenants/tenant", tenant)
    const { metadata } = await client.list(configMaps, { namespace })
    const ending = new AbortController()
    const seen: string[] = []
    const watching = (async () => {
      const options = { namespace, resourceVersion: metadata.resourceVersion, signal: ending.signal }
      for await (const { type, object } of client.watch(configMaps, options))
        seen.push(`${type} ${object.metadata.name}`)
    })().catch((error: unknown) => {
      if (!ending.signal.aborted) seen.push(String(error))
    })

    const { names, refusal } = await fill(client)
    expect(refusal).toBeInstanceOf(StatusError)
    expect(refusal).toMatchObject({
      code: 503,
      message: expect.stringMatching(/the store cannot be used at the moment$/),
    })
    await expect(client.create(configMaps, configMap("small"))).rejects.toMatchObject({ code: 503 })
    await expect(gateway.createTenant("other")).rejects.toThrow(/database space exceeded/)
    const { items } = await client.list(configMaps, { namespace })
    expect(new Set(items.map((item) => item.metadata.name))).toEqual(new Set(["kube-root-ca.crt", ...names]))
    for (const name of names) await client.delete(configMaps, namespace, name)

    const [server = ""] = etcd.servers
    const { header } = await maintain(server, "maintenance/status")
    await maintain(server, "kv/compaction", { revision: header.revision, physical: true })
    await maintain(server, "maintenance/defragment")
    await maintain(server, "maintenance/alarm", { action: "DEACTIVATE", memberID: header.member_id, alarm: "NOSPACE" })
    await client.create(configMaps, configMap("small"))
    await gateway.createTenant("other")
    const events = ["ADDED", "DELETED"].flatMap((type) => names.map((name) => `${type} ${name}`))
    const all = [...events, "ADDED small"]
    await eventually(() => seen.length >= all.length)
    ending.abort()
    await watching
    expect(seen).toEqual(all)
  })
})
