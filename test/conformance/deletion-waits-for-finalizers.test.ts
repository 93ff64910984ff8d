import { expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

test("an object with finalizers stays, marked, until the last one is taken off", async () => {
  await using gateway = await startTestGateway()
  const tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  const finalizers = ["example.com/a", "example.com/b"]
  await client.create<ConfigMap>(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace: "default", finalizers },
  })
  await client.delete(configMaps, "default", "x")
  const marked = await client.get<ConfigMap>(configMaps, "default", "x")
  expect(marked.metadata.deletionTimestamp).toBeDefined()
  await client.delete(configMaps, "default", "x")

  const set = (left: string[]) =>
    client.patch<ConfigMap>(configMaps, "default", "x", { metadata: { finalizers: left } }, { type: "merge" })
  await expect(set([...finalizers, "example.com/c"])).rejects.toThrow("no new finalizers can be added")
  await set(["example.com/b"])
  await client.get(configMaps, "default", "x")
  await set([])
  await expect(client.get(configMaps, "default", "x")).rejects.toMatchObject({ code: 404 })
})
