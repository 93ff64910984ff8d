import { describe, expect, test } from "vitest"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import {
  forbidden,
  internalError,
  methodNotAllowed,
  serviceUnavailable,
  timeout,
  tooManyRequests,
} from "../../apimachinery/status.ts"
import { deployments, podDisruptionBudgets, pods } from "../../client/resources.ts"
import { eventually, startHarness, type Harness, eventTexts } from "../testing/harness.ts"
import type { Budget } from "./status.ts"

const labels = { app: "web" }

function budget(spec: object): KubeObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { matchLabels: labels }, ...spec },
  }
}

const pod = (name: string, ownerReferences?: object[]): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
    spec: {},
  }) as KubeObject

const deployment = (replicas: number): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } },
})

const statusOf = (harness: Harness): object =>
  harness.cluster.find<Budget>(podDisruptionBudgets, "default", "web")!.status ?? {}

const hasReason = (object: KubeObject | undefined, reason: string): boolean =>
  (object as Budget | undefined)?.status?.conditions?.some((condition) => condition.reason === reason) === true

const widgets = { group: "example.com", version: "v1", resource: "widgets", namespaced: true }

async function runAll(harness: Harness, count: number): Promise<void> {
  await eventually(() => expect(harness.cluster.all(pods)).toHaveLength(count))
  for (const each of harness.cluster.all<Pod>(pods)) await harness.setPod(each, "Running", true)
}

