// The acknowledged writes of crash-writer.ts, and the check whether a store still has them.

import type { Revision, Store } from "../types.ts"

export class AcknowledgedWrites {
  /** By key; value "-" for a deletion. */
  readonly #last = new Map<string, { revision: Revision; value: string }>()
  #highest: Revision = 0

  /** A line of the writer: "revision key value". */
  read(line: string): void {
    const [revision = "", key = "", value = ""] = line.split(" ")
    this.#last.set(key, { revision: Number(revision), value })
    this.#highest = Math.max(this.#highest, Number(revision))
  }

  /** The missing writes, as sentences. A write that was not acknowledged may be present, with a higher revision. */
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
      // Once observed, such a write must stay. It is recorded because later rounds compact the log that explains it.
      if (overtaken) this.#last.set(key, { revision: found?.modRevision ?? revision, value: present })
    }
    return missing
  }
}

/** Whether the log has a deletion of the key after a revision; at most one was in progress. */
async function wasDeletedAfter(store: Store, key: string, revision: Revision): Promise<boolean> {
  const after = Math.max(revision, store.compactedRevision + 1)
  if (after >= store.revision) return false
  for await (const events of store.watch(key, { after })) return events[0]?.type === "delete"
  return false
}
