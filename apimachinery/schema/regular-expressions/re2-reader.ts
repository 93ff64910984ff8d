// The text of a pattern and how far it has been parsed.

/** Maximum number of parts of a pattern, and of states that are compiled from it. Go's limit has the same order of magnitude. */
export const maxParts = 20_000
/** Characters that are looked at to recognize a counted repetition, an escape or a class; no valid one is longer. */
const lookahead = 64

export function fail(what: string, text: string): never {
  throw new SyntaxError(`error parsing regexp: ${what}: \`${text}\``)
}

export class PatternReader {
  /** By code points. */
  readonly text: readonly string[]
  at = 0
  #parts = 0

  constructor(pattern: string) {
    this.text = Array.from(pattern)
  }

  rest(from = this.at): string {
    return this.text.slice(from).join("")
  }

  /** What can be recognized is not searched in all that follows. */
  ahead(length = lookahead, from = this.at): string {
    return this.text.slice(from, from + length).join("")
  }

  countPart(): void {
    if (++this.#parts > maxParts) fail("expression too large", this.text.join(""))
  }
}