describe("a PodDisruptionBudget", () => {
  test.each([
    [{ minAvailable: 2 }, { expectedPods: 5, desiredHealthy: 2, currentHealthy: 5, disruptionsAllowed: 3 }],
    [{ minAvailable: "50%" }, { expectedPods: 5, desiredHealthy: 3, currentHealthy: 5, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 1 }, { expectedPods: 5, desiredHealthy: 4, currentHealthy: 5, disruptionsAllowed: 1 }],
    [{ maxUnavailable: "30%" }, { expectedPods: 5, desiredHealthy: 3, currentHealthy: 5, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 9 }, { expectedPods: 5, desiredHealthy: 0, currentHealthy: 5, disruptionsAllowed: 5 }],
  ])("with %j uses the Deployment's size", async (spec, status) => {
    await using harness = await startHarness({ only: ["disruption", "deployment", "replicaset"] })
    await harness.create(deployments, deployment(5))
    await runAll(harness, 5)
    await harness.create(podDisruptionBudgets, budget(spec))
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({
        ...status,
        observedGeneration: 1,
        conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods", observedGeneration: 1 }],
      })
    })
  })

  test("counts its pods", async () => {
    await using harness = await startHarness({ only: ["disruption"] })
    await harness.create(podDisruptionBudgets, budget({ minAvailable: 1 }))
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({ expectedPods: 0, desiredHealthy: 1, disruptionsAllowed: 0 })
      expect(eventTexts(harness)).toContain("NoPods: No matching pods found")
    })
    await harness.create(pods, pod("a"))
    await harness.create(pods, pod("b"))
    await runAll(harness, 2)
    await eventually(() => expect(statusOf(harness)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 }))
    await harness.change(pods, "default", "b", { metadata: { labels: { app: "other" } } })
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({
        currentHealthy: 1,
        disruptionsAllowed: 0,
        conditions: [{ status: "False", reason: "InsufficientPods" }],
      })
    })
  })

  test("is counted again, though nothing changes, after what failed because of a request", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["disruption"], clock })
    let failures = 0
    harness.cluster.fail = (verb, resource, object) => {
      const isCounted =
        verb === "update" && resource === "poddisruptionbudgets" && hasReason(object, "InsufficientPods")
      return isCounted && failures++ < 3 ? internalError("not now") : undefined
    }
    await harness.create(podDisruptionBudgets, budget({ minAvailable: 1 }))
    await eventually(() => {
      clock.advance(1_000)
      expect(statusOf(harness)).toMatchObject({ conditions: [{ reason: "InsufficientPods" }] })
    })
    expect(failures).toBe(4)
  })

  test("is recounted when a pod stops matching, without an event", async () => {
    await using harness = await startHarness({ only: ["disruption"] })
    await harness.setPod(await harness.create<Pod>(pods, pod("web-1")), "Running", true)
    for (const name of ["web", "other"]) {
      const { spec, ...rest } = budget({ minAvailable: 1 })
      await harness.create(podDisruptionBudgets, { ...rest, metadata: { name, namespace: "default" }, spec })
    }
    await eventually(() => expect(statusOf(harness)).toMatchObject({ expectedPods: 1, currentHealthy: 1 }))
    await harness.change(pods, "default", "web-1", { metadata: { labels: { app: "else" } } })
    await eventually(() => expect(statusOf(harness)).toMatchObject({ expectedPods: 0, currentHealthy: 0 }))
    expect(eventTexts(harness).filter((text) => text.startsWith("MultiplePodDisruptionBudgets"))).toEqual([])
  })

  test("warns about pods without a controller", async () => {
    await using harness = await startHarness({ only: ["disruption"] })
    await harness.create(pods, pod("a"))
    await harness.create(podDisruptionBudgets, budget({ maxUnavailable: 1 }))
    await eventually(() => {
      expect(eventTexts(harness).join()).toContain(
        "(selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})",
      )
      expect(statusOf(harness)).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0 })
    })
  })

  test("reads the scale of custom resources, and allows no disruption without one", async () => {
    await using harness = await startHarness({ only: ["disruption"] })
    const kind: DiscoveredResource = { ...widgets, kind: "Widget", verbs: ["get"], hasScale: true }
    harness.cluster.extra.push(kind)
    const owner = await harness.create(widgets, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w", namespace: "default" },
      spec: { replicas: 4 },
    })
    const reference = { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: owner.metadata.uid }
    await harness.create(pods, pod("a", [{ ...reference, controller: true }]))
    await runAll(harness, 1)
    await harness.create(podDisruptionBudgets, budget({ maxUnavailable: 3 }))
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({ expectedPods: 4, desiredHealthy: 1, disruptionsAllowed: 0 })
    })
    await harness.cluster.delete(widgets, "default", "w")
    await harness.change(pods, "default", "a", { metadata: { annotations: { any: "change" } } })
    await eventually(() => {
      const message = 'found no controllers for pod "a"'
      expect(statusOf(harness)).toMatchObject({
        disruptionsAllowed: 0,
        conditions: [{ reason: "SyncFailed", message }],
      })
    })
    // API servers say in the same way that an object of it is not found.
    kind.hasScale = false
    await harness.change(pods, "default", "a", { metadata: { annotations: { any: "other change" } } })
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({
        disruptionsAllowed: 0,
        conditions: [{ reason: "SyncFailed", message: "widgets.example.com does not implement the scale subresource" }],
      })
    })
  })

  test.each([
    ["again", "503", serviceUnavailable("not now"), true],
    ["again", "429", tooManyRequests("not now", 1), true],
    ["again", "504", timeout("not now"), true],
    ["when something changes", "500", internalError('the spec replicas field ".spec.replicas" does not exist'), false],
    ["when something changes", "403", forbidden(widgets, "w", "denied"), false],
    ["when something changes", "405", methodNotAllowed(), false],
  ])("is counted %s after its scale was answered with %s", async (_when, _code, failure, isCounted) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["disruption"], clock })
    harness.cluster.extra.push({ ...widgets, kind: "Widget", verbs: ["get"], hasScale: true })
    let failures = 0
    harness.cluster.fail = (verb, resource) =>
      verb === "get" && resource === "widgets" && ++failures ? failure : undefined
    const reference = { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: "u" }
    await harness.create(pods, pod("a", [{ ...reference, controller: true }]))
    await harness.create(podDisruptionBudgets, budget({ maxUnavailable: 3 }))
    await eventually(() => expect(failures).toBe(2))
    for (let turn = 0; turn < 100; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(60_000)
    }
    expect(failures > 2).toBe(isCounted)
    expect(statusOf(harness)).toMatchObject({ conditions: [{ reason: "SyncFailed", message: failure.message }] })
  })

  test("counts an evicted pod as disrupted until it is deleted or times out", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["disruption"], clock })
    await harness.create(pods, pod("a"))
    await harness.create(pods, pod("b"))
    await runAll(harness, 2)
    await harness.create(podDisruptionBudgets, budget({ minAvailable: 1 }))
    await eventually(() => expect(statusOf(harness)).toMatchObject({ disruptionsAllowed: 1 }))
    const evicted = { disruptionsAllowed: 0, disruptedPods: { a: new Date(clock.now()).toISOString() } }
    const current = harness.cluster.find<Budget>(podDisruptionBudgets, "default", "web")!
    const status = { ...current.status!, ...evicted }
    await harness.cluster.update<Budget>(podDisruptionBudgets, { ...current, status }, { subresource: "status" })
    await eventually(() => expect(statusOf(harness)).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 }))
    clock.advance(121_000)
    await eventually(() => {
      expect(statusOf(harness)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 })
      expect(statusOf(harness)).not.toHaveProperty("disruptedPods")
      expect(eventTexts(harness)).toContain(
        "NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't",
      )
    })
  })
})

describe("a pod with the DisruptionTarget condition", () => {
  test("loses the condition if it is not deleted within two minutes", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["disruption"], clock })
    const created = await harness.create<Pod>(pods, pod("a"))
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "PreemptionByScheduler",
      lastTransitionTime: new Date(clock.now()).toISOString(),
    }
    await harness.cluster.update(pods, { ...created, status: { conditions: [condition] } } as unknown as Pod, {
      subresource: "status",
    })
    const found = (): unknown => harness.cluster.find<Pod>(pods, "default", "a")!.status!.conditions
    await eventually(() => {
      clock.advance(60_000)
      expect(found()).toMatchObject([{ type: "DisruptionTarget", status: "False" }])
    })
  })
})
