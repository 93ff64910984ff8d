import { describe, expect, test } from "vitest"
import type { KubeObject, Pod, ReplicaSet } from "../../apimachinery/object.ts"
import { pods, replicaSets } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

function replicaSet(replicas: number): KubeObject {
  const labels = { app: "web" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } }
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }
}

const statusOf = ({ cluster }: Harness): ReplicaSet["status"] =>
  cluster.find<ReplicaSet>(replicaSets, "default", "web")?.status
const writes = ({ cluster }: Harness): number => cluster.calls.get("update status of replicasets") ?? 0

async function started(replicas: number): Promise<AsyncDisposable & { harness: Harness; clock: FakeClock }> {
  const clock = new FakeClock()
  const harness = await startHarness({ only: ["replicaset"], clock })
  await harness.create(replicaSets, replicaSet(replicas))
  await eventually(() => expect(harness.cluster.all(pods)).toHaveLength(replicas))
  return { harness, clock, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() }
}

describe("the status of a ReplicaSet", () => {
  test("is written once for pods that become ready one by one, and immediately when all are ready", async () => {
    await using set = await started(3)
    const { harness } = set
    for (const pod of harness.cluster.all<Pod>(pods)) await harness.setPod(pod, "Running", true)
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 3, availableReplicas: 3 }))
    expect(writes(harness)).toBe(1)
  })

  test("is written after a delay if not all become ready", async () => {
    await using set = await started(3)
    const { harness, clock } = set
    const [first] = harness.cluster.all<Pod>(pods)
    await harness.setPod(first!, "Running", true)
    await eventually(() => {
      clock.advance(50)
      expect(statusOf(harness)).toMatchObject({ replicas: 3, readyReplicas: 1, availableReplicas: 1 })
    })
    expect(writes(harness)).toBeLessThanOrEqual(2)
  })

  test("is written immediately when a pod is lost, before there is another", async () => {
    await using set = await started(3)
    const { harness, clock } = set
    await harness.runPods("default")
    await eventually(() => expect(statusOf(harness)).toMatchObject({ availableReplicas: 3 }))
    const [first] = harness.cluster.all<Pod>(pods)
    await harness.cluster.delete(pods, "default", first!.metadata.name ?? "", { gracePeriodSeconds: 0 })
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 2, availableReplicas: 2 }))
    await eventually(() => {
      clock.advance(50)
      expect(statusOf(harness)).toMatchObject({ replicas: 3, availableReplicas: 2 })
    })
  })

  test("is updated less often for a large set, up to the last pod", async () => {
    await using set = await started(120)
    const { harness, clock } = set
    for (const pod of harness.cluster.all<Pod>(pods)) await harness.setPod(pod, "Running", true)
    await eventually(() => {
      clock.advance(10)
      expect(statusOf(harness)).toMatchObject({ replicas: 120, readyReplicas: 120, availableReplicas: 120 })
    })
  })
})

test("an adopted pod keeps its other owners after its controller", async () => {
  await using harness = await startHarness({ only: ["replicaset"] })
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "1" }
  const metadata = { name: "orphan", namespace: "default", labels: { app: "web" }, ownerReferences: [other] }
  await harness.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] } } as KubeObject)
  await harness.create(replicaSets, replicaSet(1))
  await eventually(() => {
    const owners = harness.cluster.find<Pod>(pods, "default", "orphan")?.metadata.ownerReferences
    expect(owners).toMatchObject([{ kind: "ReplicaSet", controller: true }, other])
  })
})
