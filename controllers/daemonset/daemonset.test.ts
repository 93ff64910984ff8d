import { describe, expect, test } from "vitest"
import type { KubeObject, Node, Pod } from "../../apimachinery/object.ts"
import { controllerRevisions, daemonSets, nodes, pods } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { canonical } from "../template-hash.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import type { DaemonSet } from "./types.ts"
import { daemonPod, nodeOf, placementOf } from "./placement.ts"

const only = ["daemonset", "garbage-collector"]
const node = (name: string, labels: Record<string, string> = {}, taints?: object[]): KubeObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec: taints === undefined ? {} : { taints },
})

function daemonSet(spec: object = {}, podSpec: object = {}): KubeObject {
  const labels = { app: "agent" }
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent", namespace: "default" },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }], ...podSpec } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      ...spec,
    },
  }
}

const placed = (harness: Harness): string[] =>
  harness.cluster
    .all<Pod>(pods)
    .map((pod) => nodeOf(pod) ?? "")
    .sort()
/** Like a scheduler. */
async function bindPods(harness: Harness): Promise<void> {
  for (const pod of harness.cluster.all<Pod>(pods)) {
    await harness.change(pods, "default", pod.metadata.name ?? "", { spec: { nodeName: nodeOf(pod) } })
  }
}
const images = (harness: Harness): string[] =>
  harness.cluster.all<Pod>(pods).map(({ spec }) => spec!.containers[0]!.image!)
const statusOf = (harness: Harness): DaemonSet["status"] =>
  harness.cluster.find<DaemonSet>(daemonSets, "default", "agent")!.status

/** The first pod is observed while the second revision is created. */
class LateCluster extends FakeCluster {
  podsCreated = 0
  #revisions = 0
  readonly #released = Promise.withResolvers<void>()
  readonly #observed = Promise.withResolvers<void>()

  override async create<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    if (resource.resource === "pods") this.podsCreated++
    if (resource.resource === "controllerrevisions" && ++this.#revisions === 2) {
      this.#released.resolve()
      await this.#observed.promise
    }
    return super.create<T>(resource, object)
  }

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    for await (const event of super.watch<T>(resource, options)) {
      if (resource.resource === "pods") await this.#released.promise
      yield event
      // Who asks for the next event has handled this one.
      if (resource.resource === "pods") this.#observed.resolve()
    }
  }
}

test("a DaemonSet on many nodes counts pods together that become ready together", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only, clock })
  for (let index = 0; index < 200; index++) await harness.create(nodes, node(`n${index}`))
  await harness.create(daemonSets, daemonSet())
  await eventually(() => {
    clock.advance(10)
    expect(statusOf(harness)).toMatchObject({ desiredNumberScheduled: 200, currentNumberScheduled: 200 })
  })
  const writes = (): number => harness.cluster.calls.get("update status of daemonsets") ?? 0
  const before = writes()
  for (const pod of harness.cluster.all<Pod>(pods)) await harness.setPod(pod, "Running", true)
  expect(writes()).toBe(before)
  await eventually(() => {
    clock.advance(10)
    expect(statusOf(harness)).toMatchObject({ numberReady: 200 })
  })
  expect(writes()).toBe(before + 1)
})

