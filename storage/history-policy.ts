// When history is old enough to go, by age and by number of revisions.

import type { Revision } from "./types.ts"

export interface HistoryLimits {
  /** 0 turns that half off. */
  historyMilliseconds: number
  historyRevisions: number
}

/** Marks per history period: the precision of its age limit. */
const marksPerPeriod = 8

/** Decides when history is old enough to go. Asked whenever something is written or the past is read; has no timer of its own. */
export class HistoryPolicy {
  readonly #limits: HistoryLimits
  readonly #now: () => number
  /** Where the head was at a time, oldest first. */
  readonly #marks: { time: number; revision: Revision }[] = []

  constructor(limits: HistoryLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Notes the head; returns the revision to compact at, or undefined when nothing is due. */
  target(head: Revision, compacted: Revision): Revision | undefined {
    const byAge = this.#oldEnough(head)
    const target = Math.max(byAge, this.#tooMany(head, compacted))
    return target > compacted ? target : undefined
  }

  // At a mark's time its revision was the newest; what came before it had been replaced already.
  #oldEnough(head: Revision): Revision {
    const period = this.#limits.historyMilliseconds
    if (period === 0) return 0
    const now = this.#now()
    let old: Revision = 0
    while ((this.#marks[0]?.time ?? Infinity) <= now - period) old = (this.#marks.shift()?.revision ?? 1) - 1
    const newest = this.#marks.at(-1)
    if (!newest || newest.time <= now - period / marksPerPeriod) this.#marks.push({ time: now, revision: head })
    return old
  }

  // An eighth more may gather, so that compactions come in worthwhile portions.
  #tooMany(head: Revision, compacted: Revision): Revision {
    const keep = this.#limits.historyRevisions
    return keep > 0 && head - compacted > keep + keep / marksPerPeriod ? head - keep : 0
  }
}
