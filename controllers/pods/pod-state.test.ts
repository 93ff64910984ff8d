import { describe, expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { isAvailable, nextAvailability } from "./pod-state.ts"

const now = Date.parse("2026-01-01T00:00:10Z")
const pod = (since: string | null | undefined): Pod => {
  const condition = { type: "Ready", status: "True", ...(since === undefined ? {} : { lastTransitionTime: since }) }
  return { apiVersion: "v1", kind: "Pod", metadata: {}, status: { conditions: [condition] } } as unknown as Pod
}

// The expected values are those of IsPodAvailable upstream; those of the next time are of FindMinNextPodAvailabilityCheck.
describe("a pod that is to be ready for five seconds", () => {
  test.each<[string, string | null | undefined, boolean, number | undefined]>([
    ["has been", "2026-01-01T00:00:04Z", true, undefined],
    ["is now", "2026-01-01T00:00:05Z", true, undefined],
    ["has not been yet", "2026-01-01T00:00:08Z", false, now + 3_000],
    ["is ready since nobody knows when", undefined, false, undefined],
    ["is ready since nobody knows when, as servers write it", null, false, undefined],
  ])("%s", (_, since, available, next) => {
    expect(isAvailable(pod(since), 5, now)).toBe(available)
    expect(nextAvailability([pod(since)], 5, now)).toBe(next)
    expect(isAvailable(pod(since), 0, now)).toBe(true)
  })
})
