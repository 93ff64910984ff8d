import { expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import type { JsonObject } from "../schema/json-object.ts"
import { compileStructural } from "../schema/structural/structural.ts"
import type { Steps } from "../steps.ts"
import { collectGarbage } from "../testing/garbage.ts"
import { checkingPolicyExpressions } from "./admission/check.ts"
import { checkingRules } from "./rules/definition.ts"

const path = FieldPath.root("spec")
const terms = Array.from({ length: 60 }, (_, index) => `1 > ${index}`).join(" || ")
const expressions = Array.from({ length: 200 }, (_, index) => `${index} != 0 && (${terms})`)

function checkingDefinition(): Steps<unknown> {
  const schema: JsonObject = {
    type: "object",
    "x-kubernetes-validations": expressions.map((rule) => ({ rule })),
  }
  return checkingRules(schema, path, compileStructural(schema, path))
}

const checkingVariables = (): Steps<unknown> =>
  checkingPolicyExpressions(
    { variables: expressions.map((expression, index) => ({ name: `v${index}`, expression })) },
    path,
  )

test.each([
  ["rules of a definition", checkingDefinition],
  ["variables of a policy", checkingVariables],
])("what %s are compiled to is not held until all are checked", (_, check) => {
  const checking = check()
  const held: number[] = []
  for (let step = 1; step < expressions.length; step++) {
    expect(checking.next().done).toBe(false)
    if (step !== 10 && step !== expressions.length - 1) continue
    collectGarbage()
    held.push(process.memoryUsage().heapUsed)
  }
  const [early = 0, late = 0] = held
  // That of each takes some 35 kB.
  expect(late - early).toBeLessThan(expressions.length * 8_000)
})
