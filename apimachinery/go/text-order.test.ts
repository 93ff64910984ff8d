// The order is that of the texts' UTF-8 bytes, however the sorting is divided.

import { expect, test } from "vitest"
import { atOnce, inSteps } from "../steps.ts"
import { createRandom, pick, seedOf } from "../testing/random.ts"
import { sortingTexts, sortTexts } from "./text-order.ts"

const seed = seedOf()
const random = createRandom(seed)
/** Of each length in UTF-8, and on both sides of the surrogates. */
const characters = [
  "",
  "a",
  "b",
  "~",
  "\u00e9",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "\u{10000}",
  "\u{1f600}",
]
const randomText = (): string => Array.from({ length: 1 + random(4) }, () => pick(random, characters)).join("")

const byBytes = (texts: readonly string[]): string[] =>
  texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

test(`texts are sorted by their bytes, also in steps (SEED=${seed})`, () => {
  for (const length of [0, 1, 2, 4999, 5000, 5001, 17_000]) {
    const texts = Array.from({ length }, randomText)
    const [whole, divided] = [[...texts], [...texts]]
    sortTexts(whole)
    atOnce(sortingTexts(divided))
    expect(whole).toEqual(byBytes(texts))
    expect(divided).toEqual(whole)
  }
})

test("many texts are sorted with pauses", () => {
  let pauses = 0
  const texts = Array.from({ length: 20_000 }, randomText)
  void inSteps(sortingTexts(texts), () => void pauses++)
  expect(pauses).toBeGreaterThan(8)
})
