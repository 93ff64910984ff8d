import { describe, expect, test } from "vitest"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { deployments, horizontalPodAutoscalers } from "../../client/resources.ts"
import { eventually, eventTexts } from "../testing/harness.ts"
import {
  add,
  autoscaler,
  conditions,
  deployment,
  find,
  harnessWith,
  podMetrics,
  size,
  start,
  timedHarness,
  times,
} from "../testing/autoscaled.ts"

describe("a HorizontalPodAutoscaler", () => {
  test("scales up by utilization and records an event", async () => {
    await using harness = await harnessWith(2, (path) => {
      expect(path).toBe("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3Dweb")
      return podMetrics(times(2, { cpu: "100m" }))
    })
    await add(harness, autoscaler())
    await eventually(() => expect(size(harness)).toBe(4))
    await eventually(() => {
      expect(find(harness).status).toMatchObject({
        currentReplicas: 2,
        desiredReplicas: 4,
        lastScaleTime: "2026-01-01T01:00:15Z",
        currentMetrics: [
          { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "100m" } } },
        ],
      })
      expect(conditions(harness)).toEqual([
        "AbleToScale=True SucceededRescale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ])
      expect(eventTexts(harness)).toContain(
        "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
      )
    })
  })

  test("scales when its clock has been set back", async () => {
    let cpu = "50m"
    await using harness = await harnessWith(2, () => podMetrics(times(2, { cpu })))
    await add(harness, autoscaler())
    cpu = "100m"
    harness.clock.correct(-3_000_000)
    await eventually(() => {
      harness.clock.advance(100)
      expect(size(harness)).toBe(4)
    })
    expect(harness.clock.elapsed()).toBeLessThan(60_000)
  })

  test("scales down only if no recommendation of the last five minutes was larger", async () => {
    const clock = new FakeClock(start)
    await using harness = await harnessWith(4, () => podMetrics(times(4, { cpu: "10m" })), clock)
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)[0]).toBe("AbleToScale=True ScaleDownStabilized"))
    expect(size(harness)).toBe(4)
    await eventually(() => {
      clock.advance(15_000)
      expect(size(harness)).toBe(1)
    })
    expect(clock.now() - start).toBeGreaterThan(300_000)
  })

  test.each([
    [{ maxReplicas: 3 }, 5, 3, "Current number of replicas above Spec.MaxReplicas"],
    [{ minReplicas: 4 }, 2, 4, "Current number of replicas below Spec.MinReplicas"],
  ])("with %j scales %i to %i", async (spec, before, after, why) => {
    await using harness = await harnessWith(before, () => podMetrics(times(before, { cpu: "50m" })))
    await add(harness, autoscaler(spec))
    await eventually(() => expect(size(harness)).toBe(after))
    await eventually(() =>
      expect(eventTexts(harness)).toContain(`SuccessfulRescale: New size: ${after}; reason: ${why}`),
    )
  })

  test("does not scale a target with zero replicas", async () => {
    await using harness = await harnessWith(0, () => podMetrics([]))
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)).toContain("ScalingActive=False ScalingDisabled"))
    expect(size(harness)).toBe(0)
  })

  test("is first reconciled after its target could be created", async () => {
    await using harness = await timedHarness()
    await harness.create(horizontalPodAutoscalers, autoscaler())
    for (let ms = 0; ms < 14_000; ms += 100) {
      harness.clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await harness.create(deployments, deployment(0))
    await eventually(() => {
      harness.clock.advance(100)
      expect(conditions(harness)).toContain("ScalingActive=False ScalingDisabled")
    })
    expect(eventTexts(harness)).toEqual([])
  })

  test("reports a missing target", async () => {
    await using harness = await timedHarness()
    await add(harness, autoscaler())
    await eventually(() => {
      expect(conditions(harness)).toEqual(["AbleToScale=False FailedGetScale"])
      expect(eventTexts(harness)).toContain('FailedGetScale: deployments.apps "web" not found')
    })
  })

  test("does not scale when another one selects the same pods", async () => {
    const clock = new FakeClock(start)
    await using harness = await harnessWith(2, () => podMetrics(times(2, { cpu: "50m" })), clock)
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)).toContain("ScalingActive=True ValidMetricFound"))
    await add(harness, autoscaler({}, "other"))
    await eventually(() => {
      expect(conditions(harness, "other")).toContain("ScalingActive=False AmbiguousSelector")
      expect(eventTexts(harness).join()).toContain(
        "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]",
      )
    })
  })
})
