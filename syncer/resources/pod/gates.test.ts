import { expect, test } from "vitest"
import type { Pod } from "../../../apimachinery/object.ts"
import { placementAnnotation } from "../../../apimachinery/tenancy.ts"
import { contextWith, object } from "../../testing/sync-context.ts"
import { gatesChange } from "./gates.ts"
import { pod } from "./pod.ts"

const gated = (names: readonly string[], annotations: object = {}): Pod =>
  object({
    metadata: { namespace: "default", name: "web", annotations },
    spec: { containers: [], schedulingGates: names.map((name) => ({ name })) },
  })

const madeOf = (...names: string[]): Record<string, string> | undefined =>
  pod.firstAnnotations?.(gated(names), contextWith())
const earlier = { [placementAnnotation]: "x" }

test.each<[what: string, madeWith: object | undefined, there: string[], wanted: string[], left: string[] | undefined]>([
  ["the tenant removes one of its gates", madeOf("a", "b"), ["a", "b"], ["b"], ["b"]],
  ["the tenant removes its last gate", madeOf("a"), ["a"], [], []],
  ["the tenant removes none", madeOf("a", "b"), ["b", "a"], ["a", "b"], undefined],
  ["super's admission has added one", madeOf("a"), ["a", "queue"], ["a"], undefined],
  ["the tenant removes its own, beside one of super", madeOf("a"), ["queue", "a"], [], ["queue"]],
  ["super's admission has gated a pod without gates", madeOf(), ["queue"], [], undefined],
  ["the copy is of an earlier version", earlier, ["a", "b"], ["b"], ["b"]],
])("if %s", (_what, madeWith, there, wanted, left) => {
  expect(gatesChange(gated(wanted), gated(there, madeWith))).toEqual(left?.map((name) => ({ name })))
})
