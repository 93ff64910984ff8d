import { describe, expect, test } from "vitest"
import type { EndpointSlice } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { SliceTracker } from "./slice-tracker.ts"

const slice = (name: string, resourceVersion: number, metadata: object = {}): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name,
    namespace: "default",
    uid: `uid-${name}`,
    resourceVersion: String(resourceVersion),
    labels: { "kubernetes.io/service-name": "web" },
    ...metadata,
  },
  addressType: "IPv4",
  endpoints: [],
})
const going = { deletionTimestamp: "2026-01-01T00:00:00Z" }

interface Shown {
  /** What the cache has of the slice; undefined: nothing. */
  cached?: EndpointSlice
  /** It is among those of its Service. */
  isIts?: boolean
  afterMs?: number
}

function shown(tracker: SliceTracker, clock: FakeClock, { cached, isIts = true, afterMs = 0 }: Shown): string {
  clock.advance(afterMs)
  const own = cached !== undefined && isIts ? [cached] : []
  return tracker.isWritten("t", "default/web", own, (name) => (name === cached?.metadata.name ? cached : undefined))
}

describe("slices that were", () => {
  test.each<[what: "wrote" | "deleted" | "found", shown: Shown, wanted: string]>([
    ["wrote", { cached: slice("a", 9) }, "later"],
    ["wrote", { cached: slice("a", 10) }, "yes"],
    ["wrote", { cached: slice("a", 11) }, "yes"],
    ["wrote", {}, "later"],
    ["wrote", { cached: slice("a", 10, { uid: "another" }) }, "later"],
    ["wrote", { afterMs: 5_001 }, "yes"],
    ["wrote", { cached: slice("a", 11), isIts: false }, "no"],
    ["wrote", { cached: slice("a", 11), isIts: false, afterMs: 3_600_000 }, "no"],
    ["deleted", { cached: slice("a", 10) }, "later"],
    ["deleted", { cached: slice("a", 10), afterMs: 5_001 }, "yes"],
    ["deleted", {}, "yes"],
    ["deleted", { cached: slice("a", 11, going), isIts: false }, "yes"],
    ["deleted", { cached: slice("a", 11, going) }, "no"],
    ["found", { cached: slice("a", 11), isIts: false }, "no"],
    ["found", {}, "no"],
  ])("%s, where %j is shown, are as written: %s", (what, state, wanted) => {
    const clock = new FakeClock()
    const tracker = new SliceTracker(clock, () => true)
    tracker[what]("t", slice("a", 10))
    expect(shown(tracker, clock, state)).toBe(wanted)
    expect(tracker.isWritten("t", "default/other", [], () => undefined)).toBe("yes")
    expect(tracker.isWritten("another", "default/web", [], () => undefined)).toBe("yes")
  })

  test("given to somebody else are awaited even when they are gone, until they are back or released", () => {
    const clock = new FakeClock()
    const tracker = new SliceTracker(clock, () => true)
    const cached = slice("a", 11)
    tracker.wrote("t", slice("a", 10))
    expect(shown(tracker, clock, { cached, isIts: false })).toBe("no")
    expect(shown(tracker, clock, { afterMs: 3_600_000 })).toBe("no")
    expect(shown(tracker, clock, { cached })).toBe("yes")
    expect(shown(tracker, clock, { cached, isIts: false })).toBe("no")
    tracker.gone("t", cached)
    expect(shown(tracker, clock, {})).toBe("yes")
    tracker.wrote("t", slice("a", 10))
    expect(shown(tracker, clock, { cached, isIts: false })).toBe("no")
    tracker.release("t", "default/web", () => undefined)
    expect(shown(tracker, clock, {})).toBe("yes")
    tracker.wrote("t", slice("a", 10))
    tracker.release("t", "default/web", () => undefined)
    expect(shown(tracker, clock, {})).toBe("later")
    tracker.forget("t")
    expect(shown(tracker, clock, {})).toBe("yes")
  })
})
