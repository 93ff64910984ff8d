// Limits how many jobs run at once, of all groups together and of each (a tenant, a store). Those that wait run round robin over the
// groups, one job each: a group with many of them hardly delays those of others.

export class FairPlaces<K> {
  readonly #all: number
  readonly #each: number
  #begun = 0
  readonly #running = new Map<K, number>()
  /** By group, those that had a place least recently first. No line is empty. */
  readonly #lines = new Map<K, (() => void)[]>()

  constructor({ all, each = all }: { all: number; each?: number }) {
    this.#all = all
    this.#each = each
  }

  /** Until the work has begun, rejects with the signal's reason if that is aborted. */
  async run<T>(group: K, work: () => Promise<T>, until?: AbortSignal): Promise<T> {
    until?.throwIfAborted()
    if (this.#mayBegin(group)) this.#begin(group)
    else await this.#place(group, until)
    try {
      return await work()
    } finally {
      this.#end(group)
    }
  }

  #mayBegin(group: K): boolean {
    return this.#begun < this.#all && (this.#running.get(group) ?? 0) < this.#each
  }

  #begin(group: K): void {
    this.#begun++
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1)
  }

  #place(group: K, until: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        until?.removeEventListener("abort", leave)
        resolve()
      }
      const leave = (): void => {
        this.#leave(group, begin)
        reject(until?.reason)
      }
      until?.addEventListener("abort", leave, { once: true })
      const line = this.#lines.get(group)
      if (line === undefined) this.#lines.set(group, [begin])
      else line.push(begin)
    })
  }

  #leave(group: K, begin: () => void): void {
    const line = this.#lines.get(group) ?? []
    line.splice(line.indexOf(begin), 1)
    if (line.length === 0) this.#lines.delete(group)
  }

  #end(group: K): void {
    this.#begun--
    const left = (this.#running.get(group) ?? 0) - 1
    if (left > 0) this.#running.set(group, left)
    else this.#running.delete(group)
    for (const [next, line] of this.#lines) {
      if (!this.#mayBegin(next)) continue
      this.#lines.delete(next)
      const begin = line.shift()
      if (line.length > 0) this.#lines.set(next, line)
      this.#begin(next)
      begin?.()
      return
    }
  }
}
