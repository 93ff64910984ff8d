import { expect, test } from "vitest"
import { notFound, serviceUnavailable } from "../apimachinery/status.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { createPodUsage } from "./pod-usage.ts"

const tenant = { name: "a", clusterKey: "default-a" } as Tenant

const measuring = (list: (...args: unknown[]) => Promise<unknown>) =>
  createPodUsage({ list } as unknown as KubeClient, tenant)

test("a namespace is measured by its namespace in the super cluster", async () => {
  const asked: unknown[] = []
  const item = { metadata: { name: "web", labels: { a: "b" } }, timestamp: "t", window: "15s", containers: [] }
  const source = measuring((resource, options) => {
    asked.push(resource, (options as { namespace: string }).namespace)
    return Promise.resolve({ items: [item, { metadata: { name: "new" } }] })
  })
  expect(await source.ofNamespace("shop", new AbortController().signal)).toEqual([
    { name: "web", timestamp: "t", window: "15s", containers: [] },
    { name: "new", timestamp: "", window: "0s", containers: [] },
  ])
  expect(asked).toEqual([
    { group: "metrics.k8s.io", version: "v1beta1", resource: "pods", namespaced: true },
    "default-a-shop",
  ])
})

test.each([
  ["has no metrics API", notFound({ group: "metrics.k8s.io", resource: "pods" }, "")],
  ["cannot be reached", new Error("connect ECONNREFUSED 10.1.2.3:443")],
])("nothing is said of a super cluster that %s", async (_what, error) => {
  const source = measuring(() => Promise.reject(error))
  await expect(source.ofNamespace("shop", new AbortController().signal)).rejects.toEqual(
    serviceUnavailable("the metrics API of the super cluster is not available"),
  )
})
