// A cache of what texts have been compiled to, limited by the length of the texts.

import type { Steps } from "../steps.ts"

export class CompiledTexts<T> {
  readonly #compiled = new Map<string, T>()
  readonly #maxCharacters: number
  #characters = 0

  /** Beyond `maxCharacters`, the least recently used texts are dropped. A longer text is not kept. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  of(text: string, compile: () => T): T {
    return this.#keep(text, this.#compiled.get(text) ?? compile())
  }

  /** The same in steps. */
  *making(text: string, compiling: () => Steps<T>): Steps<T> {
    return this.#keep(text, this.#compiled.get(text) ?? (yield* compiling()))
  }

  #keep(text: string, compiled: T): T {
    if (text.length > this.#maxCharacters) return compiled
    if (this.#compiled.delete(text)) this.#characters -= text.length
    this.#compiled.set(text, compiled)
    this.#characters += text.length
    for (const oldest of this.#compiled.keys()) {
      if (this.#characters <= this.#maxCharacters) break
      this.#compiled.delete(oldest)
      this.#characters -= oldest.length
    }
    return compiled
  }
}