describe("a DaemonSet", () => {
  test("does not create pods again that are observed while it creates a revision", async () => {
    const cluster = new LateCluster()
    await using harness = await startHarness({ only: ["daemonset"], cluster })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet({ updateStrategy: { type: "OnDelete" } }))
    await eventually(() => expect(cluster.podsCreated).toBe(1))
    const containers = [{ name: "c", image: "two" }]
    await harness.change(daemonSets, "default", "agent", { spec: { template: { spec: { containers } } } })
    await eventually(() => expect(statusOf(harness)).toMatchObject({ observedGeneration: 2 }))
    expect(cluster.podsCreated).toBe(1)
  })

  test("has one pod on each node, including new nodes, and none on deleted nodes", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(nodes, node("b"))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a", "b"]))
    await harness.create(nodes, node("c"))
    await eventually(() => expect(placed(harness)).toEqual(["a", "b", "c"]))
    await eventually(async () => {
      await harness.runPods("default")
      expect(statusOf(harness)).toMatchObject({
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        numberReady: 3,
        numberAvailable: 3,
        updatedNumberScheduled: 3,
        numberMisscheduled: 0,
      })
    })
  })

  test("selects nodes by label and deletes the pod when the label is removed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a", { disk: "ssd" }))
    await harness.create(nodes, node("b"))
    await harness.create(daemonSets, daemonSet({}, { nodeSelector: { disk: "ssd" } }))
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    await bindPods(harness)
    await harness.change(nodes, undefined, "a", { metadata: { labels: { disk: null } } })
    await eventually(() => expect(placed(harness)).toEqual([]))
  })

  test("writes its history as upstream does, with sorted fields", async () => {
    await using harness = await startHarness({ only })
    await harness.create(daemonSets, daemonSet())
    const revisions = (): KubeObject[] => harness.cluster.all(controllerRevisions)
    await eventually(() => expect(revisions()).toHaveLength(1))
    const [revision] = revisions()
    expect(JSON.stringify(revision!["data"])).toBe(canonical(revision!["data"]))
  })

  test("is reconciled for a changed node only if its pods there change", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    await bindPods(harness)
    await eventually(() => expect(statusOf(harness)).toMatchObject({ desiredNumberScheduled: 1 }))
    const setTaints = (...taints: object[]): Promise<unknown> =>
      harness.change(nodes, undefined, "a", { spec: { taints: taints.length === 0 ? null : taints } })
    const reconciledWith = async (minReadySeconds: number): Promise<DaemonSet["status"]> => {
      const { metadata } = await harness.change(daemonSets, "default", "agent", { spec: { minReadySeconds } })
      await eventually(() => expect(statusOf(harness)).toMatchObject({ observedGeneration: metadata.generation }))
      return statusOf(harness)
    }
    await reconciledWith(1)
    await setTaints({ key: "new", effect: "NoSchedule" })
    // As upstream: the existing pod may stay, so the set is not reconciled until something else changes.
    await new Promise((resolve) => setImmediate(resolve))
    expect(statusOf(harness)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 })
    expect(await reconciledWith(2)).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 1 })
    await setTaints()
    await eventually(() =>
      expect(statusOf(harness)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 }),
    )
  })

  test("updates one node at a time", async () => {
    await using harness = await startHarness({ only })
    for (const name of ["a", "b", "c"]) await harness.create(nodes, node(name))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toHaveLength(3))
    await harness.runPods("default")
    await eventually(() => expect(statusOf(harness)?.numberAvailable).toBe(3))
    await harness.change(daemonSets, "default", "agent", {
      spec: { template: { spec: { containers: [{ name: "c", image: "two" }] } } },
    })
    await eventually(() => expect(images(harness).sort()).toEqual(["one", "one", "two"]))
    await eventually(async () => {
      await harness.runPods("default")
      expect(images(harness)).toEqual(["two", "two", "two"])
      expect(statusOf(harness)).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 })
    })
  })

  test("surges if allowed: the new pod is ready before the old one is deleted", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(
      daemonSets,
      daemonSet({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } }),
    )
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    await harness.runPods("default")
    await harness.change(daemonSets, "default", "agent", {
      spec: { template: { spec: { containers: [{ name: "c", image: "two" }] } } },
    })
    await eventually(() => expect(images(harness).sort()).toEqual(["one", "two"]))
    // The old pod counts until the new one replaces it.
    await eventually(() => expect(statusOf(harness)).toMatchObject({ numberAvailable: 1, observedGeneration: 2 }))
    expect(statusOf(harness)?.updatedNumberScheduled).toBeUndefined()
    await harness.runPods("default")
    await eventually(() => expect(images(harness)).toEqual(["two"]))
    await eventually(() => expect(statusOf(harness)?.updatedNumberScheduled).toBe(1))
  })

  test("deletes a pod whose node has been deleted when something else changes", async () => {
    await using harness = await startHarness({ only })
    for (const name of ["a", "b"]) await harness.create(nodes, node(name))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a", "b"]))
    await harness.cluster.delete(nodes, undefined, "a")
    await harness.create(nodes, node("c"))
    await eventually(() => expect(placed(harness)).toEqual(["b", "c"]))
  })

  test("is not reconciled when a node without its pods is deleted, as upstream", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a", { disk: "ssd" }))
    await harness.create(nodes, node("b"))
    await harness.create(daemonSets, daemonSet({}, { nodeSelector: { disk: "ssd" } }))
    await eventually(() => expect(statusOf(harness)).toMatchObject({ currentNumberScheduled: 1 }))
    await bindPods(harness)
    await harness.change(daemonSets, "default", "agent", { spec: { minReadySeconds: 1 } })
    await eventually(() => expect(statusOf(harness)).toMatchObject({ observedGeneration: 2 }))
    await harness.change(nodes, undefined, "a", { spec: { taints: [{ key: "new", effect: "NoSchedule" }] } })
    await harness.cluster.delete(nodes, undefined, "b")
    const witness = daemonSet({}, { nodeSelector: { disk: "hdd" } })
    await harness.create(daemonSets, { ...witness, metadata: { ...witness.metadata, name: "witness" } })
    await harness.create(nodes, node("c", { disk: "hdd" }))
    await eventually(() => expect(placed(harness)).toEqual(["a", "c"]))
    expect(statusOf(harness)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 })
  })

  test("creates another pod for a released one", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    const { name } = harness.cluster.all<Pod>(pods)[0]!.metadata
    await harness.change(pods, "default", name!, { metadata: { ownerReferences: null, labels: { app: "other" } } })
    await eventually(() => expect(placed(harness)).toEqual(["a", "a"]))
  })

  test("adopts the pods and the history of an orphaned set", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    const uids = (): unknown[] =>
      [...harness.cluster.all(controllerRevisions), ...harness.cluster.all(pods)].map(({ metadata }) => metadata.uid)
    const before = uids()
    await harness.cluster.delete(daemonSets, "default", "agent", { propagationPolicy: "Orphan" })
    await eventually(() => expect(harness.cluster.find(daemonSets, "default", "agent")).toBeUndefined())
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(statusOf(harness)).toMatchObject({ updatedNumberScheduled: 1 }))
    expect(uids()).toEqual(before)
    expect(statusOf(harness)?.collisionCount).toBeUndefined()
  })

  test("replaces pods that fail again and again when its clock has been set back", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet())
    const seen = new Set<string | undefined>()
    const fail = async (): Promise<number> => {
      for (const pod of harness.cluster.all<Pod>(pods)) {
        seen.add(pod.metadata.uid)
        if (pod.status?.phase !== "Failed") await harness.setPod(pod, "Failed", false)
      }
      return seen.size
    }
    await eventually(async () => expect(await fail()).toBe(2))
    clock.correct(-3_000_000)
    await eventually(async () => {
      clock.advance(100)
      expect(await fail()).toBe(4)
    })
    expect(clock.elapsed()).toBeLessThan(60_000)
  })

  test("removes duplicate revisions of a template", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(daemonSets, daemonSet())
    await eventually(() => expect(placed(harness)).toEqual(["a"]))
    const [{ data }] = harness.cluster.all(controllerRevisions) as [KubeObject & { data: object }]
    const metadata = { name: "left", namespace: "default", labels: { app: "agent" } }
    const found = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, data, revision: 7 }
    await harness.create(controllerRevisions, found as KubeObject)
    await eventually(() => {
      expect(harness.cluster.all(controllerRevisions).map((revision) => revision.metadata.name)).toEqual(["left"])
      expect(harness.cluster.all(pods)[0]!.metadata.labels).toMatchObject({ "controller-revision-hash": "left" })
    })
    expect(placed(harness)).toEqual(["a"])
  })
})

