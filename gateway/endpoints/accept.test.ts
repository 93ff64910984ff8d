import { describe, expect, test } from "vitest"
import { parseAccept } from "./accept.ts"

describe("parseAccept()", () => {
  test.each([
    ["application/yaml;q=0.5, application/json", "application/json application/yaml"],
    ["*/*, application/yaml;q=0.1", "application/yaml */*"],
    ["application/*,,application/yaml;q=x", "application/yaml application/*"],
    ["a/b;q=0.2, */*, c/d;q=0.1, e/f", "e/f */* a/b c/d"],
    ["*;q=0.5, */, a/, b", "*/* */*"],
    ["a/b;q=1.5, c/d;q=inf, e/f", "c/d a/b e/f"],
    ["a/b/c, d/e/, f / g", "d/e f/g"],
  ])("orders %j as upstream does", (header, types) => {
    expect(
      parseAccept(header)
        .map(({ type }) => type)
        .join(" "),
    ).toBe(types)
  })

  test("orders many clauses in little time", () => {
    expect(parseAccept("*/*,a/b,".repeat(20_000))).toHaveLength(40_000)
  })
})
