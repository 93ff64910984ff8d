// Limits how much runs at once, of all stores together and of each. What waits takes turns by store: a tenant with many watches that
// are behind hardly delays those of others.

export class FairTurns {
  readonly #limits: { all: number; each: number }
  #all = 0
  readonly #running = new Map<string, number>()
  /** By group, those that had their turn least recently first. No line is empty. */
  readonly #lines = new Map<string, (() => void)[]>()

  constructor(limits: { all: number; each: number }) {
    this.#limits = limits
  }

  async run<T>(group: string, work: () => Promise<T>): Promise<T> {
    if (this.#mayBegin(group)) this.#begin(group)
    else await new Promise<void>((begin) => this.#wait(group, begin))
    try {
      return await work()
    } finally {
      this.#end(group)
    }
  }

  #mayBegin(group: string): boolean {
    return this.#all < this.#limits.all && (this.#running.get(group) ?? 0) < this.#limits.each
  }

  #begin(group: string): void {
    this.#all++
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1)
  }

  #wait(group: string, begin: () => void): void {
    const line = this.#lines.get(group)
    if (line === undefined) this.#lines.set(group, [begin])
    else line.push(begin)
  }

  #end(group: string): void {
    this.#all--
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