describe("daemonPod()", () => {
  test("has affinity to its node, and tolerates its taints regardless of the template", () => {
    const key = "node.kubernetes.io/not-ready"
    const toleration = { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }
    const nodeSelectorTerms = [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }]
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
    const set = daemonSet({}, { tolerations: [toleration], affinity: { nodeAffinity } }) as DaemonSet
    const { spec } = daemonPod(set, set.spec?.template, "a", "hash")
    expect(spec?.tolerations?.filter((toleration) => toleration.key === key)).toEqual([
      { key, operator: "Exists", effect: "NoExecute" },
    ])
    expect(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] },
    ])
  })
})

describe("placementOf()", () => {
  const set = daemonSet() as DaemonSet
  test.each([
    ["no taints", undefined, { run: true, stay: true }],
    [
      "one that every daemon tolerates",
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
      { run: true, stay: true },
    ],
    ["another NoSchedule", { key: "x", effect: "NoSchedule" }, { run: false, stay: true }],
    ["another NoExecute", { key: "x", effect: "NoExecute" }, { run: false, stay: false }],
    ["PreferNoSchedule", { key: "x", effect: "PreferNoSchedule" }, { run: true, stay: true }],
  ])("with %s", (_, taint, expected) => {
    expect(placementOf(set)(node("a", {}, taint === undefined ? undefined : [taint]) as Node)).toEqual(expected)
  })
})
