import { describe, expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { isAvailable, nextAvailabilityMs } from "./pod-state.ts"

const now = Date.parse("2026-01-01T00:00:10Z")
const pod = (since: string | null | undefined): Pod => {
  const condition = { type: "Ready", status: "True", ...(since === undefined ? {} : { lastTransitionTime: since }) }
  return { apiVersion: "v1", kind: "Pod", metadata: {}, status: { conditions: [condition] } } as unknown as Pod
}

// The expected values are those of IsPodAvailable upstream; one that nobody knows more of is looked at again after the whole time.
describe("a pod that is to be ready for five seconds", () => {
  test.each<[string, string | null | undefined, boolean, number | undefined]>([
    ["has been", "2026-01-01T00:00:04Z", true, undefined],
    ["has not been yet", "2026-01-01T00:00:08Z", false, 3_000],
    ["is ready since nobody knows when", undefined, false, 5_000],
    ["is ready since nobody knows when, as servers write it", null, false, 5_000],
  ])("%s", (_, since, available, next) => {
    expect(isAvailable(pod(since), 5, now)).toBe(available)
    expect(nextAvailabilityMs([pod(since)], 5, now)).toBe(next)
    expect(isAvailable(pod(since), 0, now)).toBe(true)
  })
})
