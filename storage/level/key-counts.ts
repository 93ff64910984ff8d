// The numbers of keys below prefixes that lists of a large store have counted. Counting reads every key, so it is done once per prefix;
// afterwards the number follows the commits.

import { remember } from "../../apimachinery/remember.ts"
import type { StoreEvent } from "../types.ts"

/** Prefixes whose keys stay counted; the least recently used is counted again. */
const maxPrefixes = 64

export class KeyCounts {
  readonly #counts = new Map<string, KeyCount>()

  /** Must be called in the turn in which a view of the head is obtained. */
  of(prefix: string): CountedKeys {
    const known = this.#counts.get(prefix) ?? { atStart: undefined, added: 0 }
    const count = remember(this.#counts, prefix, known, maxPrefixes)
    const { atStart, added } = count
    return {
      count: atStart === undefined ? undefined : atStart + added,
      counted: (keys) => void (count.atStart = keys - added),
    }
  }

  /** The database has been opened again: it may have more than the commits that have been reported. */
  forget(): void {
    this.#counts.clear()
  }

  /** Called in the same turn as the store's head changes. */
  committed(events: readonly StoreEvent[]): void {
    if (this.#counts.size === 0) return
    for (const { type, current, previous } of events) {
      const added = type === "delete" ? -1 : previous === undefined ? 1 : 0
      if (added === 0) continue
      for (const [prefix, count] of this.#counts) if (current.key.startsWith(prefix)) count.added += added
    }
  }
}

interface KeyCount {
  /** The number of keys without those added since; undefined until somebody has counted. */
  atStart: number | undefined
  added: number
}

/** The keys below a prefix in the view for which it was obtained. */
export interface CountedKeys {
  count: number | undefined
  /** Call with the number if it was not known. */
  counted: (keys: number) => void
}
