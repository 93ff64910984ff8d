// Keys that become due later: a binary heap by time, with at most one entry per id; the earliest time wins.

interface Entry<K> {
  id: string
  key: K
  due: number
  index: number
}

export class DelayHeap<K> {
  readonly #heap: Entry<K>[] = []
  readonly #byId = new Map<string, Entry<K>>()

  get size(): number {
    return this.#heap.length
  }

  /** The time at which the first key is due. */
  get next(): number | undefined {
    return this.#heap[0]?.due
  }

  add(id: string, key: K, due: number): void {
    const present = this.#byId.get(id)
    if (present !== undefined) {
      if (due >= present.due) return
      present.due = due
      this.#up(present)
      return
    }
    const entry = { id, key, due, index: this.#heap.length }
    this.#heap.push(entry)
    this.#byId.set(id, entry)
    this.#up(entry)
  }

  /** Removes and returns a due key, the earliest first. */
  take(now: number): K | undefined {
    const first = this.#heap[0]
    if (first === undefined || first.due > now) return undefined
    this.#remove(first)
    return first.key
  }

  remove(id: string): void {
    const entry = this.#byId.get(id)
    if (entry !== undefined) this.#remove(entry)
  }

  removeWhere(test: (key: K) => boolean): void {
    for (const entry of this.#byId.values()) if (test(entry.key)) this.#remove(entry)
  }

  clear(): void {
    this.#heap.length = 0
    this.#byId.clear()
  }

  #remove(entry: Entry<K>): void {
    this.#byId.delete(entry.id)
    const last = this.#heap.pop()
    if (last === undefined || last === entry) return
    last.index = entry.index
    this.#heap[last.index] = last
    this.#up(last)
    this.#down(last)
  }

  #up(entry: Entry<K>): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1]
      if (parent === undefined || parent.due <= entry.due) return
      this.#swap(parent, entry)
    }
  }

  #down(entry: Entry<K>): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1]
      const right = this.#heap[2 * entry.index + 2]
      const child = right !== undefined && left !== undefined && right.due < left.due ? right : left
      if (child === undefined || child.due >= entry.due) return
      this.#swap(entry, child)
    }
  }

  #swap(above: Entry<K>, below: Entry<K>): void {
    const index = above.index
    above.index = below.index
    below.index = index
    this.#heap[above.index] = above
    this.#heap[below.index] = below
  }
}
