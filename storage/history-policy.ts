// When history is old enough to go: by age, by number of revisions and by size.

import type { Revision } from "./types.ts"

/** 0 turns that part off. */
interface HistoryLimits {
  historyMilliseconds: number
  historyRevisions: number
  historyBytes: number
}

/** Marks per age or size that is kept: the precision of that limit. */
const marksPerLimit = 8

/** Decides when history is old enough to go. Asked whenever something is written or the past is read; has no timer of its own. */
export class HistoryPolicy {
  readonly #limits: HistoryLimits
  readonly #now: () => number
  readonly #ages: Marks
  readonly #sizes: Marks
  #written = 0

  constructor(limits: HistoryLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#ages = new Marks(limits.historyMilliseconds)
    this.#sizes = new Marks(limits.historyBytes)
  }

  /** The history has grown by so many bytes. */
  wrote(bytes: number): void {
    this.#written += bytes
  }

  /** Notes the head; returns the revision to compact at, or undefined when nothing is due. */
  target(head: Revision, compacted: Revision): Revision | undefined {
    const byAge = this.#ages.passed(this.#now(), head)
    const bySize = this.#sizes.passed(this.#written, head)
    const target = Math.max(byAge, bySize, this.#tooMany(head, compacted))
    return target > compacted ? target : undefined
  }

  // An eighth more may gather, so that compactions come in worthwhile portions.
  #tooMany(head: Revision, compacted: Revision): Revision {
    const keep = this.#limits.historyRevisions
    return keep > 0 && head - compacted > keep + keep / marksPerLimit ? head - keep : 0
  }
}

/** Where the head was at a position, which only grows: a time, or a number of bytes. */
class Marks {
  readonly #keep: number
  /** Oldest first. */
  readonly #marks: { position: number; revision: Revision }[] = []

  /** With 0 nothing ever passes. */
  constructor(keep: number) {
    this.#keep = keep
  }

  /** The revision that is further behind than what is kept, 0 if there is none. */
  passed(position: number, head: Revision): Revision {
    if (this.#keep === 0) return 0
    let old: Revision = 0
    // At a mark its revision was the newest; what came before it had been replaced already.
    while ((this.#marks[0]?.position ?? Infinity) <= position - this.#keep)
      old = (this.#marks.shift()?.revision ?? 1) - 1
    const newest = this.#marks.at(-1)
    if (!newest || newest.position <= position - this.#keep / marksPerLimit)
      this.#marks.push({ position, revision: head })
    return old
  }
}
