import { expect, test, vi } from "vitest"
import { CompiledTexts } from "./compiled-texts.ts"

test("drops the least recently used texts beyond the limit of characters", () => {
  const compile = vi.fn((text: string) => text.toUpperCase())
  const texts = new CompiledTexts<string>(10)
  const of = (text: string): string => texts.of(text, () => compile(text))
  expect(["aaaa", "bbbb", "aaaa", "cccc"].map(of)).toEqual(["AAAA", "BBBB", "AAAA", "CCCC"])
  expect(compile.mock.calls).toEqual([["aaaa"], ["bbbb"], ["cccc"]])
  of("aaaa")
  expect(compile).toHaveBeenCalledTimes(3)
  of("bbbb")
  expect(compile).toHaveBeenCalledTimes(4)
})

test("does not keep a text that is longer than all may be", () => {
  const compile = vi.fn(() => 1)
  const texts = new CompiledTexts<number>(10)
  for (const text of ["a", "x".repeat(11), "x".repeat(11), "a"]) texts.of(text, compile)
  expect(compile).toHaveBeenCalledTimes(3)
})

test("what is used stays, and is kept again if it was dropped", () => {
  const texts = new CompiledTexts<object>(10)
  const make = (text: string) => texts.keeping(text, () => ({ text }))
  const used = make("aaaa")
  for (const text of ["bbbb", "cccc", "dddd"]) {
    make(text)
    expect(texts.use(used)).toBe(used.made)
  }
  expect(make("aaaa")).toBe(used)
  for (const text of ["eeee", "ffff", "gggg"]) make(text)
  expect(texts.use(used)).toBe(used.made)
  expect(make("aaaa")).toBe(used)
})
