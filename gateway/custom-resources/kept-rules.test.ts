import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { atOnce } from "../../apimachinery/steps.ts"
import { collectGarbage } from "../../apimachinery/testing/garbage.ts"
import { rulesOfSchema } from "./rules.ts"

const schema = (name: string, length: number) => ({
  type: "object",
  description: name.repeat(length),
  properties: { size: { type: "integer" } },
  "x-kubernetes-validations": [{ rule: `self.size != ${name.length}` }],
})

const compiledRules = (of: object) => {
  const compilation = rulesOfSchema(of as never)
  return compilation && atOnce(compilation.taking()).tree
}

/** The memory of all rules has room for three. */
const long = 12 * 1024 * 1024

test("equal schemas share their rules, but those of long ones are not kept for all that have ever been there", () => {
  const rules = compiledRules(schema("a", long))
  expect(rules?.rules.length).toBe(1)
  expect(compiledRules(schema("a", long))).toBe(rules)
  for (const name of ["b", "c", "d"]) rulesOfSchema(schema(name, long))
  expect(compiledRules(schema("a", long))).not.toBe(rules)
})

test("the rules of a definition are compiled again when those of many others have been used", async () => {
  const defined = schema("e", 10)
  const rules = new WeakRef(compiledRules(defined) ?? {})
  expect(compiledRules(defined)).toBe(rules.deref())
  for (const name of ["f", "g", "h", "i"]) rulesOfSchema(schema(name, long))
  await setImmediate() // what a WeakRef is made of is kept until then
  collectGarbage()
  expect(rules.deref()).toBeUndefined()
  expect(compiledRules(defined)?.rules.length).toBe(1)
})

test("the rules of a definition in use are not compiled again, however many others are used in between", async () => {
  const defined = schema("k", 10)
  const rules = compiledRules(defined)
  for (const name of ["l", "m", "n", "o"]) {
    rulesOfSchema(schema(name, long))
    expect(compiledRules(defined)).toBe(rules)
  }
})
