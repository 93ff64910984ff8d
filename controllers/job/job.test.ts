import { describe, expect, test } from "vitest"
import type { Job, KubeObject, Pod } from "../../apimachinery/object.ts"
import { conflict } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { events, jobs, pods } from "../../client/resources.ts"
import { countAtOnce } from "../testing/calls-at-once.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { indexLabel, Indexes, indexOf } from "./indexes.ts"
import { trackingFinalizer } from "./tracking.ts"

const only = ["job", "ttl-after-finished", "garbage-collector"]

function job(spec: object): KubeObject {
  const labels = { "batch.kubernetes.io/controller-uid": "u", "job-name": "work" }
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", namespace: "default", uid: "u" },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } },
      template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "one" }] } },
      ...spec,
    },
  }
}

const find = (harness: Harness): Job => harness.cluster.find<Job>(jobs, "default", "work")!
const podsOf = (harness: Harness): Pod[] => harness.cluster.all<Pod>(pods)
const unfinished = (harness: Harness): Pod[] => podsOf(harness).filter(({ status }) => status?.phase === undefined)
const conditions = (harness: Harness): string[] =>
  (find(harness).status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

describe("a Job", () => {
  test("runs at most its parallelism at once until enough have succeeded", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({ parallelism: 2, completions: 5 }))
    let most = 0
    await eventually(async () => {
      most = Math.max(most, unfinished(harness).length)
      for (const pod of unfinished(harness)) await harness.setPod(pod, "Succeeded", false)
      expect(conditions(harness)).toEqual([
        "SuccessCriteriaMet=True CompletionsReached",
        "Complete=True CompletionsReached",
      ])
    })
    expect(most).toBe(2)
    expect(podsOf(harness)).toHaveLength(5)
    const { status } = find(harness)
    expect(status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0, uncountedTerminatedPods: {} })
    expect(status!.active).toBeUndefined()
    expect(status!.completionTime).toBeDefined()
    await eventually(() => {
      for (const { metadata } of podsOf(harness)) expect(metadata.finalizers ?? []).toEqual([])
      expect(harness.cluster.all(events).map((event) => event["reason"])).toContain("Completed")
    })
  })

  test("of another group keeps the finalizers of its pods", async () => {
    await using harness = await startHarness({ only: ["job"] })
    const add = (name: string, apiVersion: string): Promise<Pod> =>
      harness.create<Pod>(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          name,
          namespace: "default",
          finalizers: [trackingFinalizer],
          ownerReferences: [{ apiVersion, kind: "Job", name: "gone", uid: "gone", controller: true }],
        },
      } as KubeObject)
    await add("others", "batch.example.com/v1")
    await add("lost", "batch/v1")
    for (const name of ["others", "lost"]) await harness.cluster.delete(pods, "default", name)
    const finalizersOf = (name: string) => harness.cluster.find<Pod>(pods, "default", name)?.metadata.finalizers ?? []
    await eventually(() => expect(finalizersOf("lost")).toEqual([]))
    expect(finalizersOf("others")).toEqual([trackingFinalizer])
  })

  test("counts pods that are deleted right after they finished", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({ completions: 3 }))
    await eventually(async () => {
      for (const pod of unfinished(harness)) {
        await harness.setPod(pod, "Succeeded", false)
        await harness.cluster.delete(pods, "default", pod.metadata.name!)
      }
      expect(find(harness).status?.succeeded).toBe(3)
      expect(podsOf(harness)).toEqual([])
    })
  })

  test("counts a pod of which the finalizer could not be removed twice, because of conflicts", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["job"], clock })
    let refusals = 0
    harness.cluster.fail = (verb, resource) =>
      verb === "patch" && resource === "pods" && refusals++ < 2 ? conflict(pods, "work", "not now") : undefined
    await harness.create(jobs, job({}))
    await eventually(() => expect(podsOf(harness)).toHaveLength(1))
    await harness.setPod(podsOf(harness)[0]!, "Succeeded", false)
    await eventually(() => {
      clock.advance(1_000)
      expect(find(harness).status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} })
    })
    expect(refusals).toBe(3)
  })

  test("gives each completion an index, once", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({ parallelism: 3, completions: 3, completionMode: "Indexed" }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(3))
    const [first] = podsOf(harness)
    expect(first!.metadata.name).toMatch(/^work-0-/)
    expect(first!.metadata.labels!["batch.kubernetes.io/job-completion-index"]).toBe("0")
    expect(first!.spec).toMatchObject({ hostname: "work-0", containers: [{ env: [{ name: "JOB_COMPLETION_INDEX" }] }] })
    const [zero, one, two] = podsOf(harness)
    await harness.setPod(zero!, "Succeeded", false)
    await harness.setPod(two!, "Succeeded", false)
    await eventually(() => expect(find(harness).status?.completedIndexes).toBe("0,2"))
    await harness.setPod(one!, "Succeeded", false)
    await eventually(() => expect(find(harness).status).toMatchObject({ completedIndexes: "0-2", succeeded: 3 }))
    await eventually(() => expect(conditions(harness)).toContain("Complete=True CompletionsReached"))
  })

  test("backs off after each failure and fails at its limit", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ backoffLimit: 1 }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    await harness.setPod(unfinished(harness)[0]!, "Failed", false)
    await eventually(() => expect(find(harness).status?.failed).toBe(1))
    clock.advance(9_000)
    expect(podsOf(harness)).toHaveLength(1)
    clock.advance(2_000)
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    await harness.setPod(unfinished(harness)[0]!, "Failed", false)
    await eventually(() => {
      expect(conditions(harness)).toEqual([
        "FailureTarget=True BackoffLimitExceeded",
        "Failed=True BackoffLimitExceeded",
      ])
    })
    expect(find(harness).status).toMatchObject({ failed: 2 })
  })

  test("fails at its deadline and deletes its pods", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ activeDeadlineSeconds: 30 }))
    await eventually(() => expect(find(harness).status?.active).toBe(1))
    clock.advance(31_000)
    await eventually(() => expect(conditions(harness)).toContain("Failed=True DeadlineExceeded"))
    await eventually(() => expect(podsOf(harness)).toEqual([]))
  })

  test("stops while suspended and restarts when resumed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({ suspend: true }))
    await eventually(() => expect(conditions(harness)).toEqual(["Suspended=True JobSuspended"]))
    expect(podsOf(harness)).toEqual([])
    expect(find(harness).status!.startTime).toBeUndefined()
    await harness.change(jobs, "default", "work", { spec: { suspend: false } })
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    await eventually(() => expect(conditions(harness)).toEqual(["Suspended=False JobResumed"]))
    await harness.change(jobs, "default", "work", { spec: { suspend: true } })
    await eventually(() => expect(podsOf(harness)).toEqual([]))
  })

  test("fails immediately or ignores failures by its failure policy", async () => {
    const policy = {
      rules: [
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        { action: "FailJob", onExitCodes: { containerName: "c", operator: "In", values: [42] } },
      ],
    }
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({ podFailurePolicy: policy }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    const [pod] = unfinished(harness)
    const terminated = { exitCode: 42, finishedAt: "2026-01-01T00:00:00Z" }
    const status = { phase: "Failed", containerStatuses: [{ name: "c", state: { terminated } }] }
    await harness.cluster.update(pods, { ...pod!, status } as Pod, { subresource: "status" })
    await eventually(() => expect(conditions(harness)).toContain("Failed=True PodFailurePolicy"))
    expect(find(harness).status!.conditions![0]!.message).toBe(
      `Container c for pod default/${pod!.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
    )
  })

  test("is deleted with its pods after its TTL", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ ttlSecondsAfterFinished: 60 }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    await harness.setPod(unfinished(harness)[0]!, "Succeeded", false)
    await eventually(() => expect(conditions(harness)).toContain("Complete=True CompletionsReached"))
    clock.advance(59_000)
    expect(find(harness)).toBeDefined()
    await eventually(() => {
      clock.advance(2_000)
      expect(harness.cluster.all(jobs)).toEqual([])
      expect(podsOf(harness)).toEqual([])
    })
  })

  test("with reduced parallelism deletes its youngest pod regardless of deletion cost", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ completions: 5 }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    const [first] = podsOf(harness)
    const { name = "" } = first!.metadata
    const cost = { "controller.kubernetes.io/pod-deletion-cost": "-5" }
    await harness.change(pods, "default", name, { metadata: { annotations: cost } })
    clock.advance(2_000)
    await harness.change(jobs, "default", "work", { spec: { parallelism: 2 } })
    await eventually(() => expect(unfinished(harness)).toHaveLength(2))
    clock.advance(3_600_000)
    await harness.change(jobs, "default", "work", { spec: { parallelism: 1 } })
    await eventually(() => expect(podsOf(harness).map((pod) => pod.metadata.name)).toEqual([name]))
  })

  test("that is deleted releases its pods", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({}))
    await eventually(() => expect(unfinished(harness)).toHaveLength(1))
    await harness.cluster.delete(jobs, "default", "work", { propagationPolicy: "Background" })
    await eventually(() => expect(podsOf(harness)).toEqual([]))
  })

  test.each<[string, (harness: Harness) => Promise<unknown>]>([
    ["is suspended", (harness) => harness.change(jobs, "default", "work", { spec: { suspend: true } })],
    ["is deleted", ({ cluster }) => cluster.delete(jobs, "default", "work", { propagationPolicy: "Background" })],
    [
      "succeeds",
      async (harness) => {
        for (const pod of podsOf(harness)) await harness.setPod(pod, "Succeeded", false)
      },
    ],
  ])("of many pods that %s releases and deletes them in batches", async (_, end) => {
    await using harness = await startHarness({ only: ["job"] })
    await harness.create(jobs, job({ parallelism: 20, completions: 20 }))
    await eventually(() => expect(unfinished(harness)).toHaveLength(20))
    const calls = [countAtOnce(harness.cluster, "patch"), countAtOnce(harness.cluster, "delete")]
    await end(harness)
    await eventually(() => expect(podsOf(harness).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]))
    expect(Math.max(...calls.map(({ most }) => most))).toBe(4)
  })
})

describe("completion indexes", () => {
  test.each(["", "0", "0,1", "0-2", "1,3-5,7,8", "0-9"])("are parsed and printed as %j", (text) => {
    expect(String(Indexes.parse(text, 100))).toBe(text)
  })

  test("beyond the completions and invalid ones are ignored", () => {
    expect(String(Indexes.parse("0-9,12,x", 5))).toBe("0-4")
  })

  test("can be merged, counted and searched", () => {
    const some = Indexes.parse("1,3-5,8", 10)
    expect(String(some.union(Indexes.of([2, 9, 6])))).toBe("1-6,8,9")
    expect(some.size).toBe(5)
    expect(some.common(Indexes.parse("0-3,5,7-9", 10))).toBe(4)
    expect([0, 1, 2, 4, 5, 6, 8, 9].filter((index) => some.has(index))).toEqual([1, 4, 5, 8])
    expect(some.missing(10, 3)).toEqual([0, 2, 6])
    expect(some.missing(10, 100)).toEqual([0, 2, 6, 7, 9])
  })
})

test.each([
  ["7", 7],
  ["007", 7],
  ["+1", 1],
  ["-0", 0],
  ["-1", undefined],
  ["x", undefined],
  ["", undefined],
])("the index of a pod that says %j is %s", (text, expected) => {
  expect(indexOf({ metadata: { annotations: { [indexLabel]: text } } } as unknown as Pod)).toBe(expected)
})
