import { expect, test } from "vitest"
import { notFound, serviceUnavailable } from "../apimachinery/status.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { eventually } from "../test/harness/eventually.ts"
import { SuperPodUsage } from "./pod-usage.ts"

const tenant = { name: "a", clusterKey: "default-a" } as Tenant
const missing = notFound({ group: "metrics.k8s.io", resource: "pods" }, "")

const measuring = (client: Record<string, (...args: unknown[]) => Promise<unknown>>) =>
  new SuperPodUsage(client as unknown as KubeClient)

test("a namespace is measured by its namespace in the super cluster", async () => {
  const asked: unknown[] = []
  const item = { metadata: { name: "web", labels: { a: "b" } }, timestamp: "t", window: "15s", containers: [] }
  const list = (resource: unknown, options: unknown) => {
    asked.push(resource, (options as { namespace: string }).namespace)
    return Promise.resolve({ items: [item, { metadata: { name: "new" } }] })
  }
  expect(await measuring({ list }).of(tenant).ofNamespace("shop", new AbortController().signal)).toEqual([
    { name: "web", timestamp: "t", window: "15s", containers: [] },
    { name: "new", timestamp: "", window: "0s", containers: [] },
  ])
  expect(asked).toEqual([
    { group: "metrics.k8s.io", version: "v1beta1", resource: "pods", namespaced: true },
    "default-a-shop",
  ])
})

test.each([
  ["has no metrics API", missing],
  ["cannot be reached", new Error("connect ECONNREFUSED 10.1.2.3:443")],
])("nothing is said of a super cluster that %s", async (_what, error) => {
  const source = measuring({ list: () => Promise.reject(error) }).of(tenant)
  await expect(source.ofNamespace("shop", new AbortController().signal)).rejects.toEqual(
    serviceUnavailable("the metrics API of the super cluster is not available"),
  )
})

test("the API is there from when the super cluster has it until it has none, also while it is unavailable", async () => {
  const clock = new FakeClock()
  let answer: () => Promise<unknown> = () => Promise.reject(missing)
  let looks = 0
  const usage = measuring({
    raw: () => {
      looks++
      return answer()
    },
  })
  const seen: boolean[] = []
  const forget = usage.onChange(() => seen.push(usage.isServed))
  const ending = new AbortController()
  const following = usage.follow(ending.signal, clock)
  const look = async (next: () => Promise<unknown>): Promise<void> => {
    const before = looks
    answer = next
    await eventually(() => {
      clock.advance(10_000)
      return looks > before
    })
  }
  await look(() => Promise.resolve({}))
  await look(() => Promise.reject(serviceUnavailable("for a moment")))
  await look(() => Promise.reject(missing))
  await look(() => Promise.resolve({}))
  await eventually(() => seen.length === 3)
  expect(seen).toEqual([true, false, true])
  forget()
  ending.abort()
  await following
})
