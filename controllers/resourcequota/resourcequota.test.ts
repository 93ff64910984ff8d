import { expect, test } from "vitest"
import type { KubeObject, ResourceQuota } from "../../apimachinery/object.ts"
import { internalError } from "../../apimachinery/status.ts"
import { deviceClasses, resourceClaims, pods, resourceQuotas, secrets, services } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { widgets } from "../testing/widgets.ts"

const usedOf = (harness: Harness): unknown =>
  harness.cluster.find<ResourceQuota>(resourceQuotas, "default", "q")!.status?.used

function pod(name: string): KubeObject {
  const resources = { requests: { cpu: "250m", memory: "64Mi" } }
  const spec = { containers: [{ name: "c", resources }] }
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec }
}

test("a quota's usage is recounted when objects are deleted or pods finish", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  for (const name of ["a", "b", "c"]) await harness.create(pods, pod(name))
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } }
  await harness.create(secrets, secret)
  const hard = { pods: "10", "requests.cpu": "2", "requests.memory": "1Gi", secrets: "5", "count/configmaps": "3" }
  const metadata = { name: "q", namespace: "default" }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } })
  await eventually(() => {
    expect(usedOf(harness)).toEqual({
      pods: "3",
      "requests.cpu": "750m",
      "requests.memory": "192Mi",
      secrets: "1",
      "count/configmaps": "0",
    })
  })
  await harness.cluster.delete(pods, "default", "a")
  await harness.setPod(harness.cluster.find(pods, "default", "b")!, "Succeeded", false)
  await harness.cluster.delete(secrets, "default", "s")
  await eventually(() => expect(usedOf(harness)).toMatchObject({ pods: "1", "requests.cpu": "250m", secrets: "0" }))
})

test("usage that admission has reserved for an object in progress is kept", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  const metadata = { name: "q", namespace: "default" }
  const hard = { services: "1" }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } })
  await eventually(() => expect(usedOf(harness)).toEqual({ services: "0" }))
  const raised = { ...harness.cluster.find(resourceQuotas, "default", "q")!, status: { hard, used: { services: "1" } } }
  await harness.cluster.update(resourceQuotas, raised, { subresource: "status" })
  // A second quota that is counted later, so that the first one has been processed by then.
  await harness.create(resourceQuotas, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { ...metadata, name: "r" },
    spec: { hard },
  })
  await eventually(() =>
    expect(harness.cluster.find<ResourceQuota>(resourceQuotas, "default", "r")!.status?.used).toEqual({
      services: "0",
    }),
  )
  expect(usedOf(harness)).toEqual({ services: "1" })
})

test("what cannot be listed keeps a quota in force for the rest, and its usage as it was", async () => {
  const clock = new FakeClock()
  const cluster = new FakeCluster({ clock })
  cluster.extra.push({ ...widgets, verbs: [...widgets.verbs, "create"] })
  const broken = internalError("conversion webhook failed")
  cluster.fail = (verb, resource) => (verb === "list" && resource === "widgets" ? broken : undefined)
  await using harness = await startHarness({ only: ["resourcequota"], clock, cluster })
  await harness.create(pods, pod("a"))
  const hard = { pods: "5", "count/widgets.example.com": "3" }
  const metadata = { name: "q", namespace: "default" }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } })
  const status = (): unknown => cluster.find<ResourceQuota>(resourceQuotas, "default", "q")!.status
  await eventually(() => expect(status()).toEqual({ hard, used: { pods: "1" } }))
  const counted = async (used: object): Promise<void> =>
    eventually(() => {
      clock.advance(1_000)
      expect(status()).toEqual({ hard, used })
    })
  cluster.fail = undefined
  await counted({ pods: "1", "count/widgets.example.com": "0" })
  cluster.fail = (verb, resource) => (verb === "list" && resource === "widgets" ? broken : undefined)
  await harness.create(pods, pod("b"))
  await counted({ pods: "2", "count/widgets.example.com": "0" })
})

test("what is made while a quota is counted for the first time is counted soon", async () => {
  const clock = new FakeClock()
  const beforehand = clock.now()
  await using harness = await startHarness({ only: ["resourcequota"], clock })
  const update = harness.cluster.update.bind(harness.cluster)
  let isFirst = true
  harness.cluster.update = async (resource, object, options) => {
    // Admission does not charge it yet.
    if (resource === resourceQuotas && isFirst) {
      isFirst = false
      await harness.create(pods, pod("a"))
    }
    return update(resource, object, options)
  }
  const metadata = { name: "q", namespace: "default" }
  await harness.create(resourceQuotas, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata,
    spec: { hard: { pods: "5" } },
  })
  await eventually(() => expect(usedOf(harness)).toEqual({ pods: "0" }))
  await eventually(() => {
    clock.advance(100)
    expect(usedOf(harness)).toEqual({ pods: "1" })
  })
  expect(clock.now()).toBeLessThan(beforehand + 60_000)
})

const ofWidgets = "count/widgets.example.com"

/** In a cluster whose widgets cannot be listed, after many attempts. */
async function startWithFailures(clock: FakeClock): Promise<{ harness: Harness; attempts: () => number }> {
  const cluster = new FakeCluster({ clock })
  cluster.extra.push({ ...widgets, verbs: [...widgets.verbs, "create"] })
  const broken = internalError("conversion webhook failed")
  cluster.fail = (verb, resource) => (verb === "list" && resource === "widgets" ? broken : undefined)
  const harness = await startHarness({ only: ["resourcequota"], clock, cluster })
  const attempts = (): number => cluster.calls.get("list widgets") ?? 0
  const metadata = { name: "q", namespace: "default" }
  const hard = { pods: "5", services: "5", [ofWidgets]: "5" }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } })
  await eventually(() => {
    clock.advance(1_000_000)
    expect(attempts()).toBeGreaterThan(25)
  })
  return { harness, attempts }
}

