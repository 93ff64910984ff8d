import { expect, test } from "vitest"
import { atOnce, inSteps } from "../apimachinery/steps.ts"
import { canonical, canonicalizing, hashing } from "./template-hash.ts"

const template = (count: number): object => ({
  spec: {
    none: null,
    containers: [
      {
        name: "c<&>",
        env: Array.from({ length: count }, (_, at) => ({ value: at % 3 === 0 ? null : `${at}`, name: `é${at}` })),
      },
    ],
    absent: undefined,
    always: [null],
  },
})

// Pods, ReplicaSets and revisions have it in their names: other versions must come to the same.
test.each([
  [0, undefined, "9b6f6946f"],
  [2, 1, "644ff774d7"],
  [20_000, undefined, "6f95b89dcf"],
])("the hash of a template of %i variables", (count, collisions, expected) => {
  const text = atOnce(canonicalizing(template(count)))
  expect(text).toBe(canonical(template(count)))
  expect(atOnce(hashing(text, collisions))).toBe(expected)
})

test("a large template becomes a text, and a hash, with pauses", () => {
  let pauses = 0
  const pause = (): undefined => void pauses++
  const text = inSteps(canonicalizing(template(20_000)), pause) as string
  expect(pauses).toBeGreaterThan(10)
  const before = pauses
  void inSteps(hashing(text, undefined), pause)
  expect(pauses - before).toBeGreaterThan(5)
})
