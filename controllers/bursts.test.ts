// What controllers do in a burst of changes does not grow with its square.

import { expect, test, vi } from "vitest"
import type { KubeObject, Pod, ResourceSlice } from "../apimachinery/object.ts"
import type { Resource } from "../client/rest.ts"
import { jobs, podDisruptionBudgets, pods, resourceClaims, resourceSlices } from "../client/resources.ts"
import { TenantInformer } from "../client/informers/tenant-informer.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { startHarness, type Harness } from "./testing/harness.ts"

const size = 200
/** Square: 40,000. Before there are 50 objects, rounds do not wait for further changes. */
const most = 4_000
const each = Array.from({ length: size }, (_, n) => n)

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The number of objects that are taken from the caches meanwhile. */
async function change(harness: Harness, resource: Resource, step: (object: KubeObject) => Promise<unknown>) {
  await turns()
  using list = vi.spyOn(TenantInformer.prototype, "list")
  using byIndex = vi.spyOn(TenantInformer.prototype, "byIndex")
  for (const found of harness.cluster.all(resource)) {
    await step(found)
    await turns()
  }
  return [...list.mock.results, ...byIndex.mock.results].reduce(
    (sum, { value }) => sum + (value as unknown[]).length,
    0,
  )
}

const named = (name: string, { metadata, ...more }: { metadata?: object } & Record<string, unknown>): KubeObject =>
  ({ metadata: { name, namespace: "default", ...metadata }, ...more }) as KubeObject

test("pods of a PodDisruptionBudget become ready", async () => {
  await using harness = await startHarness({ only: ["disruption"], clock: new FakeClock() })
  const selector = { matchLabels: { app: "web" } }
  await harness.create(podDisruptionBudgets, named("web", { spec: { minAvailable: 1, selector } }))
  for (const n of each)
    await harness.create(pods, named(`p${n}`, { metadata: { labels: selector.matchLabels }, spec: {} }))
  const reads = await change(harness, pods, (pod) => harness.setPod(pod as Pod, "Running", true))
  expect(reads).toBeLessThan(most)
})

test("pods of a Job finish", async () => {
  await using harness = await startHarness({ only: ["job"], clock: new FakeClock() })
  const template = { spec: { restartPolicy: "Never", containers: [] } }
  const spec = { parallelism: 0, completions: size, selector: { matchLabels: { app: "web" } }, template }
  const { metadata } = await harness.create(jobs, named("work", { apiVersion: "batch/v1", kind: "Job", spec }))
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "work", uid: metadata.uid, controller: true }
  await turns()
  for (const n of each) {
    await harness.create(
      pods,
      named(`p${n}`, { metadata: { ownerReferences: [owner] }, spec: {}, status: { phase: "Running" } }),
    )
  }
  const reads = await change(harness, pods, (pod) => harness.setPod(pod as Pod, "Succeeded", false))
  expect(reads).toBeLessThan(most)
})

test("pools of devices change that pods use", async () => {
  await using harness = await startHarness({ only: ["device-taint-eviction"] })
  for (const n of each) {
    const place = { driver: "d", pool: `p${n}`, device: "gpu" }
    const pool = { name: place.pool, generation: 1, resourceSliceCount: 1 }
    await harness.create(resourceSlices, {
      metadata: { name: `s${n}` },
      spec: { driver: "d", pool, devices: [{ name: "gpu" }] },
    } as unknown as KubeObject)
    const resourceClaim = { name: "gpu", resourceClaimName: `c${n}` }
    const { metadata } = await harness.create(
      pods,
      named(`p${n}`, { spec: { nodeName: "n", resourceClaims: [resourceClaim] } }),
    )
    const reservedFor = [{ resource: "pods", name: `p${n}`, uid: metadata.uid }]
    const status = { allocation: { devices: { results: [place] } }, reservedFor }
    await harness.create(resourceClaims, named(`c${n}`, { status }))
  }
  const relabel = (slice: KubeObject): Promise<ResourceSlice> =>
    harness.change<ResourceSlice>(resourceSlices, undefined, slice.metadata.name ?? "", {
      metadata: { labels: { a: "b" } },
    })
  expect(await change(harness, resourceSlices, relabel)).toBeLessThan(most)
})
