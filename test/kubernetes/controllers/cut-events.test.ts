import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { eventLimits } from "../../../client/events.ts"
import { cutBeginnings, withoutCut } from "./cut-events.ts"
import type { Snapshot } from "./scenario.ts"

const event = (name: string, count: number, reason = "Failed", uid = "u"): KubeObject =>
  ({
    involvedObject: { kind: "Pod", name, uid },
    type: "Warning",
    reason,
    message: "m",
    count,
    source: { component: "c" },
  }) as unknown as KubeObject

const snapshot = (events: string[], cut: string[] = []): Snapshot => ({ objects: {}, events, cut, refusals: [] })

test("events may be cut where an object has as many of one type as are written, of all reasons together", () => {
  const half = Math.ceil(eventLimits.burst / 2)
  const few = [event("few", half), event("few", half, "Failed", "another")]
  expect(cutBeginnings([...few, event("many", half), event("many", half, "Other")])).toEqual(["c: Pod/many Warning "])
})

describe("withoutCut()", () => {
  const [a, b, other] = ["c: Pod/p Warning A: a", "c: Pod/p Warning B: b", "c: Pod/p Normal C: c"]

  test("leaves out what may be cut on the side that lacks it", () => {
    const sides = [snapshot([a, other], ["c: Pod/p Warning "]), snapshot([a, b, other])]
    expect(withoutCut(sides)).toEqual([snapshot([a, other]), snapshot([a, other])])
  })

  test("leaves what a side has too many of", () => {
    const sides = [snapshot([other]), snapshot([a, b, other], ["c: Pod/p Warning "])]
    expect(withoutCut(sides)).toEqual([snapshot([other]), snapshot([a, b, other])])
  })

  test("leaves all else", () => {
    const sides = [snapshot([a]), snapshot([a, other], ["c: Pod/p Warning "])]
    expect(withoutCut(sides)).toEqual([snapshot([a]), snapshot([a, other])])
  })
})
