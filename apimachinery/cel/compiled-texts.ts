// A cache of what texts have been compiled to, limited by their size.

export class CompiledTexts<T> {
  readonly #compiled = new Map<string, { made: T; size: number }>()
  readonly #most: number
  #size = 0

  /** Beyond `most`, the least recently used texts are dropped. A text that is larger is not kept. */
  constructor(most: number) {
    this.#most = most
  }

  /** `size`: of what is kept. Default: the characters of the text. */
  of(text: string, compile: () => T, size = text.length): T {
    const known = this.#compiled.get(text)
    const made = known === undefined ? compile() : known.made
    if (size > this.#most) return made
    this.#drop(text)
    this.#compiled.set(text, { made, size })
    this.#size += size
    for (const oldest of this.#compiled.keys()) {
      if (this.#size <= this.#most) break
      this.#drop(oldest)
    }
    return made
  }

  #drop(text: string): void {
    this.#size -= this.#compiled.get(text)?.size ?? 0
    this.#compiled.delete(text)
  }
}
