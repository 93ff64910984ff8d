// A cache of what texts have been compiled to, limited by their size.

/** Whoever refers to it for long does so weakly, and uses it by use(). */
export interface Kept<T> {
  readonly text: string
  readonly made: T
  /** Of what is kept. */
  readonly size: number
}

export class CompiledTexts<T> {
  readonly #kept = new Map<string, Kept<T>>()
  readonly #most: number
  #size = 0

  /** Beyond `most`, the least recently used texts are dropped. A text that is larger is not kept. */
  constructor(most: number) {
    this.#most = most
  }

  /** `size`: of what is kept. Default: the characters of the text. */
  of(text: string, compile: () => T, size?: number): T {
    return this.keeping(text, compile, size).made
  }

  /** The same, for those who use it again. */
  keeping(text: string, compile: () => T, size = text.length): Kept<T> {
    const kept = this.#kept.get(text) ?? { text, made: compile(), size }
    this.use(kept)
    return kept
  }

  /** It has been used again: others are dropped before it. One that was dropped itself is kept again. */
  use(given: Kept<T>): T {
    const kept = this.#kept.get(given.text) ?? given
    if (kept.size > this.#most) return kept.made
    this.#drop(kept)
    this.#kept.set(kept.text, kept)
    this.#size += kept.size
    for (const oldest of this.#kept.values()) {
      if (this.#size <= this.#most) break
      this.#drop(oldest)
    }
    return kept.made
  }

  #drop({ text, size }: Kept<T>): void {
    if (this.#kept.delete(text)) this.#size -= size
  }
}
