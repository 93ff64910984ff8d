// The texts of some values within a JSON text, which JSON.parse does not tell. The text must be valid.

import { each, type Way } from "../ways.ts"

/** The texts of the values to which the ways lead, by the paths by which ways.ts names them. Of repeated keys the last one counts. */
export function textsAt(json: string, ways: readonly Way[]): ReadonlyMap<string, string> {
  const finder = new Finder(json)
  finder.value(ways, 0, "")
  return finder.found
}

const blank = /[ \t\r\n]*/y
const string = /"[^"\\]*(?:\\[^][^"\\]*)*"/y
/** A literal or number. */
const word = /[^",:[\]{} \t\r\n]+/y

class Finder {
  readonly found = new Map<string, string>()
  readonly #json: string
  #at = 0

  constructor(json: string) {
    this.#json = json
  }

  /** `depth`: the number of steps that lead here, with which all of these ways begin. */
  value(ways: readonly Way[], depth: number, path: string): void {
    this.#take(blank)
    if (ways.length === 0) return this.#skip()
    if (ways.some(({ length }) => length === depth)) {
      const start = this.#at
      this.#skip()
      this.found.set(path, this.#json.slice(start, this.#at))
      return
    }
    const opening = this.#json[this.#at]
    if (opening !== "{" && opening !== "[") return this.#skip()
    this.#at++
    for (let index = 0; !this.#ends(); index++) {
      const key = opening === "{" ? this.#key() : String(index)
      const further = ways.filter((way) => way[depth] === key || way[depth] === each)
      this.value(further, depth + 1, `${path}/${key}`)
    }
  }

  /** Whether a list or object ends here; otherwise the next item follows. */
  #ends(): boolean {
    this.#take(blank)
    if (this.#json[this.#at] === ",") {
      this.#at++
      this.#take(blank)
    }
    const next = this.#json[this.#at]
    if (next !== "}" && next !== "]" && next !== undefined) return false
    this.#at++
    return true
  }

  #key(): string {
    const key = JSON.parse(this.#take(string)) as string
    this.#take(blank)
    this.#at++ // the colon
    return key
  }

  #skip(): void {
    let depth = 0
    do {
      this.#take(blank)
      const next = this.#json[this.#at]
      if (next === '"') this.#take(string)
      else if (next === "{" || next === "[") depth++
      else if (next === "}" || next === "]") depth--
      else if (next === undefined) return
      if (next !== '"' && !this.#isWord(next)) this.#at++
    } while (depth > 0)
  }

  /** Takes it if it is one. */
  #isWord(next: string): boolean {
    if ('{}[],:"'.includes(next)) return false
    this.#take(word)
    return true
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [text = ""] = pattern.exec(this.#json) ?? []
    this.#at += text.length
    return text
  }
}
