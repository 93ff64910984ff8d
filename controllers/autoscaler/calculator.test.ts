import { describe, expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { byAverageValue, byTotal, byTotalPerPod, byUtilization } from "./calculator.ts"
import type { PodMetrics } from "./metrics-client.ts"

const now = Date.parse("2026-01-01T01:00:00Z")
const tolerances = { up: 0.1, down: 0.1 }

type State = "ready" | "pending" | "failed" | "terminating" | "unready" | "starting" | "fresh"

function pod(name: string, state: State = "ready", request: string | undefined = "100m"): Pod {
  const long = "2026-01-01T00:00:00Z"
  const short = "2026-01-01T00:59:30Z"
  const isNew = state === "starting" || state === "fresh"
  const isReady = state !== "unready" && state !== "starting"
  return {
    metadata: { name, ...(state === "terminating" ? { deletionTimestamp: long } : {}) },
    spec: { containers: [{ name: "c", resources: request === undefined ? {} : { requests: { cpu: request } } }] },
    status: {
      phase: state === "pending" ? "Pending" : state === "failed" ? "Failed" : "Running",
      startTime: isNew ? short : long,
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: isNew ? short : long }],
    },
  } as unknown as Pod
}

const metricsOf = (values: Record<string, number>): PodMetrics =>
  new Map(Object.entries(values).map(([name, value]) => [name, { at: now - 10_000, windowMs: 30_000, value }]))

describe("byUtilization()", () => {
  test.each([
    ["scales up in proportion", ["ready", "ready", "ready"], { a: 90, b: 90, c: 90 }, 60, 5],
    ["stays within the tolerance", ["ready", "ready", "ready"], { a: 65, b: 65, c: 65 }, 60, 3],
    ["scales down in proportion", ["ready", "ready", "ready"], { a: 20, b: 20, c: 20 }, 60, 1],
    ["counts a missing one as idle when scaling up", ["ready", "ready", "ready"], { a: 100, b: 100 }, 50, 4],
    ["counts a missing one as full when scaling down", ["ready", "ready", "ready"], { a: 10, b: 10 }, 50, 3],
    ["counts a pending one as idle when scaling up", ["ready", "ready", "pending"], { a: 100, b: 100 }, 50, 4],
    ["ignores a pending one when scaling down", ["ready", "ready", "pending"], { a: 10, b: 10 }, 50, 1],
    ["ignores failed and terminating ones", ["ready", "failed", "terminating"], { a: 100, b: 1, c: 1 }, 50, 2],
    ["counts one that was never ready as idle", ["ready", "ready", "unready"], { a: 100, b: 100, c: 300 }, 50, 4],
    ["counts a starting one as idle", ["ready", "ready", "starting"], { a: 100, b: 100, c: 900 }, 50, 4],
    ["counts one sampled before it was ready as idle", ["ready", "ready", "fresh"], { a: 100, b: 100, c: 900 }, 50, 4],
  ] as const)("%s", (_, states, values, target, replicas) => {
    const pods = states.map((state, index) => pod("abc"[index]!, state))
    const question = { current: 3, pods, metrics: metricsOf(values), resource: "cpu", tolerances, now }
    expect(byUtilization(question, target, undefined).replicas).toBe(replicas)
  })

  test.each([
    [[], { a: 1 }, "no pods returned by selector while calculating replica count"],
    [[pod("a", "pending")], { a: 1 }, "did not receive metrics for targeted pods (pods might be unready)"],
    [[pod("a", "ready", "0")], { a: 1 }, "no metrics returned matched known pods"],
  ])("of %j and %j is undefined", (pods, values, why) => {
    const question = { current: 1, pods, metrics: metricsOf(values), resource: "cpu", tolerances, now }
    expect(() => byUtilization(question, 50, undefined)).toThrow(why)
  })

  test("names the container without a request and the missing container", () => {
    const bare = { ...pod("a"), spec: { containers: [{ name: "c" }] } } as Pod
    const question = { current: 1, pods: [bare], metrics: metricsOf({ a: 1 }), resource: "cpu", tolerances, now }
    expect(() => byUtilization(question, 50, undefined)).toThrow("missing request for cpu in container c of Pod a")
    expect(() => byUtilization(question, 50, "d")).toThrow("container d not found in Pod a")
  })
})

describe("other metrics", () => {
  test("by average", () => {
    const question = { current: 2, pods: [pod("a"), pod("b")], resource: "", tolerances, now }
    const found = byAverageValue({ ...question, metrics: metricsOf({ a: 20_000, b: 25_000 }) }, 10_000)
    expect(found).toEqual({ replicas: 5, usage: 22_500 })
  })

  test.each([
    [2, 30_000, 10_000, 6],
    [2, 10_500, 10_000, 2],
    [0, 30_000, 10_000, 3],
  ])("by one value: %i pods, %i of %i", (current, usage, target, replicas) => {
    const question = { current, pods: [pod("a"), pod("b")], tolerances, now }
    expect(byTotal(question, usage, target).replicas).toBe(replicas)
  })

  test.each([
    [2, 30_000, 10_000, 3, 15_000],
    [2, 20_100, 10_000, 2, 10_050],
  ])("by one value for each of %i: %i of %i", (actual, usage, target, replicas, average) => {
    expect(byTotalPerPod(actual, usage, target, tolerances)).toEqual({ replicas, usage: average })
  })
})
