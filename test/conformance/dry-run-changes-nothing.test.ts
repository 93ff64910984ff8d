import { expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

test("a dry run answers as if it were done, and nothing is", async () => {
  await using gateway = await startTestGateway()
  const tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  const object = (name: string, data: Record<string, string>): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data,
  })
  const kept = await client.create(configMaps, object("kept", { a: "1" }))
  const dryRun = { dryRun: true }
  const made = await client.create(configMaps, object("x", {}), dryRun)
  expect(made.metadata.uid).toBeDefined()
  await expect(client.create(configMaps, object("kept", {}), dryRun)).rejects.toMatchObject({ reason: "AlreadyExists" })
  expect((await client.update(configMaps, object("kept", { a: "2" }), dryRun)).data).toEqual({ a: "2" })
  const patch = await client.patch<ConfigMap>(
    configMaps,
    "default",
    "kept",
    { data: { b: "3" } },
    { type: "merge", dryRun: true },
  )
  expect(patch.data).toEqual({ a: "1", b: "3" })
  const answer = await gateway.request("/tenants/a/api/v1/namespaces/default/configmaps/kept?dryRun=All", {
    ...tenant,
    method: "DELETE",
  })
  expect(answer.code).toBe(200)
  expect(await client.get(configMaps, "default", "kept")).toEqual(kept)
  await expect(client.get(configMaps, "default", "x")).rejects.toMatchObject({ code: 404 })

  const wrong = await gateway.request("/tenants/a/api/v1/namespaces/default/configmaps?dryRun=maybe", {
    ...tenant,
    method: "POST",
    body: object("x", {}),
  })
  expect(wrong.json()).toMatchObject({
    code: 422,
    message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["maybe"]: supported values: "All"',
  })
})
