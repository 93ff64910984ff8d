import { describe, expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { WriteTracker } from "./write-tracker.ts"

const object = (resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "one", uid: "u", resourceVersion },
})

describe("a write", () => {
  test.each([
    ["wrote", undefined, false],
    ["wrote", "9", false],
    ["wrote", "10", true],
    ["wrote", "11", true],
    // The object existed and was deleted, which is a later state.
    ["changed", undefined, true],
    ["changed", "9", false],
    ["changed", "10", true],
  ] as const)("of those that %s, where the cache has revision %s, is seen: %s", (kind, cached, seen) => {
    const tracker = new WriteTracker(new FakeClock())
    tracker[kind]("owner", object("10"))
    expect(tracker.isSeen("owner", () => (cached === undefined ? undefined : object(cached)))).toBe(seen)
    expect(tracker.isSeen("another", () => undefined)).toBe(true)
  })

  test("that is never observed is awaited for five seconds", () => {
    const clock = new FakeClock()
    const givenUp: string[] = []
    const tracker = new WriteTracker(clock, (owner) => givenUp.push(owner))
    tracker.wrote("owner", object("10"))
    tracker.wrote("another", object("10"))
    clock.correct(3_600_000)
    clock.advance(5_000)
    expect(tracker.isSeen("owner", () => undefined)).toBe(false)
    clock.advance(1)
    expect(tracker.isSeen("owner", () => undefined)).toBe(true)
    expect(tracker.isSeen("another", () => object("10"))).toBe(true)
    expect(givenUp).toEqual(["owner"])
  })
})
