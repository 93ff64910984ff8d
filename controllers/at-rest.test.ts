// An idle tenant costs nothing: it has no timers except for work that will be due, and its API receives no requests. The same with
// ten thousand tenants. The test counts work and does not measure time.

import { expect, test } from "vitest"
import { timestamp, type Deployment, type KubeObject } from "../apimachinery/object.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { configMaps, cronJobs, deployments, namespaces, resourceQuotas, services } from "../client/resources.ts"
import { controllerNames, startControllers } from "./main.ts"
import { eventually, harnessAuthority, startHarness, type Harness } from "./testing/harness.ts"
import { SleepingTenants } from "./testing/sleeping-tenants.ts"

/** Of the ten thousand tenants. */
const wokenCount = 300

const noon = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "noon", namespace: "default", uid: "noon", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { schedule: "0 12 * * *", jobTemplate: { spec: { template: { spec: { containers: [] } } } } },
} as unknown as KubeObject

const quota = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "q", namespace: "default", uid: "q" },
  spec: { hard: { configmaps: "5", "requests.example.com/gpu": "1" } },
} as unknown as KubeObject

/** A day at rest, during which a tenant that is woken falls asleep again at once. Returns how often that was. */
async function wakings(clock: FakeClock, tenants: SleepingTenants): Promise<number> {
  tenants.woken.length = 0
  for (let minute = 0; minute < 24 * 60; minute++) {
    clock.advance(60_000)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    tenants.rest()
  }
  return tenants.woken.length
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A Service and a Deployment whose pods run, with nothing left to do. Returns a function that counts calls. */
async function settle(harness: Harness, clock: FakeClock): Promise<() => number> {
  const labels = { app: "web" }
  await harness.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "default" },
  })
  await harness.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { clusterIP: "10.0.0.1", selector: labels, ports: [{ port: 80 }] },
  } as unknown as KubeObject)
  await harness.create(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      progressDeadlineSeconds: 600,
      template: { metadata: { labels }, spec: { containers: [] } },
    },
  } as unknown as KubeObject)
  const calls = (): number => [...harness.cluster.calls.values()].reduce((sum, count) => sum + count, 0)
  await eventually(async () => {
    await harness.runPods("default")
    const found = harness.cluster.find<Deployment>(deployments, "default", "web")
    expect(found?.status).toMatchObject({ availableReplicas: 3 })
  })
  await eventually(async () => {
    const before = calls()
    // Short retries end after a while.
    clock.advance(1_000)
    await turns()
    expect(calls()).toBe(before)
    expect(clock.timers).toBe(0)
  })
  return calls
}

test("a tenant whose deployments are available has no timers and makes no calls", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: controllerNames, clock })
  const calls = await settle(harness, clock)
  const before = calls()
  clock.advance(24 * 3_600_000)
  await turns()
  expect(calls()).toBe(before)
})

test("ten thousand sleeping tenants cause no work, and a due timer wakes only its own tenant", async () => {
  const clock = new FakeClock()
  const harness = await startHarness({ only: controllerNames, clock })
  const calls = await settle(harness, clock)
  await harness[Symbol.asyncDispose]()

  const names = Array.from({ length: 10_000 }, (_, index) => `tenant-${index}`)
  const tenants = new SleepingTenants(
    names,
    (tenant, resource) => (tenant === "tenant-77" && resource === cronJobs ? [noon] : harness.cluster.all(resource)),
    harness.cluster,
  )
  await using _controllers = startControllers(tenants, { rootCertificateAuthority: harnessAuthority, clock })
  // All tenants are known. What the woken tenants leave behind, all tenants would.
  for (const name of names.slice(0, wokenCount)) tenants.wake(name)
  await eventually(() => {
    clock.advance(1_000) // short retries
    expect([tenants.rest(), clock.timers]).toEqual([0, 1])
  })
  const before = calls()
  tenants.woken.length = 0
  clock.advance(11 * 3_600_000)
  await turns()
  expect([calls(), clock.timers, tenants.woken]).toEqual([before, 1, []])
  clock.advance(2 * 3_600_000)
  await eventually(() => expect(tenants.woken).toEqual(["tenant-77"]))
})

test.each(["resourcequota", "namespace"])(
  "a tenant sleeps that only a controller wants to look at again: %s",
  async (only) => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const deletionTimestamp = timestamp(new Date(clock.now()))
    await cluster.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "held", deletionTimestamp, finalizers: ["example.com/hold"] },
    } as KubeObject)
    await cluster.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace: "held", finalizers: ["example.com/hold"] },
    })
    await cluster.create(resourceQuotas, quota)
    const tenants = new SleepingTenants(["a"], (_tenant, resource) => cluster.all(resource), cluster)
    await using _controllers = startControllers(tenants, {
      rootCertificateAuthority: harnessAuthority,
      clock,
      only: [only],
    })
    tenants.wake("a")
    await eventually(() => expect(tenants.rest()).toBe(0))
    expect(await wakings(clock, tenants)).toBeLessThan(100)
  },
)
