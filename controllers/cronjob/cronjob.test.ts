import { describe, expect, test } from "vitest"
import type { Job, KubeObject } from "../../apimachinery/object.ts"
import { forbidden } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { cronJobs, events, jobs } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import type { CronJob } from "./types.ts"

const only = ["cronjob", "garbage-collector"]
const start = Date.parse("2026-01-01T00:00:30Z")

function cronJob(spec: object = {}): KubeObject {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick", namespace: "default" },
    spec: { schedule: "* * * * *", jobTemplate: { metadata: { labels: { a: "b" } }, spec: { template: {} } }, ...spec },
  }
}

const find = (harness: Harness): CronJob => harness.cluster.find<CronJob>(cronJobs, "default", "tick")!
const names = (harness: Harness): string[] => harness.cluster.all(jobs).map(({ metadata }) => metadata.name!)
const nameAt = (time: string): string => `tick-${Date.parse(time) / 60_000}`

async function finish(harness: Harness, name: string, type: string): Promise<void> {
  const job = harness.cluster.find<Job>(jobs, "default", name)!
  const completionTime = "2026-01-01T00:01:30Z"
  const status = { completionTime, conditions: [{ type, status: "True" }] }
  await harness.cluster.update(jobs, { ...job, status }, { subresource: "status" })
}

/** Lets the controller observe the current state before the clock advances. */
async function advanceTo(clock: FakeClock, time: string): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  clock.advance(Date.parse(time) - clock.now())
}

