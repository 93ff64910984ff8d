// Completion indexes of Indexed Jobs as ordered intervals, printed like "0-2,5". Pure. A Job may have 100,000 indexes, so the
// intervals are never expanded. Source: k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go.

import type { Pod } from "../../apimachinery/object.ts"

export const indexLabel = "batch.kubernetes.io/job-completion-index"

/** As strconv.Atoi reads it; undefined if it is none. */
export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexLabel] ?? ""
  const index = /^[+-]?\d+$/.test(text) ? Number(text) + 0 : -1
  return index < 0 ? undefined : index
}

interface Interval {
  first: number
  last: number
}

export class Indexes {
  /** Ascending, neither overlapping nor adjacent. */
  readonly #intervals: readonly Interval[]
  readonly size: number

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
    this.size = intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): Indexes {
    return new Indexes(joined([...indexes].map((index) => ({ first: index, last: index }))))
  }

  /** Ignores indexes at or beyond `completions`, because the Job may have been made smaller, and text that is not an index. */
  static parse(text: string | undefined, completions: number): Indexes {
    const intervals: Interval[] = []
    for (const part of (text ?? "").split(",")) {
      const [first = Number.NaN, last = first] = part === "" ? [] : part.split("-").map(Number)
      if (!Number.isInteger(first) || !Number.isInteger(last) || first >= completions) continue
      intervals.push({ first, last: Math.min(last, completions - 1) })
    }
    return new Indexes(joined(intervals))
  }

  has(index: number): boolean {
    let low = 0
    let high = this.#intervals.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#intervals[middle]?.last ?? 0) < index) low = middle + 1
      else high = middle
    }
    const found = this.#intervals[low]
    return found !== undefined && found.first <= index
  }

  union(other: Indexes): Indexes {
    return new Indexes(joined([...this.#intervals, ...other.#intervals]))
  }

  /** Size of the intersection. */
  common(other: Indexes): number {
    let count = 0
    let at = 0
    for (const { first, last } of this.#intervals) {
      for (;;) {
        const theirs = other.#intervals[at]
        if (theirs === undefined) return count
        count += Math.max(0, Math.min(last, theirs.last) - Math.max(first, theirs.first) + 1)
        if (theirs.last > last) break
        at++
      }
    }
    return count
  }

  /** The lowest `count` indexes below `completions` that are not in this set. */
  missing(completions: number, count: number): number[] {
    const found: number[] = []
    let candidate = 0
    for (const { first, last } of [...this.#intervals, { first: completions, last: completions }]) {
      for (; candidate < Math.min(first, completions) && found.length < count; candidate++) found.push(candidate)
      candidate = Math.max(candidate, last + 1)
    }
    return found
  }

  toString(): string {
    // Two adjacent indexes are printed as a list, three or more as a range.
    return this.#intervals
      .map(({ first, last }) =>
        last === first ? String(first) : last === first + 1 ? `${first},${last}` : `${first}-${last}`,
      )
      .join(",")
  }
}

function joined(intervals: Interval[]): Interval[] {
  const result: Interval[] = []
  for (const { first, last } of intervals.sort((a, b) => a.first - b.first)) {
    const previous = result.at(-1)
    if (previous === undefined || first > previous.last + 1) result.push({ first, last })
    else previous.last = Math.max(previous.last, last)
  }
  return result
}
