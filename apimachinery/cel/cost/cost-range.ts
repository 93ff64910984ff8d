// Ranges of sizes and costs, which saturate at 2⁶⁴ instead of overflowing.

import type { Node } from "../syntax/ast.ts"
import type { Type } from "../types/types.ts"

export interface Range {
  min: number
  max: number
}

const most = 2 ** 64

export const unknownSize: Range = { min: 0, max: most }

export function fixed(value: number): Range {
  return { min: value, max: value }
}

const capped = (value: number): number => Math.min(value, most)

export function addRanges(...ranges: readonly Range[]): Range {
  let [min, max] = [0, 0]
  for (const range of ranges) {
    min = capped(min + range.min)
    max = capped(max + range.max)
  }
  return { min, max }
}

export function timesRange(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) }
}

/** Rounds up. */
export function timesFactor(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) }
}

export function unionRange(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** An argument of a call, for estimating the call's cost. */
export interface SizedNode {
  path: readonly string[]
  type: Type
  node: Node
  /** Absent if it is unknown. */
  size?: Range
}

export interface CallEstimate {
  cost: Range
  /** Size of the result. */
  size?: Range
}
