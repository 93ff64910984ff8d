import { expect, test } from "vitest"
import type { ConfigMap, KubeObject } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

test("an update made from an old version is refused, one that names none overwrites, and patches start over", async () => {
  await using gateway = await startTestGateway()
  const tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  const object = (data: Record<string, string>, resourceVersion?: string): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace: "default", ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data,
  })
  const first = await client.create(configMaps, object({ n: "0" }))
  await client.update(configMaps, object({ n: "1" }, first.metadata.resourceVersion))
  await expect(client.update(configMaps, object({ n: "2" }, first.metadata.resourceVersion))).rejects.toMatchObject({
    code: 409,
    reason: "Conflict",
    message:
      'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
  })
  await client.update(configMaps, object({ n: "3" }))
  const keys = Array.from({ length: 10 }, (_, i) => `k${i}`)
  await Promise.all(
    keys.map((key) => client.patch(configMaps, "default", "x", { data: { [key]: "x" } }, { type: "merge" })),
  )
  const last = await client.get<KubeObject & { data: object }>(configMaps, "default", "x")
  expect(Object.keys(last.data).sort()).toEqual([...keys, "n"].sort())
  const racing = await Promise.all(keys.map((key) => client.update(configMaps, object({ [key]: "y" }))))
  expect(racing.map(({ data }) => data)).toEqual(keys.map((key) => ({ [key]: "y" })))
})
