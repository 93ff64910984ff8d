import { describe, expect, test } from "vitest"
import { Memory } from "./memory.ts"
import { normalize } from "./normalize.ts"
import type { AutoscalerSpec } from "./types.ts"

const now = Date.parse("2026-01-01T01:00:00Z")
const base = { minReplicas: 1, maxReplicas: 100 } as AutoscalerSpec

const up = (policies: object[], selectPolicy = "Max", window = 0): object => ({
  scaleUp: { stabilizationWindowSeconds: window, selectPolicy, policies },
  scaleDown: { stabilizationWindowSeconds: 300, selectPolicy: "Max", policies: [policy("Percent", 100)] },
})
const down = (policies: object[], selectPolicy = "Max"): object => ({
  scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies: [policy("Percent", 100)] },
  scaleDown: { stabilizationWindowSeconds: 0, selectPolicy, policies },
})
const policy = (type: string, value: number): object => ({ type, value, periodSeconds: 60 })

describe("normalize()", () => {
  test.each([
    [{}, 10, 15, 15, "DesiredWithinRange"],
    [{}, 10, 50, 20, "ScaleUpLimit"],
    [{}, 1, 9, 4, "ScaleUpLimit"],
    [{ maxReplicas: 12 }, 10, 50, 12, "TooManyReplicas"],
    [{ minReplicas: 5 }, 10, 2, 5, "TooFewReplicas"],
    [{ behavior: up([policy("Pods", 3), policy("Percent", 20)]) }, 10, 50, 13, "ScaleUpLimit"],
    [{ behavior: up([policy("Pods", 3), policy("Percent", 50)]) }, 10, 50, 15, "ScaleUpLimit"],
    [{ behavior: up([policy("Pods", 3), policy("Percent", 50)], "Min") }, 10, 50, 13, "ScaleUpLimit"],
    [{ behavior: up([policy("Pods", 3)], "Disabled") }, 10, 50, 10, "ScaleUpLimit"],
    [{ behavior: down([policy("Pods", 3), policy("Percent", 50)]) }, 10, 1, 5, "ScaleDownLimit"],
    [{ behavior: down([policy("Pods", 3), policy("Percent", 50)], "Min") }, 10, 1, 7, "ScaleDownLimit"],
    [{ behavior: down([policy("Pods", 3)], "Disabled") }, 10, 1, 10, "ScaleDownLimit"],
    [{ behavior: down([policy("Percent", 100)]), minReplicas: 2 }, 10, 1, 2, "TooFewReplicas"],
  ])("with %j limits %i → %i to %i: %s", (spec, current, desired, replicas, reason) => {
    const found = normalize({ ...base, ...spec } as AutoscalerSpec, new Memory(), current, desired, now)
    expect(found.replicas).toBe(replicas)
    expect(found.findings[1]).toMatchObject({ type: "ScalingLimited", reason })
  })

  test("counts earlier changes within the period", () => {
    const spec = { ...base, behavior: up([policy("Pods", 4)]) } as AutoscalerSpec
    const memory = new Memory()
    memory.scaled(spec.behavior, 10, 13, now - 30_000)
    expect(normalize(spec, memory, 13, 50, now).replicas).toBe(14)
    expect(normalize(spec, memory, 13, 50, now + 31_000).replicas).toBe(17)
  })

  test("scales up to the smallest recommendation of the window", () => {
    const spec = { ...base, behavior: up([policy("Percent", 900)], "Max", 60) } as AutoscalerSpec
    const memory = new Memory()
    memory.begin(10, now - 100_000)
    expect(normalize(spec, memory, 10, 12, now - 30_000).replicas).toBe(12)
    const found = normalize(spec, memory, 12, 40, now)
    expect(found.replicas).toBe(12)
    expect(found.findings[0]).toMatchObject({ reason: "ScaleUpStabilized" })
    expect(normalize(spec, memory, 12, 40, now + 61_000).replicas).toBe(40)
  })

  test("does not scale down below the largest recommendation of the window", () => {
    const memory = new Memory()
    const spec = { ...base, behavior: up([policy("Percent", 100)]) } as AutoscalerSpec
    memory.begin(10, now)
    expect(normalize(spec, memory, 10, 3, now + 299_000).findings[0]).toMatchObject({ reason: "ScaleDownStabilized" })
    expect(normalize(spec, memory, 10, 3, now + 301_000).replicas).toBe(3)
  })
})
