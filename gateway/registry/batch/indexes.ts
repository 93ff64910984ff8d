// Sets of indexes as text ("1,3-5,7"). Source: k8s.io/kubernetes/pkg/apis/batch/validation validateIndexesFormat.

import { goQuote } from "../../../apimachinery/go/quote.ts"

const maxInt64 = 2n ** 63n - 1n

interface Interval {
  first: number
  last: number
}

/** The number of indexes, or the error in the text. */
export function countIndexes(text: string, completions: number): number | { fault: string } {
  let total = 0
  let previous: number | undefined
  for (const part of text === "" ? [] : text.split(",")) {
    const interval = parseInterval(part, completions)
    if (typeof interval === "string") return { fault: interval }
    const { first, last } = interval
    if (previous !== undefined && previous >= first) return { fault: notIncreasing(previous, first) }
    total += last - first + 1
    previous = last
  }
  return total
}

/** The first index that is in both; invalid intervals are ignored. */
export function overlapOf(one: string, other: string, completions: number): number | undefined {
  const [a, b] = [intervalsOf(one, completions), intervalsOf(other, completions)]
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i], b[j]]
    if (left === undefined || right === undefined) return undefined
    if (left.first <= right.last && right.first <= left.last) return Math.max(left.first, right.first)
    if (left.first <= right.first) i++
    else j++
  }
  return undefined
}

function intervalsOf(text: string, completions: number): Interval[] {
  const parsed = text.split(",").map((part) => parseInterval(part, completions))
  return parsed.filter((interval) => typeof interval !== "string")
}

function parseInterval(text: string, completions: number): Interval | string {
  const [first = "", last, ...more] = text.split("-")
  if (more.length > 0) {
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  for (const index of last === undefined ? [first] : [first, last]) {
    const isInteger = /^[+]?\d+$/.test(index) && BigInt(index.replace("+", "")) <= maxInt64
    if (!isInteger) return `cannot convert string to integer for index: ${goQuote(index)}`
    if (Number(index) >= completions) return `too large index: ${goQuote(index)}`
  }
  const [from, to] = [Number(first), Number(last ?? first)]
  return last !== undefined && from >= to ? notIncreasing(from, to) : { first: from, last: to }
}

function notIncreasing(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`
}
