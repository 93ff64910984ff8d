// Things that come and go with every request, in the order in which they came: a list whose links let go of all when they go.
//
// Not a Set or a Map. V8 makes their tables anew every few deletes, and each old table leads to the next one. Once one of them has
// been moved to the old generation, all that follow stay in memory until the whole of that is collected, and with them what was
// in them then: whole requests with all they had, copied twice by the collector instead of never.

interface Link<T> {
  /** Undefined: it has gone, or is the list's end. */
  value: T | undefined
  before: Link<T>
  after: Link<T>
}

export class Comings<T extends object> {
  readonly #end: Link<T> = loneLink()
  #size = 0

  /** How many are here. */
  get size(): number {
    return this.#size
  }

  /** What came first of those that are here. */
  get first(): T | undefined {
    return this.#end.after.value
  }

  /** Those that are here now. */
  get values(): T[] {
    const values: T[] = []
    for (let { value, after } = this.#end.after; value !== undefined; { value, after } = after) values.push(value)
    return values
  }

  /** Answers how it goes; what has gone may be told to go again. */
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