describe("a CronJob", () => {
  test("starts a Job at each scheduled time, named by that time", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob())
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T00:01:00Z")]))
    const [job] = harness.cluster.all<Job>(jobs)
    expect(job!.metadata).toMatchObject({
      labels: { a: "b" },
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:01:00Z" },
      ownerReferences: [{ kind: "CronJob", name: "tick", controller: true }],
    })
    await eventually(() => {
      expect(find(harness).status).toMatchObject({
        lastScheduleTime: "2026-01-01T00:01:00Z",
        active: [{ name: job!.metadata.name, uid: job!.metadata.uid }],
      })
    })
    await finish(harness, job!.metadata.name!, "Complete")
    await eventually(() => {
      expect(find(harness).status!.active).toBeUndefined()
      expect(find(harness).status!.lastSuccessfulTime).toBe("2026-01-01T00:01:30Z")
    })
  })

  test("with Forbid waits for the running Job and records an event", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ concurrencyPolicy: "Forbid" }))
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    await advanceTo(clock, "2026-01-01T00:02:01Z")
    await eventually(() => {
      expect(harness.cluster.all(events).map((event) => event["reason"])).toContain("JobAlreadyActive")
    })
    expect(names(harness)).toEqual([nameAt("2026-01-01T00:01:00Z")])
    await finish(harness, nameAt("2026-01-01T00:01:00Z"), "Complete")
    await eventually(() => expect(names(harness)).toContain(nameAt("2026-01-01T00:02:00Z")))
  })

  test("with Replace deletes the running Job first", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ concurrencyPolicy: "Replace" }))
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    await advanceTo(clock, "2026-01-01T00:02:01Z")
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T00:02:00Z")]))
  })

  test("with Replace removes the deleted Job from its status, even if it cannot create another", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ concurrencyPolicy: "Replace" }))
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    harness.cluster.fail = (verb, resource) =>
      verb === "create" && resource === "jobs" ? forbidden({ group: "batch", resource }, "", "quota") : undefined
    await advanceTo(clock, "2026-01-01T00:02:01Z")
    await eventually(() => expect(find(harness).status!.active).toBeUndefined())
    harness.cluster.fail = () => undefined
    await advanceTo(clock, "2026-01-01T00:02:30Z")
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T00:02:00Z")]))
    const reasons = harness.cluster.all(events).map((event) => event["reason"])
    expect(new Set(reasons)).toEqual(new Set(["SuccessfulCreate", "SuccessfulDelete", "FailedCreate"]))
  })

  test("waits until another owner's Job of the same name is deleted", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    const name = nameAt("2026-01-01T00:01:00Z")
    const metadata = { name, namespace: "default" }
    const { metadata: strange } = await harness.create(jobs, { apiVersion: "batch/v1", kind: "Job", metadata })
    await harness.create(cronJobs, cronJob())
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await harness.cluster.delete(jobs, "default", name)
    await advanceTo(clock, "2026-01-01T00:01:30Z")
    await eventually(() => expect(find(harness).status?.active).toMatchObject([{ name }]))
    expect(harness.cluster.all(jobs)[0]!.metadata.uid).not.toBe(strange.uid)
  })

  test("starts only the last missed Job, and none after the starting deadline", async () => {
    const clock = new FakeClock(start)
    const late = { spec: { schedule: "0 * * * *", startingDeadlineSeconds: 60 } }
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ ...late.spec, suspend: true }))
    await advanceTo(clock, "2026-01-01T05:30:00Z")
    await harness.change(cronJobs, "default", "tick", { spec: { suspend: false } })
    await advanceTo(clock, "2026-01-01T05:30:01Z")
    expect(names(harness)).toEqual([])
    await harness.change(cronJobs, "default", "tick", { spec: { startingDeadlineSeconds: null } })
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T05:00:00Z")]))
  })

  test("accepts a starting deadline beyond the range of doubles", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ schedule: "0 * * * *", startingDeadlineSeconds: 2n ** 53n + 1n }))
    await advanceTo(clock, "2026-01-01T01:00:01Z")
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T01:00:00Z")]))
  })

  test("keeps finished Jobs up to its history limits", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }))
    for (const [minute, type] of [
      ["01", "Complete"],
      ["02", "Failed"],
      ["03", "Complete"],
      ["04", "Failed"],
    ] as const) {
      const time = `2026-01-01T00:${minute}:00Z`
      await advanceTo(clock, `2026-01-01T00:${minute}:01Z`)
      await eventually(() => expect(names(harness)).toContain(nameAt(time)))
      await finish(harness, nameAt(time), type)
    }
    const kept = ["2026-01-01T00:03:00Z", "2026-01-01T00:04:00Z"].map(nameAt)
    await eventually(() => expect(names(harness)).toEqual(kept))
  })

  test("records no completion event for a Job that it deletes immediately", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ successfulJobsHistoryLimit: 0 }))
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    await finish(harness, nameAt("2026-01-01T00:01:00Z"), "Complete")
    await eventually(() => expect(find(harness).status!.active).toBeUndefined())
    expect(find(harness).status!.lastSuccessfulTime).toBe("2026-01-01T00:01:30Z")
    const reasons = (): unknown[] => harness.cluster.all(events).map((event) => event["reason"])
    await eventually(() => expect(reasons()).toEqual(["SuccessfulCreate", "SuccessfulDelete"]))
  })

  test("updates its status when Jobs cannot be created", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob())
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    harness.cluster.fail = (verb, resource) =>
      verb === "create" && resource === "jobs" ? forbidden({ group: "batch", resource }, "", "quota") : undefined
    await advanceTo(clock, "2026-01-01T00:02:01Z")
    await finish(harness, nameAt("2026-01-01T00:01:00Z"), "Complete")
    await eventually(() => expect(find(harness).status!.active).toBeUndefined())
    expect(names(harness)).toEqual([nameAt("2026-01-01T00:01:00Z")])
  })

  test("starts with the next time of a changed schedule", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ schedule: "0 0 1 1 *" }))
    await advanceTo(clock, "2026-01-01T00:10:30Z")
    await harness.change(cronJobs, "default", "tick", { spec: { schedule: "*/5 * * * *" } })
    await advanceTo(clock, "2026-01-01T00:11:00Z")
    await eventually(() => expect(names(harness)).toEqual([]))
    await advanceTo(clock, "2026-01-01T00:15:01Z")
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T00:15:00Z")]))
  })

  test("has missed times of a schedule that was changed while it was suspended", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ schedule: "0 0 1 1 *", suspend: true }))
    await advanceTo(clock, "2026-01-01T00:10:30Z")
    await harness.change(cronJobs, "default", "tick", { spec: { schedule: "*/5 * * * *" } })
    await harness.change(cronJobs, "default", "tick", { spec: { suspend: false } })
    await eventually(() => expect(names(harness)).toEqual([nameAt("2026-01-01T00:10:00Z")]))
  })

  test("records events for Jobs that completed, disappeared or are not its own", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob())
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    const [first] = harness.cluster.all<Job>(jobs)
    await harness.cluster.delete(jobs, "default", first!.metadata.name!)
    await eventually(() => expect(find(harness).status?.active).toBeUndefined())
    const metadata = { name: "by-hand", namespace: "default", ownerReferences: first!.metadata.ownerReferences! }
    await harness.create(jobs, { apiVersion: "batch/v1", kind: "Job", metadata })
    const reasons = (): unknown[] => harness.cluster.all(events).map((event) => event["reason"])
    await eventually(() => expect(reasons()).toEqual(expect.arrayContaining(["MissingJob", "UnexpectedJob"])))
    await advanceTo(clock, "2026-01-01T00:02:01Z")
    await eventually(() => expect(find(harness).status?.active).toHaveLength(1))
    await finish(harness, nameAt("2026-01-01T00:02:00Z"), "Failed")
    await eventually(() => {
      const event = harness.cluster.all(events).find((event) => event["reason"] === "SawCompletedJob")
      expect(event).toMatchObject({
        message: `Saw completed job: ${nameAt("2026-01-01T00:02:00Z")}, condition: Failed`,
      })
    })
  })

  test("reports a schedule that has no times", async () => {
    await using harness = await startHarness({ only })
    await harness.create(cronJobs, cronJob({ schedule: "0 0 31 2 *" }))
    await eventually(() => {
      const event = harness.cluster.all(events).find((event) => event["reason"] === "InvalidSchedule")
      expect(event).toMatchObject({
        message: "invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second",
      })
    })
  })

  test("writes the scheduled time in its own time zone", async () => {
    const clock = new FakeClock(start)
    await using harness = await startHarness({ only, clock })
    await harness.create(cronJobs, cronJob({ timeZone: "Asia/Kolkata" }))
    await advanceTo(clock, "2026-01-01T00:01:01Z")
    await eventually(() => {
      expect(harness.cluster.all(jobs)[0]?.metadata.annotations).toEqual({
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T05:31:00+05:30",
      })
    })
  })

  test("reports an invalid schedule", async () => {
    await using harness = await startHarness({ only })
    await harness.create(cronJobs, cronJob({ schedule: "never" }))
    await eventually(() => {
      expect(harness.cluster.all(events).map((event) => event["reason"])).toContain("UnparseableSchedule")
    })
  })
})
