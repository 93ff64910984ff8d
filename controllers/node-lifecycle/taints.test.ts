import { describe, expect, test } from "vitest"
import type { Node } from "../../apimachinery/object.ts"
import { taintSteps } from "./taints.ts"

describe("taintSteps()", () => {
  const of = (spec: object, ...conditions: [string, string][]): Node =>
    ({ spec, status: { conditions: conditions.map(([type, status]) => ({ type, status })) } }) as Node
  const notReady = "node.kubernetes.io/not-ready"
  const unreachable = "node.kubernetes.io/unreachable"

  test.each<[Node, ...string[][]]>([
    [of({}, ["Ready", "True"])],
    [of({ unschedulable: true }, ["Ready", "True"]), ["node.kubernetes.io/unschedulable:NoSchedule"]],
    [of({}, ["Ready", "True"], ["DiskPressure", "True"]), ["node.kubernetes.io/disk-pressure:NoSchedule"]],
    [of({}, ["Ready", "False"]), [`${notReady}:NoSchedule`, `${notReady}:NoExecute`]],
    [
      of({ taints: [{ key: notReady, effect: "NoExecute" }] }, ["Ready", "Unknown"]),
      [`${notReady}:NoExecute`, `${unreachable}:NoSchedule`, `${unreachable}:NoExecute`],
      [`${unreachable}:NoSchedule`, `${unreachable}:NoExecute`],
    ],
    [of({ taints: [{ key: notReady, effect: "NoExecute" }] }, ["Ready", "True"]), []],
    [of({ taints: [{ key: notReady, effect: "NoExecute" }] }, ["DiskPressure", "False"])],
    [of({ taints: [{ key: notReady, effect: "NoSchedule" }] }), []],
    [of({ taints: [{ key: "mine", effect: "NoSchedule" }] }, ["Ready", "True"])],
    [of({ taints: [{ key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" }] }, ["Ready", "True"]), []],
  ])("of %j", (subject, ...wanted) => {
    const steps = taintSteps(subject, { evict: true }, 0)
    expect(steps.map((taints) => taints.map(({ key, effect }) => `${key}:${effect}`))).toEqual(wanted)
  })

  const evictsFor = (key: string): object => ({ key, effect: "NoExecute", value: "mine" })
  const [mine, also] = [evictsFor(notReady), evictsFor(unreachable)]
  const ours = { key: notReady, effect: "NoExecute", timeAdded: "1970-01-01T00:00:00Z" }
  const repels = { key: notReady, effect: "NoSchedule", value: "mine" }
  test.each<[string, object[], boolean, object[][]]>([
    ["what a user wrote, anew", [repels, mine], true, [[repels, ours]]],
    ["not again what it wrote itself", [repels, { ...ours, timeAdded: "2026-01-01T00:00:00Z" }], true, []],
    ["not what a user wrote later", [repels, mine], false, []],
    [
      "what replaces the other, anew",
      [repels, also, mine],
      false,
      [
        [repels, also, ours],
        [repels, ours],
      ],
    ],
  ])("writes %s", (_, taints, isNew, steps) => {
    expect(taintSteps(of({ taints }, ["Ready", "False"]), { evict: true, isNew }, 0)).toEqual(steps)
  })
})
