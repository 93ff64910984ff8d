import { describe, expect, test } from "vitest"
import type { Job, KubeObject, Pod } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { events, jobs, pods } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { remainingBackoffMs, withFinished } from "./backoff.ts"
import { metSuccessPolicy } from "./success-policy.ts"
import { Indexes } from "./indexes.ts"

const only = ["job"]
const failures = "batch.kubernetes.io/job-index-failure-count"
const ignoredFailures = "batch.kubernetes.io/job-index-ignored-failure-count"

function job(spec: object): KubeObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", namespace: "default", uid: "u" },
    spec: {
      parallelism: 3,
      completions: 3,
      completionMode: "Indexed",
      backoffLimit: 2 ** 31 - 1,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } },
      template: {
        metadata: { labels: { "batch.kubernetes.io/controller-uid": "u" } },
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "one" }] },
      },
      ...spec,
    },
  }
}

const find = (harness: Harness): Job => harness.cluster.find<Job>(jobs, "default", "work")!
const running = (harness: Harness): Pod[] =>
  harness.cluster
    .all<Pod>(pods)
    .filter(({ status, metadata }) => status?.phase === undefined && metadata.deletionTimestamp === undefined)
const indexOf = (pod: Pod): number => Number(pod.metadata.labels!["batch.kubernetes.io/job-completion-index"])
const at = (harness: Harness, index: number): Pod => running(harness).find((pod) => indexOf(pod) === index)!
const conditions = (harness: Harness): string[] =>
  (find(harness).status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

/** Like {@link eventually}, but advances the clock: pod events are batched for a second while other pods of the Job run. */
function later(clock: FakeClock, check: () => void): Promise<void> {
  return eventually(() => {
    clock.advance(50)
    check()
  })
}

async function fail(harness: Harness, pod: Pod, exitCode: number, clock: FakeClock): Promise<void> {
  const finishedAt = new Date(clock.now()).toISOString()
  const containerStatuses = [{ name: "c", state: { terminated: { exitCode, finishedAt } } }]
  const status = { phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses }
  await harness.cluster.update(pods, { ...pod, status } as unknown as Pod, { subresource: "status" })
}

describe("a Job with a limit of failures per index", () => {
  test("counts the failures of each index on its next pod and fails the index beyond the limit", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ backoffLimitPerIndex: 1 }))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    expect(at(harness, 1).metadata.annotations![failures]).toBe("0")
    await fail(harness, at(harness, 1), 1, clock)
    await later(clock, () => expect(find(harness).status?.active).toBe(2))
    // The failed pod keeps its finalizer until its replacement has taken over the count.
    expect(find(harness).status?.failed).toBeUndefined()
    clock.advance(11_000)
    await eventually(() => expect(at(harness, 1).metadata.annotations![failures]).toBe("1"))
    await later(clock, () => expect(find(harness).status?.failed).toBe(1))
    await fail(harness, at(harness, 1), 1, clock)
    await later(clock, () => expect(find(harness).status).toMatchObject({ failedIndexes: "1", failed: 2 }))
    expect(at(harness, 1)).toBeUndefined()
    await fail(harness, at(harness, 0), 0, clock)
    await fail(harness, at(harness, 2), 0, clock)
    await eventually(() => {
      expect(conditions(harness)).toEqual(["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"])
    })
    expect(find(harness).status).toMatchObject({ completedIndexes: "0,2", succeeded: 2, failed: 2 })
    await eventually(() => {
      const event = harness.cluster.all(events).find((event) => event["reason"] === "FailedIndexes")
      expect(event).toMatchObject({ type: "Warning", message: "Job has failed indexes" })
    })
  })

  test("fails when more indexes have failed than allowed", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ backoffLimitPerIndex: 0, maxFailedIndexes: 1 }))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    await fail(harness, at(harness, 0), 1, clock)
    await later(clock, () => expect(find(harness).status?.failedIndexes).toBe("0"))
    expect(conditions(harness)).toEqual([])
    await fail(harness, at(harness, 2), 1, clock)
    await later(clock, () => {
      expect(conditions(harness)).toEqual([
        "FailureTarget=True MaxFailedIndexesExceeded",
        "Failed=True MaxFailedIndexesExceeded",
      ])
    })
    // The pod that was still running failed with the Job.
    expect(find(harness).status).toMatchObject({ failedIndexes: "0,2", failed: 3, ready: 0, terminating: 0 })
    expect(running(harness)).toEqual([])
  })

  test("fails an index immediately or ignores a failure by its failure policy", async () => {
    const clock = new FakeClock()
    const exits = (action: string, ...values: number[]): object => ({ action, onExitCodes: { operator: "In", values } })
    await using harness = await startHarness({ only, clock })
    await harness.create(
      jobs,
      job({
        backoffLimitPerIndex: 5,
        podFailurePolicy: { rules: [exits("FailIndex", 42), exits("Ignore", 7)] },
        podReplacementPolicy: "Failed",
      }),
    )
    await eventually(() => expect(running(harness)).toHaveLength(3))
    await fail(harness, at(harness, 0), 42, clock)
    await fail(harness, at(harness, 1), 7, clock)
    await later(clock, () => expect(find(harness).status).toMatchObject({ failedIndexes: "0", failed: 1 }))
    clock.advance(11_000)
    await eventually(() =>
      expect(at(harness, 1).metadata.annotations).toMatchObject({ [failures]: "0", [ignoredFailures]: "1" }),
    )
    expect(find(harness).status?.failed).toBe(1)
  })
})

