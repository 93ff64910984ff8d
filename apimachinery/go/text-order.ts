// Go's order of strings, by their UTF-8 bytes; JavaScript's is by code units.

import { mostAtOnce, type Steps } from "../steps.ts"

const high = /[\ud800-\uffff]/

export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!high.test(a) || !high.test(b)) return a < b ? -1 : 1
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    // In UTF-16, surrogates sort before U+E000 and above, but their characters sort after them.
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

/** Sorts in place by compareText. */
export function sortTexts(texts: string[]): void {
  texts.sort() // by code units, without a comparator: many times faster, and nearly always correct
  for (const text of texts) {
    if (!high.test(text)) continue
    texts.sort(compareText)
    return
  }
}

/** sortTexts with pauses, for very many. */
export function* sortingTexts(texts: string[]): Steps<void> {
  let runs: string[][] = []
  for (let from = 0; from < texts.length; from += mostAtOnce) {
    const run = texts.slice(from, from + mostAtOnce)
    sortTexts(run)
    runs.push(run)
    yield
  }
  while (runs.length > 1) {
    const longer: string[][] = []
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* merging(runs[at] ?? [], runs[at + 1] ?? []))
    runs = longer
  }
  const [sorted = []] = runs
  for (const [index, text] of sorted.entries()) texts[index] = text
}

function* merging(left: readonly string[], right: readonly string[]): Steps<string[]> {
  const merged: string[] = []
  let [l, r] = [0, 0]
  for (;;) {
    const [a, b] = [left[l], right[r]]
    if (a === undefined && b === undefined) return merged
    const isLeft = b === undefined || (a !== undefined && compareText(a, b) <= 0)
    merged.push((isLeft ? a : b) ?? "")
    if (isLeft) l++
    else r++
    if (merged.length % mostAtOnce === 0) yield
  }
}

function rank(unit: number): number {
  return unit <= 0xdfff ? unit + 0x10000 : unit
}
