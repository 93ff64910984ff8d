import { describe, expect, test } from "vitest"
import type { KubeObject, Node, Pod } from "../../apimachinery/object.ts"
import { forbidden } from "../../apimachinery/status.ts"
import { virtualNodeLabel } from "../../apimachinery/tenancy.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { events, leases, nodes, pods } from "../../client/resources.ts"
import { eventually, startHarness, type Harness, eventTexts } from "../testing/harness.ts"

const only = ["node-lifecycle", "taint-eviction"]
const begin = "2026-01-01T00:00:00Z"

function node(name: string, options: { ready?: string; virtual?: boolean; taints?: object[] } = {}): KubeObject {
  const { ready = "True", virtual = false, taints } = options
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: virtual ? { [virtualNodeLabel]: "true" } : {} },
    spec: taints === undefined ? {} : { taints },
    status: { conditions: [{ type: "Ready", status: ready, lastHeartbeatTime: begin, lastTransitionTime: begin }] },
  } as KubeObject
}

const pod = (name: string, tolerations: object[] = []): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName: "a", tolerations },
  }) as KubeObject

const taintsOf = (harness: Harness, name: string): string[] =>
  (harness.cluster.find<Node>(nodes, undefined, name)!.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
const podNames = (harness: Harness): string[] => harness.cluster.all(pods).map(({ metadata }) => metadata.name!)

async function setReady(harness: Harness, name: string, status: string, clock: FakeClock): Promise<void> {
  const current = harness.cluster.find<Node>(nodes, undefined, name)!
  const conditions = [{ type: "Ready", status, lastHeartbeatTime: new Date(clock.now()).toISOString() }]
  await harness.cluster.update(nodes, { ...current, status: { conditions } } as unknown as Node, {
    subresource: "status",
  })
}

describe("a node", () => {
  const late = "becomes Unknown, its pods become not ready and are evicted later"
  test.each([0, -3_600_000])(`that stops reporting ${late}, also if clocks are corrected by %d ms`, async (ms) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    await harness.create(nodes, node("b"))
    await harness.create(pods, pod("now"))
    const tolerations = [{ key: "node.kubernetes.io/unreachable", operator: "Exists", tolerationSeconds: 60 }]
    await harness.create(pods, pod("later", tolerations))
    await harness.create(pods, pod("never", [{ operator: "Exists" }]))
    for (const each of harness.cluster.all<Pod>(pods)) await harness.setPod(each, "Running", true)
    await eventually(() => expect(eventTexts(harness)).toHaveLength(2))
    clock.correct(ms)
    await eventually(async () => {
      clock.advance(5_000)
      const renewTime = new Date(clock.now()).toISOString()
      const lease = { apiVersion: "v1", kind: "Lease", metadata: { name: "b", namespace: "kube-node-lease" } }
      if (harness.cluster.find(leases, "kube-node-lease", "b") === undefined) await harness.create(leases, lease)
      await harness.change(leases, "kube-node-lease", "b", { spec: { renewTime } })
      expect(taintsOf(harness, "a")).toEqual([
        "node.kubernetes.io/unreachable:NoSchedule",
        "node.kubernetes.io/unreachable:NoExecute",
      ])
    })
    expect(harness.cluster.find<Node>(nodes, undefined, "a")!.status!.conditions).toMatchObject([
      { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" },
      { type: "MemoryPressure", status: "Unknown", reason: "NodeStatusNeverUpdated" },
      { type: "DiskPressure" },
      { type: "PIDPressure" },
    ])
    await eventually(() => {
      expect(podNames(harness)).toEqual(["later", "never"])
      expect(eventTexts(harness)).toEqual(
        expect.arrayContaining([
          "NodeNotReady: Node a status is now: NodeNotReady",
          "NodeNotReady: Node is not ready",
          "TaintManagerEviction: Marking for deletion Pod default/now",
        ]),
      )
    })
    clock.correct(ms)
    const never = harness.cluster.find<Pod>(pods, "default", "never")!
    expect(never.status!.conditions).toMatchObject([{ type: "Ready", status: "False" }])
    await eventually(() => {
      clock.advance(10_000)
      expect(podNames(harness)).toEqual(["never"])
    })
  })

  test("whose Lease was renewed soon after it was seen is silent a minute later", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    const lease = { apiVersion: "v1", kind: "Lease", metadata: { name: "a", namespace: "kube-node-lease" } }
    await harness.create(leases, { ...lease, spec: { renewTime: begin } } as KubeObject)
    await harness.create(nodes, node("a"))
    await eventually(() => expect(eventTexts(harness)).toHaveLength(1))
    clock.advance(1_000)
    const renewTime = new Date(clock.now()).toISOString()
    await harness.change(leases, "kube-node-lease", "a", { spec: { renewTime } })
    const since = clock.now()
    await eventually(() => {
      clock.advance(100)
      const [ready] = harness.cluster.find<Node>(nodes, undefined, "a")!.status!.conditions!
      expect(ready!.status).toBe("Unknown")
    })
    expect(clock.now() - since).toBeLessThan(80_000)
  })

  test("is not taken for silent because clocks are corrected", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    await harness.create(nodes, node("b"))
    await eventually(() => expect(eventTexts(harness)).toHaveLength(2))
    clock.correct(3_600_000)
    await harness.change(nodes, undefined, "a", { metadata: { labels: { "kubernetes.io/os": "linux" } } })
    const labels = () => harness.cluster.find<Node>(nodes, undefined, "a")!.metadata.labels
    // It is looked at after the change.
    await eventually(() => expect(labels()).toMatchObject({ "beta.kubernetes.io/os": "linux" }))
    await setReady(harness, "b", "False", clock)
    await eventually(() => expect(taintsOf(harness, "b")).toContain("node.kubernetes.io/not-ready:NoExecute"))
    expect(taintsOf(harness, "a")).toEqual([])
  })

  test("gets events when it is registered and removed, unless it is virtual", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("virtual", { virtual: true }))
    await harness.create(nodes, node("a"))
    await eventually(() =>
      expect(eventTexts(harness)).toEqual(["RegisteredNode: Node a event: Registered Node a in Controller"]),
    )
    await setReady(harness, "a", "False", new FakeClock())
    await eventually(() => expect(taintsOf(harness, "a")).not.toEqual([]))
    await harness.cluster.delete(nodes, undefined, "virtual")
    await harness.cluster.delete(nodes, undefined, "a")
    await eventually(() =>
      expect(eventTexts(harness).filter((line) => line.includes(" event: "))).toEqual([
        "RegisteredNode: Node a event: Registered Node a in Controller",
        "RemovingNode: Node a event: Removing Node a from Controller",
      ]),
    )
  })

  test("that stops reporting makes its pods not ready, also beside some that cannot be changed", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    for (const name of ["one", "two"]) {
      await harness.setPod(await harness.create<Pod>(pods, pod(name)), "Running", true)
    }
    harness.cluster.fail = (verb, resource, object) =>
      verb === "update" && resource === "pods" && object?.metadata.name === "one"
        ? forbidden(pods, "one", "")
        : undefined
    await eventually(() => {
      clock.advance(5_000)
      const { conditions } = harness.cluster.find<Pod>(pods, "default", "two")!.status!
      expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "False" }))
    })
    // They are told, too.
    const told = (): unknown[] =>
      harness.cluster
        .all<KubeObject & { involvedObject?: object }>(events)
        .filter(({ message }) => message === "Node is not ready")
        .map(({ involvedObject }) => involvedObject)
    const both = ["one", "two"].map((name) => expect.objectContaining({ kind: "Pod", name }) as unknown)
    await eventually(() => expect(told()).toEqual(expect.arrayContaining(both)))
  })

  test("that reports not ready makes its pods not ready", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    await harness.create(nodes, node("b"))
    const kept = await harness.create(pods, pod("kept", [{ operator: "Exists" }]))
    await harness.setPod(kept as Pod, "Running", true)
    await eventually(() => expect(eventTexts(harness)).toHaveLength(2))
    await setReady(harness, "a", "False", clock)
    await eventually(() => expect(taintsOf(harness, "a")).toContain("node.kubernetes.io/not-ready:NoExecute"))
    expect(eventTexts(harness).filter((text) => text.includes("NodeNotReady"))).toEqual([])
    const { conditions } = harness.cluster.find<Pod>(pods, "default", "kept")!.status!
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }))
  })

  test.each([
    [
      { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" },
      { os: "linux", arch: "arm64" },
    ],
    [{ "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "windows" }, { os: "linux" }],
    [{ "beta.kubernetes.io/os": "windows" }, { os: "windows" }],
  ])("has its deprecated labels, too: %j", async (labels, old) => {
    await using harness = await startHarness({ only })
    const plain = node("a")
    await harness.create(nodes, { ...plain, metadata: { ...plain.metadata, labels } })
    const wanted = Object.fromEntries(Object.entries(old).map(([key, value]) => [`beta.kubernetes.io/${key}`, value]))
    await eventually(() =>
      expect(harness.cluster.find(nodes, undefined, "a")?.metadata.labels).toEqual({ ...labels, ...wanted }),
    )
  })

  test("that recovers loses its taints, and evictions are cancelled", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a", { ready: "False" }))
    await harness.create(nodes, node("b"))
    await harness.create(pods, pod("later", [{ operator: "Exists", tolerationSeconds: 60 }]))
    await eventually(() => expect(taintsOf(harness, "a")).toContain("node.kubernetes.io/not-ready:NoExecute"))
    await setReady(harness, "a", "True", clock)
    await eventually(() => {
      expect(taintsOf(harness, "a")).toEqual([])
      expect(eventTexts(harness)).toContain("TaintManagerEviction: Cancelling deletion of Pod default/later")
    })
    clock.advance(120_000)
    expect(podNames(harness)).toEqual(["later"])
  })

  test("that recovers cancels no eviction of a pod that has been evicted and does not end", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    const taints = (...keys: string[]): object => ({
      spec: { taints: keys.map((key) => ({ key, effect: "NoExecute" })) },
    })
    await harness.create(nodes, node("a"))
    const soon = [{ operator: "Exists", tolerationSeconds: 1 }]
    const { metadata, ...held } = pod("held", soon)
    await harness.create(pods, { ...held, metadata: { ...metadata, finalizers: ["example.com/hold"] } })
    await harness.create(pods, pod("later", [{ operator: "Exists", tolerationSeconds: 3_600 }]))
    await harness.change(nodes, undefined, "a", taints("leave"))
    await eventually(() => {
      clock.advance(100)
      expect(eventTexts(harness)).toContain("TaintManagerEviction: Marking for deletion Pod default/held")
    })
    await harness.change(nodes, undefined, "a", { metadata: { labels: { touched: "yes" } } })
    await harness.create(pods, pod("now"))
    await eventually(() => expect(podNames(harness)).toEqual(["held", "later"]))
    await harness.change(nodes, undefined, "a", taints())
    const cancelled = "TaintManagerEviction: Cancelling deletion of Pod default/"
    await eventually(() => expect(eventTexts(harness)).toContain(`${cancelled}later`))
    expect(eventTexts(harness)).not.toContain(`${cancelled}held`)
  })

  test.each(["patch", "delete"])("evicts a pod soon after its eviction has failed once: %s", async (failing) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    let failed = 0
    harness.cluster.fail = (verb, resource) =>
      verb === failing && resource === "pods" && failed++ === 0 ? forbidden(pods, "later", "") : undefined
    await harness.create(nodes, node("a", { taints: [{ key: "leave", effect: "NoExecute" }] }))
    await harness.create(pods, pod("later", [{ operator: "Exists", tolerationSeconds: 600 }]))
    await eventually(() => {
      clock.advance(10_000)
      expect(failed).toBe(1)
    })
    const since = clock.now()
    await eventually(() => {
      clock.advance(100)
      expect(podNames(harness)).toEqual([])
    })
    expect(clock.now() - since).toBeLessThan(300_000)
    expect(eventTexts(harness).join()).not.toContain("Cancelling")
  })

  test("evicts a pod in its time, also beside one whose eviction has failed", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    let failed = 0
    harness.cluster.fail = (verb, resource) =>
      verb === "patch" && resource === "pods" && failed++ === 0 ? forbidden(pods, "now", "") : undefined
    await harness.create(pods, pod("now", []))
    await harness.create(pods, pod("later", [{ operator: "Exists", tolerationSeconds: 300 }]))
    await harness.create(nodes, node("a", { taints: [{ key: "leave", effect: "NoExecute" }] }))
    await eventually(() => expect(failed).toBe(1))
    const since = clock.now()
    await eventually(() => {
      clock.advance(2_000)
      expect(podNames(harness)).toEqual([])
    })
    expect(clock.now() - since).toBeLessThan(590_000)
  })

  test("cancels no eviction of a pod that somebody deletes after it has failed", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    let failed = 0
    harness.cluster.fail = (verb, resource) => {
      if (verb !== "patch" || resource !== "pods") return undefined
      failed++
      return forbidden(pods, "soon", "")
    }
    await harness.create(nodes, node("a", { taints: [{ key: "leave", effect: "NoExecute" }] }))
    await harness.create(pods, pod("soon", [{ operator: "Exists", tolerationSeconds: 1 }]))
    await harness.create(pods, pod("later", [{ operator: "Exists", tolerationSeconds: 86_400 }]))
    await eventually(() => {
      clock.advance(100)
      expect(failed).toBeGreaterThan(1)
    })
    for (const name of ["soon", "later"]) await harness.cluster.delete(pods, "default", name)
    const cancelled = "TaintManagerEviction: Cancelling deletion of Pod default/"
    await eventually(() => expect(eventTexts(harness)).toContain(`${cancelled}later`))
    expect(eventTexts(harness)).not.toContain(`${cancelled}soon`)
  })

  test("keeps its pods while no node is ready", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a", { ready: "False" }))
    await harness.create(pods, pod("one"))
    await eventually(() => expect(taintsOf(harness, "a")).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]))
    expect(podNames(harness)).toEqual(["one"])
  })

  test("that is deleted while its Lease is read does not count as ready", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("a"))
    await harness.create(pods, pod("one"))
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const get = harness.cluster.get.bind(harness.cluster)
    harness.cluster.get = async (resource, namespace, name, ...more) => {
      if (resource === leases && name === "b") {
        asked.resolve()
        await answered.promise
      }
      return get(resource, namespace, name, ...more)
    }
    await harness.create(nodes, node("b"))
    await asked.promise
    await harness.cluster.delete(nodes, undefined, "b")
    answered.resolve()
    await eventually(() => expect(eventTexts(harness).join()).toContain("Removing Node b"))
    await setReady(harness, "a", "False", clock)
    await eventually(() => expect(taintsOf(harness, "a")).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]))
    expect(podNames(harness)).toEqual(["one"])
  })

  test("that is virtual is not changed; only the tenant's taints evict pods", async () => {
    await using harness = await startHarness({ only })
    const unreachable = { key: "node.kubernetes.io/unreachable", effect: "NoExecute" }
    await harness.create(nodes, node("a", { ready: "Unknown", virtual: true, taints: [unreachable] }))
    await harness.create(nodes, node("b", { ready: "False" }))
    await harness.create(pods, pod("one"))
    await eventually(() => expect(taintsOf(harness, "b")).toHaveLength(1))
    expect(podNames(harness)).toEqual(["one"])
    expect(taintsOf(harness, "a")).toEqual(["node.kubernetes.io/unreachable:NoExecute"])
    const taints = [unreachable, { key: "mine", effect: "NoExecute" }]
    await harness.change(nodes, undefined, "a", { spec: { taints } })
    await eventually(() => expect(podNames(harness)).toEqual([]))
  })
})
