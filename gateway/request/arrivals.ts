// A collection of short-lived values in insertion order: a linked list whose links release everything when they are removed.
//
// It is not a Set or a Map: V8 rebuilds their tables after every few deletions, and each old table refers to the next one. Once one
// of them has been promoted to the old generation, all later tables, and the requests they contain, stay in memory until a full
// collection, and the collector copies them twice instead of never.

interface Link<T> {
  /** Undefined: removed, or the end of the list. */
  value: T | undefined
  before: Link<T>
  after: Link<T>
}

export class Arrivals<T extends object> {
  readonly #end: Link<T> = loneLink()
  #size = 0

  /** The number of values. */
  get size(): number {
    return this.#size
  }

  /** The oldest value. */
  get first(): T | undefined {
    return this.#end.after.value
  }

  /** The current values. */
  get values(): T[] {
    const values: T[] = []
    for (let { value, after } = this.#end.after; value !== undefined; { value, after } = after) values.push(value)
    return values
  }

  /** Returns a function that removes the value; it may be called more than once. */
  add(value: T): () => void {
    const end = this.#end
    const link = { value, before: end.before, after: end }
    end.before.after = link
    end.before = link
    this.#size++
    return () => this.#remove(link)
  }

  #remove(link: Link<T>): void {
    if (link.value === undefined) return
    link.before.after = link.after
    link.after.before = link.before
    link.value = undefined
    link.before = link.after = link
    this.#size--
  }
}

function loneLink<T>(): Link<T> {
  const link: Partial<Link<T>> = { value: undefined }
  link.before = link.after = link as Link<T>
  return link as Link<T>
}
