// What crash-writer.ts was answered, and whether a store still has it.

import type { Revision, Store } from "../types.ts"

export class AcknowledgedWrites {
  /** By key; value "-": it was deleted. */
  readonly #last = new Map<string, { revision: Revision; value: string }>()
  #highest: Revision = 0

  /** A line of the writer: "revision key value". */
  read(line: string): void {
    const [revision = "", key = "", value = ""] = line.split(" ")
    this.#last.set(key, { revision: Number(revision), value })
    this.#highest = Math.max(this.#highest, Number(revision))
  }

  /** What the store lacks, in sentences. What was written but not acknowledged may be there, with a higher revision. */
  async missingIn(store: Store): Promise<readonly string[]> {
    const missing: string[] = []
    if (store.revision < this.#highest) missing.push(`revision ${this.#highest}: the store is at ${store.revision}`)
    for (const [key, { revision, value }] of this.#last) {
      const found = await store.get(key)
      const present = found ? Buffer.from(found.value).toString() : "-"
      const overtaken = found ? found.modRevision > revision : value !== "-"
      if (!overtaken && present !== value) missing.push(`${key} at ${revision}: there is "${present.slice(0, 20)}"`)
      if (overtaken && !found && !(await wasDeletedAfter(store, key, revision)))
        missing.push(`${key} at ${revision}: nothing is there, and nobody deleted it`)
      // Seen once it stays: the keys are of this round, and later rounds compact the log that could tell how it came.
      if (overtaken) this.#last.set(key, { revision: found?.modRevision ?? revision, value: present })
    }
    return missing
  }
}

/** Whether the log has a deletion of the key after a revision: at most the one that was under way. */
async function wasDeletedAfter(store: Store, key: string, revision: Revision): Promise<boolean> {
  const after = Math.max(revision, store.compactedRevision + 1)
  if (after >= store.revision) return false
  for await (const events of store.watch(key, { after })) return events[0]?.type === "delete"
  return false
}
