import { expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

test("the pages of a list are one point in time, and say how much is left", async () => {
  await using gateway = await startTestGateway()
  const tenant = await gateway.createTenant("a")
  const client = gateway.client("/tenants/a", tenant)
  const create = (name: string) =>
    client.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "pages" },
    })
  await client.create(
    { group: "", version: "v1", resource: "namespaces", namespaced: false },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "pages" } },
  )
  for (const name of ["a", "b", "c", "d", "e"]) await create(name)

  const names: string[] = []
  const versions = new Set<string>()
  let token: string | undefined
  do {
    const page = await client.list<ConfigMap>(configMaps, {
      namespace: "pages",
      limit: 2,
      ...(token === undefined ? {} : { continue: token }),
    })
    names.push(...page.items.map(({ metadata }) => metadata.name ?? ""))
    versions.add(page.metadata.resourceVersion)
    token = page.metadata.continue
    if (token !== undefined) expect(names.length + (page.metadata.remainingItemCount ?? 0)).toBe(5)
    // The collection changes between the pages.
    await create(`between-${names.length}`)
    if (names.length === 2) await client.delete(configMaps, "pages", "d")
  } while (token !== undefined)
  expect(names).toEqual(["a", "b", "c", "d", "e"])
  expect(versions.size).toBe(1)
})
