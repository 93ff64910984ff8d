import { describe, expect, test } from "vitest"
import type { KubeObject, Node, Pod } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { virtualNodeLabel } from "../../apimachinery/tenancy.ts"
import { forbidden } from "../../apimachinery/status.ts"
import { nodes, pods } from "../../client/resources.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { silentLog } from "../../client/log.ts"
import { Activity } from "../activity.ts"
import { AggregatedResources } from "../aggregated/aggregated-resources.ts"
import { defaultLimits } from "../context.ts"
import { FailedKeys } from "../failed-keys.ts"
import { Informers } from "../informers.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { runPodGarbageCollector } from "./podgc.ts"

const only = ["pod-garbage-collector"]

const pod = (name: string, nodeName?: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: nodeName === undefined ? {} : { nodeName },
  }) as KubeObject
const node = (name: string): KubeObject =>
  ({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { taints: [] } }) as KubeObject
const names = (harness: Harness): string[] => harness.cluster.all(pods).map(({ metadata }) => metadata.name!)

/** Lets the controller process all events before the clock advances. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("pods", () => {
  test.each([
    ["a deleted virtual node are deleted later, except for finished ones", true, ["ended"]],
    ["the tenant's own deleted node are deleted later, including finished ones", false, []],
  ])("of %s", async (_title, isVirtual, kept) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    const labels = isVirtual ? { [virtualNodeLabel]: "true" } : {}
    await harness.create(nodes, { ...node("a"), metadata: { name: "a", labels } })
    await harness.create(pods, {
      ...pod("held", "a"),
      metadata: { name: "held", namespace: "default", finalizers: ["x/y"] },
    })
    await harness.create(pods, pod("running", "a"))
    const ended = await harness.create<Pod>(pods, pod("ended", "a"))
    await harness.setPod(ended, "Failed", false)
    await settle()
    await harness.cluster.delete(nodes, undefined, "a")
    await settle()
    clock.advance(39_000)
    await settle()
    expect(names(harness)).toEqual(["ended", "held", "running"])
    clock.advance(2_000)
    await eventually(() => expect(names(harness)).toEqual([...kept, "held"]))
    const held = harness.cluster.find<Pod>(pods, "default", "held")!
    expect(held.metadata.deletionTimestamp).toBeDefined()
    expect(held.status).toMatchObject({
      phase: "Failed",
      conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC" }],
    })
  })

  test("of a node that returns in time are kept", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(pods, pod("one", "a"))
    await settle()
    clock.correct(3_600_000)
    await harness.create(pods, pod("two", "a"))
    await settle()
    clock.advance(30_000)
    await harness.create(nodes, node("a"))
    await settle()
    clock.advance(30_000)
    await settle()
    expect(names(harness)).toEqual(["one", "two"])
    expect(clock.timers).toBe(0)
  })

  test("of a deleted node are deleted, also beside some that cannot be", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    const all = Array.from({ length: 20 }, (_, index) => `p${index + 10}`)
    for (const name of all) await harness.create(pods, pod(name, "a"))
    harness.cluster.fail = (verb, _resource, object) =>
      verb === "delete" && object?.metadata.name === "p10" ? forbidden(pods, "p10", "") : undefined
    await settle()
    clock.advance(41_000)
    await eventually(() => expect(names(harness)).toEqual(["p10"]))
    harness.cluster.fail = undefined
    await eventually(() => {
      clock.advance(1_000)
      expect(names(harness)).toEqual([])
    })
  })

  test("that are terminating without a node are failed and deleted", async () => {
    await using harness = await startHarness({ only })
    await harness.create(pods, { ...pod("one"), metadata: { name: "one", namespace: "default", finalizers: ["x/y"] } })
    await harness.cluster.delete(pods, "default", "one")
    await eventually(() => expect(harness.cluster.find<Pod>(pods, "default", "one")!.status?.phase).toBe("Failed"))
  })

  test("that are terminating on an out-of-service node are deleted", async () => {
    await using harness = await startHarness({ only })
    await harness.create(nodes, node("a"))
    await harness.create(pods, {
      ...pod("one", "a"),
      metadata: { name: "one", namespace: "default", finalizers: ["x/y"] },
    })
    await harness.create(pods, pod("two", "a"))
    await harness.cluster.delete(pods, "default", "one")
    await settle()
    expect(harness.cluster.find<Pod>(pods, "default", "one")!.status).toBeUndefined()
    await harness.change<Node>(nodes, undefined, "a", {
      spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] },
    })
    await eventually(() => expect(harness.cluster.find<Pod>(pods, "default", "one")!.status?.phase).toBe("Failed"))
    expect(names(harness)).toEqual(["one", "two"])
  })

  test("that have finished are kept up to a limit; evicted and oldest ones are deleted first", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const stopping = new AbortController()
    const tenants = singleCluster(cluster, "tenant-a")
    const informers = new Informers(tenants, silentLog, stopping.signal)
    const ctx = {
      tenants,
      informers,
      aggregated: new AggregatedResources({ tenants, informers, clock, log: silentLog, signal: stopping.signal }),
      clock,
      log: silentLog,
      signal: stopping.signal,
      rootCertificateAuthority: "",
      workers: 1,
      activity: new Activity(clock, stopping.signal),
      failed: new FailedKeys({ tenants, clock, signal: stopping.signal }),
      limits: { ...defaultLimits, finishedPods: 2 },
    }
    const running = runPodGarbageCollector(ctx)
    for (const [name, status] of [
      ["a-old", { phase: "Succeeded" }],
      ["b-older", { phase: "Succeeded" }],
      ["c-evicted", { phase: "Failed", reason: "Evicted" }],
      ["d-new", { phase: "Failed" }],
      ["e-running", { phase: "Running" }],
    ] as const) {
      clock.advance(1000)
      const created = await cluster.create(pods, pod(name, "n"))
      await cluster.update(pods, { ...created, status }, { subresource: "status" })
    }
    await eventually(() => {
      expect(cluster.all(pods).map(({ metadata }) => metadata.name)).toEqual(["b-older", "d-new", "e-running"])
    })
    stopping.abort()
    await running
  })
})
