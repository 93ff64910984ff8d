import { expect, test } from "vitest"
import { trimSpace } from "./space.ts"

test("white space around a text is that of Go", () => {
  expect(trimSpace(" \t\u0085a b\u00a0\n\u3000")).toBe("a b")
  expect(trimSpace("\ufeffa\u200b")).toBe("\ufeffa\u200b")
  expect(trimSpace(" \u0085 ")).toBe("")
})
