import { expect, test } from "vitest"
import { rulesOfSchema } from "./rules.ts"

const schema = (name: string, length: number) => ({
  type: "object",
  description: name.repeat(length),
  properties: { size: { type: "integer" } },
  "x-kubernetes-validations": [{ rule: `self.size != ${name.length}` }],
})

test("equal schemas share their rules, but those of long ones are not kept for all that have ever been there", () => {
  const rules = rulesOfSchema(schema("a", 3_000_000))
  expect(rules?.rules.length).toBe(1)
  expect(rulesOfSchema(schema("a", 3_000_000))).toBe(rules)
  for (const name of ["b", "c"]) rulesOfSchema(schema(name, 3_000_000))
  expect(rulesOfSchema(schema("a", 3_000_000))).not.toBe(rules)
})
