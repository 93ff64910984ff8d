import { describe, expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { forbidden } from "../apimachinery/status.ts"
import { FakeCluster } from "./testing/fake-cluster.ts"
import { EventRecorder, eventLimits } from "./events.ts"
import { events, pods } from "./resources.ts"
import { FakeClock } from "./testing/fake-clock.ts"
import { withFieldManager } from "./writes-as.ts"

const pod: KubeObject = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default", uid: "u" } }

describe("an EventRecorder", () => {
  test("writes one Event and counts repetitions", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "test-controller", clock })
    for (let index = 0; index < 3; index++) {
      recorder.event(cluster, pod, "Warning", "Failed", "it did not work")
      clock.advance(1000)
    }
    await recorder.drained()
    expect(cluster.all(events)).toMatchObject([
      {
        involvedObject: { kind: "Pod", name: "p", namespace: "default", uid: "u" },
        type: "Warning",
        reason: "Failed",
        message: "it did not work",
        source: { component: "test-controller" },
        count: 3,
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:02Z",
      },
    ])
  })

  test("combines similar events", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    for (let index = 0; index < 15; index++) recorder.event(cluster, pod, "Normal", "Did", `thing ${index}`)
    await recorder.drained()
    expect(cluster.all(events)).toHaveLength(eventLimits.similar)
    const combined = cluster.all(events).find((event) => String(event["message"]).startsWith("(combined"))
    const message = "(combined from similar events): thing 14"
    expect(combined).toMatchObject({ message, count: 6, source: { component: "c" }, reportingComponent: "" })
    const others = cluster.all(events).filter((event) => event !== combined)
    expect(new Set(others.map((event) => event["reportingComponent"]))).toEqual(new Set(["c"]))
  })

  test("combines similar events until there were none for a while", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    for (let index = 0; index < 15; index++) {
      recorder.event(cluster, pod, "Normal", "Did", `thing ${index}`)
      clock.advance(eventLimits.similarMs / 2)
    }
    await recorder.drained()
    expect(cluster.all(events)).toHaveLength(eventLimits.similar)
    clock.advance(eventLimits.similarMs)
    recorder.event(cluster, pod, "Normal", "Did", "thing 15")
    await recorder.drained()
    expect(cluster.all(events)).toHaveLength(eventLimits.similar + 1)
  })

  test("limits the events of one object without affecting others", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    const other = { ...pod, metadata: { ...pod.metadata, name: "o", uid: "o" } }
    for (let index = 0; index < 100; index++) recorder.event(cluster, pod, "Normal", "Again", "same")
    recorder.event(cluster, other, "Normal", "Again", "same")
    clock.correct(-3_600_000)
    clock.advance(eventLimits.refillMs)
    recorder.event(cluster, pod, "Normal", "Again", "same")
    recorder.event(cluster, pod, "Normal", "Again", "same")
    await recorder.drained()
    const counts = cluster.all(events).map((event) => event["count"])
    // The count includes the events dropped in between.
    expect(counts).toEqual([1, 101])
  })

  test("has a separate limit for normal events and warnings", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    for (let index = 0; index <= eventLimits.burst; index++) recorder.event(cluster, pod, "Warning", "Failed", "again")
    recorder.event(cluster, pod, "Normal", "Worked", "at last")
    await recorder.drained()
    const recorded = cluster.all(events).map(({ reason, count }) => [reason, count])
    expect(recorded).toEqual([
      ["Failed", eventLimits.burst],
      ["Worked", 1],
    ])
  })

  test("writes the events of one turn concurrently, but counts repetitions in order", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const begun: string[] = []
    const gate = Promise.withResolvers<void>()
    const client = withFieldManager(cluster, "test")
    client.create = async (resource, object) => {
      begun.push(String((object as { message?: unknown }).message))
      await gate.promise
      return cluster.create(resource, object)
    }
    const recorder = new EventRecorder({ component: "c", clock })
    for (const message of ["one", "two", "one", "three"]) recorder.event(client, pod, "Normal", "Did", message)
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(["one", "two"])
    gate.resolve()
    await recorder.drained()
    expect(begun).toEqual(["one", "two", "three"])
    const counts = cluster.all(events).map((event) => [event["message"], event["count"]] as const)
    expect(Object.fromEntries(counts)).toEqual({ one: 2, two: 1, three: 1 })
  })

  test("does not let one tenant's webhooks delay the events of others", async () => {
    const cluster = new FakeCluster({ clock: new FakeClock() })
    const gate = Promise.withResolvers<void>()
    const slow = withFieldManager(new FakeCluster(), "test")
    slow.create = (_, object) => gate.promise.then(() => object)
    const recorder = new EventRecorder({ component: "c" })
    const objectOf = (at: number): KubeObject => ({ ...pod, metadata: { ...pod.metadata, uid: `u${at}` } })
    for (let at = 0; at < 2 * eventLimits.waiting; at++) recorder.event(slow, objectOf(at), "Normal", "A", "b", "slow")
    for (let at = 0; at < 100; at++) recorder.event(cluster, objectOf(-at), "Normal", "A", "b", "other")
    await expect.poll(() => cluster.all(events).length).toBe(100)
    gate.resolve()
    await recorder.drained()
  })

  test("writes and remembers only the beginning of a long message", async () => {
    const cluster = new FakeCluster({ clock: new FakeClock() })
    const recorder = new EventRecorder({ component: "c", clock: new FakeClock() })
    for (const end of ["a", "b"]) recorder.event(cluster, pod, "Normal", "A", "x".repeat(1_000_000) + end)
    await recorder.drained()
    const message = "x".repeat(eventLimits.message)
    expect(cluster.all(events)).toMatchObject([{ message, count: 2 }])
  })

  test("counts on, from the first, what exceeded the limit or was refused", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    const firstTimestamp = "2026-01-01T00:00:00Z"
    cluster.fail = () => forbidden(events, "", "no")
    recorder.event(cluster, pod, "Normal", "Did", "refused")
    await recorder.drained()
    cluster.fail = undefined
    for (let index = 1; index < eventLimits.burst; index++) recorder.event(cluster, pod, "Normal", "Did", "other")
    recorder.event(cluster, pod, "Normal", "Did", "too many")
    clock.advance(2 * eventLimits.refillMs)
    recorder.event(cluster, pod, "Normal", "Did", "refused")
    recorder.event(cluster, pod, "Normal", "Did", "too many")
    await recorder.drained()
    const counted = cluster.all(events).filter(({ count }) => count === 2)
    expect(counted).toMatchObject([
      { message: "refused", firstTimestamp },
      { message: "too many", firstTimestamp },
    ])
  })

  test("creates an Event that has expired again, by its name", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const recorder = new EventRecorder({ component: "c", clock })
    recorder.event(cluster, pod, "Normal", "Did", "it")
    await recorder.drained()
    const [first] = cluster.all(events)
    const { name = "" } = first!.metadata
    await cluster.delete(events, "default", name)
    recorder.event(cluster, pod, "Normal", "Did", "it")
    await recorder.drained()
    expect(cluster.all(events)).toMatchObject([{ metadata: { name }, count: 2 }])
  })

  test.each(["system:node", "a".repeat(250)])("names an Event otherwise if %s would not do", async (name) => {
    const cluster = new FakeCluster()
    const recorder = new EventRecorder({ component: "c" })
    recorder.event(cluster, { ...pod, metadata: { ...pod.metadata, name } }, "Normal", "Did", "it")
    await recorder.drained()
    expect(cluster.all(events).map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })

  test("tells objects without a uid apart", async () => {
    const cluster = new FakeCluster()
    const recorder = new EventRecorder({ component: "c" })
    const without = ["a", "b"].map((name) => ({ ...pod, metadata: { name, namespace: "default" } }))
    for (const object of without) recorder.event(cluster, object, "Normal", "Did", "it")
    await recorder.drained()
    const recorded = cluster.all(events) as (KubeObject & { involvedObject: { name: string }; count: number })[]
    expect(recorded.map(({ involvedObject, count }) => [involvedObject.name, count])).toEqual([
      ["a", 1],
      ["b", 1],
    ])
  })

  test("never throws", async () => {
    const cluster = new FakeCluster({ clock: new FakeClock() })
    cluster.fail = (verb) => (verb === "list" ? undefined : forbidden(events, "", "no"))
    const recorder = new EventRecorder({ component: "c" })
    recorder.event(cluster, pod, "Normal", "A", "b")
    await recorder.drained()
    expect(cluster.all(pods)).toEqual([])
  })
})
