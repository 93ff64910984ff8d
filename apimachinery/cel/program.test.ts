// expressions.cases.json contains the results of Kubernetes' CEL for these expressions: errors, types, values, costs and estimates
// (see generate/).

import { readFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import { afterEach, describe, expect, test, vi } from "vitest"
import { collectGarbage } from "../testing/garbage.ts"
import { type Answer, answer, environment, values } from "../testing/cel-answers.ts"
import { CostExceeded } from "./closures.ts"
import { compileExpression, type Program } from "./program.ts"
import { childrenOf, type Node } from "./syntax/ast.ts"
import { CelError } from "./values.ts"

interface Case extends Answer {
  expression: string
}

const cases = JSON.parse(readFileSync(new URL("./expressions.cases.json", import.meta.url), "utf8")) as Case[]

describe("expressions are evaluated as by Kubernetes:", () => {
  test.each(cases)("$expression", ({ expression, ...expected }) => {
    const found = answer(expression)
    // The maximum of estimates is 2⁶⁴ here and one less there.
    const most = (estimate: [number, number] | undefined): number | undefined =>
      estimate && Math.min(estimate[1], 2 ** 60)
    expect({ ...found, estimate: [found.estimate?.[0], most(found.estimate)] }).toEqual({
      ...expected,
      estimate: [expected.estimate?.[0], most(expected.estimate)],
    })
  })
})

function compiled(source: string): Program {
  const { program, issues } = compileExpression(source, environment)
  if (program === undefined) throw new Error(issues)
  return program
}

test.each([
  [100, undefined],
  [131, "1 more errors were truncated"],
])("of %d texts that are no tokens the first hundred are told", (count, last) => {
  const lines = compileExpression(`a${"ü".repeat(count)}`, environment).issues?.split("\n") ?? []
  expect(lines.filter((line) => line.startsWith("ERROR: "))).toHaveLength(100)
  expect(lines.at(-1)?.startsWith(" | ") === true ? undefined : lines.at(-1)).toBe(last)
})

test("an expression that exceeds its cost limit is stopped", () => {
  const nested = compiled("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))")
  expect(() => nested.evaluate(values)).toThrow(CostExceeded)
})

describe("an expression with little cost and a long duration", () => {
  afterEach(() => vi.restoreAllMocks())

  /** Advances the time at each reading; `share` of it is this thread's processor time. */
  function passTime(share: number): void {
    let ms = 0
    vi.spyOn(performance, "now").mockImplementation(() => (ms += 100))
    vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: ms * 1000 * share, system: 0 }))
  }

  const long = compiled("lists.range(100).all(x, lists.range(20).all(y, x + y >= 0))")

  test("is interrupted", () => {
    passTime(1)
    expect(() => long.evaluate(values)).toThrow("operation interrupted")
  })

  test("is not interrupted for time used by other processes", () => {
    passTime(0.001)
    expect(long.evaluate(values).value).toBe(true)
  })
})

test("lists and maps grow in linear time", () => {
  const { value } = compiled("lists.range(20000).map(x, x * 2).filter(x, x > 10).size()").evaluate(values)
  expect(value).toBe(19_994n)
  expect(compiled("lists.range(10000).transformMap(i, x, x).size()").evaluate(values).value).toBe(10_000n)
})

test.each([
  "(".repeat(300) + "1" + ")".repeat(300),
  Array.from({ length: 400 }, () => "1").join("+"),
  `a${".b".repeat(400)}`,
  "!".repeat(50_000) + "true",
])("deep nesting is rejected or evaluated without a crash: %#", (source) => {
  expect(() => compileExpression(source, environment)).not.toThrow()
})

describe("time zones", () => {
  const time = "timestamp('2024-07-01T10:00:00Z')"
  const hoursIn = (zone: string): unknown => {
    const { program } = compileExpression(`${time}.getHours('${zone}')`, environment)
    return program?.evaluate(new Map(), 1_000_000).value
  }

  test("are found regardless of how many others were used before", () => {
    for (const zone of Intl.supportedValuesOf("timeZone")) expect(typeof hoursIn(zone), zone).toBe("bigint")
    expect(hoursIn("Europe/Berlin")).toBe(12n)
    expect(hoursIn("America/New_York")).toBe(6n)
  })

  test.each(["+0100", "+01", "Nowhere/There", "pacific/auckland", "x".repeat(100)])("%s is unknown", (zone) => {
    expect(hoursIn(zone)).toBeInstanceOf(CelError)
  })
})

test("a program keeps nothing of the tree that it was made of", async () => {
  const nodesOf = (node: Node): Node[] => [node, ...childrenOf(node).flatMap(nodesOf)]
  const sources = [
    "{'a': {'b': 1}}.a.b == 1 || has({'a': {}}.a.b)",
    "'a' in ['a', 'b'] && [1, 2].exists(x, x in [1, 2] && [x][0] > 1)",
    "[{'k': 'v'}].map(x, x.k + 'w').all(y, y.matches('v.*') ? !(y == 'w') : int('1') == size(y))",
  ]
  const made = sources.map((source) => {
    const { program, checked } = compileExpression(source, environment)
    return { program, nodes: nodesOf(checked!.tree).map((node) => new WeakRef(node)) }
  })
  await setImmediate() // what a WeakRef is made of is kept until then
  collectGarbage()
  const kept = made.map(({ nodes }) => nodes.flatMap((node) => node.deref()?.kind ?? []))
  expect(kept).toEqual(sources.map(() => []))
  expect(made.map(({ program }) => program?.evaluate(new Map()).value)).toEqual([true, true, true])
})
