import { expect, test, vi } from "vitest"
import { clusterLabel } from "../apimachinery/tenancy.ts"
import { namespaces } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { LabelledNamespaces } from "./labelled-namespaces.ts"

const create = (client: FakeCluster, name: string, key?: string) =>
  client.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, ...(key === undefined ? {} : { labels: { [clusterLabel]: key } }) },
  })

test("those who ask at the same time share a list, which begins after they have asked", async () => {
  const client = new FakeCluster({ isSuper: true })
  for (const [name, key] of [["a-1", "a"], ["b-1", "b"], ["none"]] as const) await create(client, name, key)
  const list = vi.spyOn(client, "list")
  const all = new LabelledNamespaces(client)
  const names = async (key: string) => (await all.of(key)).map(({ metadata }) => metadata.name)

  const held = Promise.withResolvers<Awaited<ReturnType<typeof client.list>>>()
  const before = await client.list(namespaces, { labelSelector: clusterLabel })
  list.mockClear().mockReturnValueOnce(held.promise)
  const first = names("a")
  await vi.waitUntil(() => list.mock.calls.length === 1)
  await create(client, "a-2", "a")
  const later = Promise.all([names("a"), names("b"), names("c")])
  held.resolve(before)
  expect(await first).toEqual(["a-1"])
  expect(await later).toEqual([["a-1", "a-2"], ["b-1"], []])
  expect(list).toHaveBeenCalledTimes(2)

  list.mockRejectedValueOnce(new Error("gone"))
  await expect(all.of("a")).rejects.toThrow("gone")
  expect(await names("b")).toEqual(["b-1"])
})