describe("a Job with a success policy", () => {
  test("completes when a rule is met and deletes running pods", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ successPolicy: { rules: [{ succeededIndexes: "1-2", succeededCount: 1 }] } }))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    await fail(harness, at(harness, 0), 0, clock)
    await later(clock, () => expect(find(harness).status?.completedIndexes).toBe("0"))
    expect(conditions(harness)).toEqual([])
    await fail(harness, at(harness, 2), 0, clock)
    await later(clock, () => {
      expect(conditions(harness)).toEqual(["SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"])
    })
    expect(find(harness).status).toMatchObject({ completedIndexes: "0,2", succeeded: 2 })
    expect(find(harness).status!.conditions![0]!.message).toBe("Matched rules at index 0")
    expect(running(harness)).toEqual([])
  })

  test.each([
    [{ succeededCount: 2 }, "0", undefined],
    [{ succeededCount: 2 }, "0,5", "Matched rules at index 0"],
    [{ succeededIndexes: "0-2" }, "0,1", undefined],
    [{ succeededIndexes: "0-2" }, "0-2,7", "Matched rules at index 0"],
    [{ succeededIndexes: "0-2", succeededCount: 2 }, "2-9", undefined],
    [{ succeededIndexes: "0-2", succeededCount: 2 }, "1-9", "Matched rules at index 0"],
  ])("with the rule %j and the indexes %s: %s", (rule, succeeded, message) => {
    const of = job({ completions: 10, successPolicy: { rules: [rule] } }) as Job
    expect(metSuccessPolicy(of, Indexes.parse(succeeded, 10))).toBe(message)
  })
})

describe("a Job", () => {
  test("does not count pods that are deleted by suspension", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({}))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    await harness.change(jobs, "default", "work", { spec: { suspend: true } })
    await eventually(() => expect(harness.cluster.all(pods)).toEqual([]))
    await harness.change(jobs, "default", "work", { spec: { suspend: false } })
    await eventually(() => expect(running(harness)).toHaveLength(3))
    expect(find(harness).status?.failed).toBeUndefined()
  })

  test("replaces terminating pods only after they have failed, by its replacement policy", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(jobs, job({ podReplacementPolicy: "Failed" }))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    const first = at(harness, 0)
    await harness.cluster.delete(pods, "default", first.metadata.name!)
    await later(clock, () => expect(find(harness).status).toMatchObject({ active: 2, terminating: 1 }))
    expect(running(harness)).toHaveLength(2)
    await fail(harness, harness.cluster.find<Pod>(pods, "default", first.metadata.name!)!, 1, clock)
    await later(clock, () => expect(find(harness).status).toMatchObject({ terminating: 0, failed: 1 }))
    clock.advance(11_000)
    await eventually(() => expect(running(harness)).toHaveLength(3))
  })

  test("of another controller is ignored", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, {
      ...job({ managedBy: "example.com/other" }),
      metadata: { name: "a", namespace: "default" },
    })
    await harness.create(jobs, job({}))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    expect(harness.cluster.find<Job>(jobs, "default", "a")!.status).toBeUndefined()
  })

  test("releases the pods of an earlier Job of its name", async () => {
    await using harness = await startHarness({ only })
    await harness.create(jobs, job({}))
    await eventually(() => expect(running(harness)).toHaveLength(3))
    await harness.cluster.delete(jobs, "default", "work")
    const again = job({ parallelism: 0, selector: { matchLabels: { other: "yes" } } })
    await harness.create(jobs, { ...again, metadata: { ...again.metadata, uid: "v" } })
    await eventually(() => {
      for (const { metadata } of harness.cluster.all(pods)) expect(metadata.finalizers ?? []).toEqual([])
    })
  })
})

describe("the backoff of failed pods", () => {
  const pod = (second: number): Pod =>
    ({ metadata: { creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, "0")}Z` } }) as Pod
  const now = Date.parse("2026-01-01T00:00:30Z")

  test.each([
    [[], [], undefined, 0],
    [[], [25], { count: 1 }, 5_000],
    [[], [10, 25], { count: 2 }, 15_000],
    [[20], [10, 25], { count: 1 }, 5_000],
    [[26], [10, 25], undefined, 0],
  ])("after successes at %j and failures at %j", (succeeded, failed, failures, wait) => {
    const found = withFinished(undefined, succeeded.map(pod), failed.map(pod))
    if (failures === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject(failures)
    expect(remainingBackoffMs(found, now)).toBe(wait)
  })

  test("is at most ten minutes", () => {
    expect(remainingBackoffMs({ count: 40, latest: now }, now)).toBe(600_000)
  })
})
