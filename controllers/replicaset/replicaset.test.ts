import { describe, expect, test } from "vitest"
import type { KubeObject, Pod, ReplicaSet } from "../../apimachinery/object.ts"
import { pods, replicaSets } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
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

/** While a ReplicaSet makes sure that it may adopt, its other pod begins to end, and that is observed. */
class EndingMeanwhile extends FakeCluster {
  victim: string | undefined
  readonly #observed = Promise.withResolvers<void>()

  override async get<T extends KubeObject>(resource: Resource, namespace: string, name: string): Promise<T> {
    if (resource.resource === "replicasets" && this.victim !== undefined) {
      await this.delete(pods, namespace, this.victim)
      await this.#observed.promise
    }
    return super.get<T>(resource, namespace, name)
  }

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    for await (const event of super.watch<T>(resource, options)) {
      yield event
      // Who asks for the next event has handled this one.
      if (event.object.metadata.deletionTimestamp !== undefined) this.#observed.resolve()
    }
  }
}

test("a pod that has begun to end before it is deleted does not hold its ReplicaSet up until it is gone", async () => {
  const cluster = new EndingMeanwhile()
  await using harness = await startHarness({ only: ["replicaset"], cluster })
  const living = (): Pod[] => cluster.all<Pod>(pods).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  await harness.create(replicaSets, replicaSet(1))
  await eventually(() => expect(living()).toHaveLength(1))
  const [first] = living()
  await harness.change(pods, "default", first!.metadata.name!, { metadata: { finalizers: ["example.com/held"] } })
  const metadata = { name: "orphan", namespace: "default", labels: { app: "other" } }
  const orphan: KubeObject = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] } }
  await harness.setPod(await harness.create<Pod>(pods, orphan), "Running", true)
  cluster.victim = first!.metadata.name
  await harness.change(pods, "default", "orphan", { metadata: { labels: { app: "web" } } })
  await eventually(() => expect(living().map(({ metadata: { name } }) => name)).toEqual(["orphan"]))
  await eventually(() => expect(cluster.writes.filter((write) => write.startsWith("delete pods"))).toHaveLength(2))
  await harness.change(replicaSets, "default", "web", { spec: { replicas: 3 } })
  await eventually(() => expect(living()).toHaveLength(3))
})
