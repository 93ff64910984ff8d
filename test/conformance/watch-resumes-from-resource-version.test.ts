import { expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

test("every change after a version comes once, in order, whenever the watch begins", async () => {
  await using gateway = await startTestGateway()
  const tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  const object = (name: string, n: number): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data: { n: String(n) },
  })
  const { metadata } = await client.list<ConfigMap>(configMaps, { namespace: "default" })

  /** The next `count` changes after a version, and the version of the last one. */
  async function follow(resourceVersion: string, count: number): Promise<{ seen: string[]; last: string }> {
    const abort = new AbortController()
    const seen: string[] = []
    let last = resourceVersion
    for await (const event of client.watch<ConfigMap>(configMaps, {
      namespace: "default",
      resourceVersion,
      signal: abort.signal,
    })) {
      seen.push(`${event.type} ${event.object.metadata.name} ${event.object.data?.["n"]}`)
      last = event.object.metadata.resourceVersion ?? ""
      if (seen.length === count) abort.abort()
    }
    return { seen, last }
  }

  await client.create(configMaps, object("x", 0))
  await client.update(configMaps, object("x", 1))
  const first = await follow(metadata.resourceVersion, 2)
  expect(first.seen).toEqual(["ADDED x 0", "MODIFIED x 1"])

  const live = follow(first.last, 3)
  await client.update(configMaps, object("x", 2))
  await client.create(configMaps, object("y", 0))
  await client.delete(configMaps, "default", "x")
  const second = await live
  expect(second.seen).toEqual(["MODIFIED x 2", "ADDED y 0", "DELETED x 2"])
  expect((await follow(first.last, 3)).seen).toEqual(second.seen)
})
