import { describe, expect, test } from "vitest"
import type { Job, KubeObject, Pod } from "../../apimachinery/object.ts"
import { events, jobs, pods } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { trackingFinalizer } from "./tracking.ts"

const only = ["job"]
const labels = { mine: "yes" }

function job(spec: object): KubeObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", namespace: "default", uid: "u" },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "one" }] } },
      ...spec,
    },
  }
}

const otherPod = (metadata: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "stranger", namespace: "default", ...metadata },
  spec: { containers: [{ name: "c", image: "one" }] },
})

const find = (harness: Harness): Job => harness.cluster.find<Job>(jobs, "default", "work")!
const pod = (harness: Harness, name: string): Pod => harness.cluster.find<Pod>(pods, "default", name)!
const podsOf = (harness: Harness): Pod[] => harness.cluster.all<Pod>(pods)
const eventCount = (harness: Harness, reason: string): number =>
  harness.cluster.all(events).filter((event) => event["reason"] === reason).length
/** Lets pending work finish. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("a Job of several pods", () => {
  test("counts pods that fail within a second together, and deletes only running ones", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ parallelism: 3, completions: 3 }))
    await eventually(() => expect(podsOf(harness)).toHaveLength(3))
    const [first, second, third] = podsOf(harness)
    await harness.setPod(first!, "Failed", false)
    await turns()
    clock.advance(900)
    await harness.setPod(second!, "Failed", false)
    await turns()
    expect(find(harness).status?.failed).toBeUndefined()
    clock.advance(100)
    await eventually(() => expect(eventCount(harness, "BackoffLimitExceeded")).toBe(1))
    expect(find(harness).status).toMatchObject({ failed: 3 })
    expect(eventCount(harness, "SuccessfulDelete")).toBe(1)
    expect(podsOf(harness).map(({ metadata }) => metadata.name)).not.toContain(third!.metadata.name)
    expect(podsOf(harness)).toHaveLength(2)
  })

  test("does not wait after the last pod has finished", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ parallelism: 2, completions: 2 }))
    await eventually(() => expect(podsOf(harness)).toHaveLength(2))
    for (const each of podsOf(harness)) await harness.setPod(each, "Succeeded", false)
    await eventually(() => expect(eventCount(harness, "Completed")).toBe(1))
    expect(find(harness).status).toMatchObject({ succeeded: 2 })
  })

  test("keeps its counts when a user changes it", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ parallelism: 2, completions: 5, backoffLimit: 6 }))
    await eventually(() => expect(podsOf(harness)).toHaveLength(2))
    await harness.setPod(podsOf(harness)[0]!, "Succeeded", false)
    await turns()
    await harness.change(jobs, "default", "work", { spec: { parallelism: 3 } })
    await eventually(() => expect(find(harness).status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} }))
    await turns()
    expect(find(harness).status).toMatchObject({ succeeded: 1, active: 3 })
    expect(podsOf(harness)).toHaveLength(4)
  })

  test("replaces a pod at once that fails after a user has taken its finalizer away", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ parallelism: 2, completions: 2 }))
    await eventually(() => expect(find(harness).status).toMatchObject({ active: 2 }))
    const [first] = podsOf(harness)
    await harness.change(pods, "default", first!.metadata.name!, { metadata: { finalizers: null } })
    await turns()
    clock.advance(1_000)
    await harness.setPod(first!, "Failed", false)
    await turns()
    clock.advance(1_000)
    await eventually(() => expect(podsOf(harness)).toHaveLength(3))
    expect(find(harness).status?.failed).toBeUndefined()
  })
})

describe("a pod without a controller", () => {
  const isTaken = (of: Pod): void => {
    expect(of.metadata.ownerReferences).toMatchObject([{ kind: "Job", name: "work", controller: true }])
    expect(of.metadata.finalizers).toEqual([trackingFinalizer])
  }
  const started = async (spec: object): Promise<{ harness: Harness; clock: FakeClock }> => {
    const clock = new FakeClock()
    const harness = await startHarness({ only, clock })
    await harness.create(jobs, job(spec))
    return { harness, clock }
  }

  test("is adopted again by its Job", async () => {
    const { harness, clock } = await started({})
    await using _ = harness
    await eventually(() => expect(podsOf(harness)).toHaveLength(1))
    const { name = "" } = podsOf(harness)[0]!.metadata
    isTaken(pod(harness, name))
    await harness.change(pods, "default", name, { metadata: { ownerReferences: null } })
    await eventually(() => {
      clock.advance(50)
      isTaken(pod(harness, name))
    })
  })

  test("is adopted when its labels match", async () => {
    const { harness, clock } = await started({ parallelism: 0 })
    await using _ = harness
    await harness.create(pods, otherPod({ labels: { mine: "no" } }))
    await turns()
    clock.advance(5_000)
    await turns()
    expect(pod(harness, "stranger").metadata.ownerReferences).toBeUndefined()
    await harness.change(pods, "default", "stranger", { metadata: { labels } })
    // Its parallelism is 0, so the Job deletes the pod that it adopted.
    await eventually(() => {
      clock.advance(50)
      expect(pod(harness, "stranger")).toBeUndefined()
    })
    expect(eventCount(harness, "SuccessfulDelete")).toBe(1)
  })

  test("is not adopted by a finished Job, and loses the tracking finalizer", async () => {
    const { harness, clock } = await started({ completions: 0 })
    await using _ = harness
    await eventually(() => expect(eventCount(harness, "Completed")).toBe(1))
    await harness.create(pods, otherPod({ labels, finalizers: [trackingFinalizer] }))
    await eventually(() => expect(pod(harness, "stranger").metadata.finalizers ?? []).toEqual([]))
    await harness.change(jobs, "default", "work", { metadata: { labels: { touched: "yes" } } })
    await turns()
    clock.advance(5_000)
    await turns()
    expect(pod(harness, "stranger").metadata.ownerReferences).toBeUndefined()
  })
})