test.each([false, true])(
  "an object that was being stored while others were recounted is counted soon, also if some cannot be (%s)",
  async (isFailing) => {
    const clock = new FakeClock()
    const start = async (): Promise<Harness> =>
      isFailing ? (await startWithFailures(clock)).harness : startHarness({ only: ["resourcequota"], clock })
    await using harness = await start()
    await harness.create(pods, pod("a"))
    const hard = { pods: "5", services: "5", ...(isFailing ? { [ofWidgets]: "5" } : {}) }
    const of = { name: "q", namespace: "default" }
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: of, spec: { hard } }
    if (!isFailing) await harness.create(resourceQuotas, quota)
    await eventually(() => {
      if (isFailing) clock.advance(1_000)
      expect(usedOf(harness)).toEqual({ pods: "1", services: "0" })
    })
    const beforehand = clock.now()
    const status = { hard, used: { pods: "1", services: "1" } }
    const current = harness.cluster.find(resourceQuotas, "default", "q")!
    await harness.cluster.update(resourceQuotas, { ...current, status } as KubeObject, { subresource: "status" })
    await harness.cluster.delete(pods, "default", "a")
    await eventually(() => expect(usedOf(harness)).toEqual({ pods: "0", services: "0" }))
    const metadata = { name: "s", namespace: "default" }
    await harness.create(services, { apiVersion: "v1", kind: "Service", metadata })
    await eventually(() => {
      clock.advance(100)
      expect(usedOf(harness)).toEqual({ pods: "0", services: "1" })
    })
    expect(clock.now()).toBeLessThan(beforehand + 60_000)
  },
)

test("a quota of what cannot be listed is counted as often as others", async () => {
  const clock = new FakeClock()
  const { harness, attempts } = await startWithFailures(clock)
  await using _ = harness
  const another = async (): Promise<number> => {
    const [before, since] = [attempts(), clock.now()]
    await eventually(() => {
      clock.advance(1_000)
      expect(attempts()).toBeGreaterThan(before)
    })
    return clock.now() - since
  }
  await another()
  expect(await another()).toBeLessThan(400_000)
})

test("a pod with reduced requests counts less", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  await harness.create(pods, pod("a"))
  const holding = async (cpu: string): Promise<void> => {
    const status = { phase: "Running", containerStatuses: [{ name: "c", resources: { requests: { cpu } } }] }
    await harness.cluster.update(pods, { ...harness.cluster.find(pods, "default", "a")!, status } as KubeObject, {
      subresource: "status",
    })
  }
  await holding("1")
  const metadata = { name: "q", namespace: "default" }
  const hard = { "requests.cpu": "2" }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard } })
  await eventually(() => expect(usedOf(harness)).toEqual({ "requests.cpu": "1" }))
  await holding("250m")
  await eventually(() => expect(usedOf(harness)).toEqual({ "requests.cpu": "250m" }))
})

test("a pod that gets a deadline leaves the quota of those without", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  await harness.create(pods, pod("a"))
  const metadata = { name: "q", namespace: "default" }
  const spec = { hard: { pods: "2" }, scopes: ["NotTerminating"] }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec } as KubeObject)
  await eventually(() => expect(usedOf(harness)).toEqual({ pods: "1" }))
  const patch = { spec: { activeDeadlineSeconds: 100 } }
  await harness.cluster.patch(pods, "default", "a", patch, { type: "merge" })
  await eventually(() => expect(usedOf(harness)).toEqual({ pods: "0" }))
})

test("a quota that its finalizers hold is still counted", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  await harness.create(pods, pod("a"))
  const metadata = { name: "q", namespace: "default", finalizers: ["example.com/hold"] }
  const spec = { hard: { pods: "2", "count/events": "1" } }
  await harness.create(resourceQuotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec } as KubeObject)
  await eventually(() => expect(usedOf(harness)).toEqual({ pods: "1" }))
  await harness.cluster.delete(resourceQuotas, "default", "q")
  await harness.cluster.delete(pods, "default", "a")
  await eventually(() => expect(usedOf(harness)).toEqual({ pods: "0" }))
})

test("claims of devices count by the extended resource that their class offers", async () => {
  await using harness = await startHarness({ only: ["resourcequota"] })
  const apiVersion = "resource.k8s.io/v1"
  const gold = {
    apiVersion,
    kind: "DeviceClass",
    metadata: { name: "gold" },
    spec: { extendedResourceName: "a.b/gpu" },
  }
  await harness.create(deviceClasses, gold)
  const requests = [{ name: "r", exactly: { deviceClassName: "gold", count: 2 } }]
  const metadata = { name: "c", namespace: "default" }
  await harness.create(resourceClaims, { apiVersion, kind: "ResourceClaim", metadata, spec: { devices: { requests } } })
  const hard = { "requests.a.b/gpu": "3", "requests.deviceclass.resource.kubernetes.io/gold": "3" }
  const quota = {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "q", namespace: "default" },
    spec: { hard },
  }
  await harness.create(resourceQuotas, quota as KubeObject)
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, "2"]))
  await eventually(() => expect(usedOf(harness)).toEqual(used))
})
