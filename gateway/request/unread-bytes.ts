// Limits what all watches of a control plane hold together because their clients do not take it, and likewise all streams that are
// forwarded (client/http/unsent.ts). One of them holds little, and a watch that takes nothing is disconnected in the end
// (endpoints/verbs/watch.ts), but thousands would hold a gigabyte.

interface Unread {
  readonly bytes: number
  cut(): void
}

export class UnreadBytes {
  readonly #limit: number
  #bytes = 0
  /** The one that has waited longest is first. */
  readonly #waiting = new Set<Unread>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Called when a watch begins to wait for its client. Returns a function to call when it waits no more. Beyond the limit those are
   * cut that have waited longest, perhaps this one: clients that take what they get do not wait for long.
   */
  add(bytes: number, cut: () => void): () => void {
    const unread = { bytes, cut }
    this.#waiting.add(unread)
    this.#bytes += bytes
    for (const longest of this.#waiting) {
      if (this.#bytes <= this.#limit) break
      this.#remove(longest)
      longest.cut()
    }
    return () => this.#remove(unread)
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  #remove(unread: Unread): void {
    if (this.#waiting.delete(unread)) this.#bytes -= unread.bytes
  }
}
