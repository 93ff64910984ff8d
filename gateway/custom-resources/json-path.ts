// The part of JSONPath that printer columns, scale paths and selectable fields may use: fields, quoted fields, indexes,
// slices, "*" and comparisons in filters. No recursion (".."), so that a path costs no more than what it walks over. Source
// of the syntax: k8s.io/client-go/util/jsonpath.

/** Steps of one path; more are refused. */
const maxSteps = 64
/** Values a path may lead to; beyond it the walk ends. */
const maxResults = 1000

type Step =
  | { type: "field"; name: string }
  | { type: "index"; index: number }
  | { type: "slice"; from: number | undefined; to: number | undefined }
  | { type: "all" }
  | { type: "filter"; path: readonly Step[]; operator: string; operand: unknown }

export interface JsonPath {
  readonly steps: readonly Step[]
}

export class JsonPathError extends Error {
  override readonly name = "JsonPathError"
  /** A path that upstream can follow. */
  readonly isUnsupported: boolean

  constructor(message: string, isUnsupported = false) {
    super(message)
    this.isUnsupported = isUnsupported
  }
}

/** Of ".spec.replicas" or "{.spec.replicas}". Throws JsonPathError. */
export function parseJsonPath(text: string): JsonPath {
  const inner = text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : text
  const parser = new Parser(inner.startsWith("$") ? inner.slice(1) : inner)
  return { steps: parser.path("") }
}

/** All values the path leads to, in order. */
export function findAll({ steps }: JsonPath, value: unknown): unknown[] {
  let found: unknown[] = [value]
  for (const step of steps) {
    const next: unknown[] = []
    for (const item of found) {
      next.push(...take(step, item))
      if (next.length >= maxResults) break
    }
    found = next.slice(0, maxResults)
  }
  return found
}

/** Of ".spec.replicas": what stands between dots are names of fields, whatever JSONPath would take them for. */
export function plainFields(text: string): string[] {
  return text.replace(/^\./, "").split(".")
}

export function pathOfFields(names: readonly string[]): JsonPath {
  return { steps: names.map((name) => ({ type: "field", name })) }
}

function take(step: Step, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return []
  switch (step.type) {
    case "field": {
      if (Array.isArray(value) || !Object.hasOwn(value, step.name)) return []
      return [(value as Record<string, unknown>)[step.name]]
    }
    case "all":
      return Object.values(value)
    case "index": {
      const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined
      return item === undefined ? [] : [item]
    }
    case "slice":
      return Array.isArray(value) ? value.slice(step.from ?? 0, step.to) : []
    case "filter":
      return Object.values(value).filter((item) => holds(step, item))
  }
}

function holds({ path, operator, operand }: Extract<Step, { type: "filter" }>, item: unknown): boolean {
  const [left] = findAll({ steps: path }, item)
  if (operator === "") return left !== undefined
  if (operator === "==") return left === operand
  if (operator === "!=") return left !== undefined && left !== operand
  if (typeof left !== typeof operand || (typeof left !== "number" && typeof left !== "string")) return false
  const right = operand as typeof left
  if (operator === "<") return left < right
  if (operator === "<=") return left <= right
  return operator === ">" ? left > right : left >= right
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Up to the end, or to one of `ends` outside of brackets. */
  path(ends: string): Step[] {
    const steps: Step[] = []
    while (this.#at < this.#text.length && !ends.includes(this.#peek())) {
      if (this.#peek() === ".") {
        this.#at++
        if (this.#peek() === ".") throw this.#error("recursive descent is not supported", true)
        if (this.#peek() === "[" || this.#at >= this.#text.length) continue
        steps.push(this.#peek() === "*" ? this.#all() : { type: "field", name: this.#name(ends) })
      } else if (this.#peek() === "[") steps.push(this.#bracket())
      else throw this.#error(`unexpected ${JSON.stringify(this.#peek())}`)
      if (steps.length > maxSteps) throw this.#error(`more than ${maxSteps} steps`, true)
    }
    return steps
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #all(): Step {
    this.#at++
    return { type: "all" }
  }

  #name(ends: string): string {
    let name = ""
    while (this.#at < this.#text.length) {
      const char = this.#peek()
      if (char === "\\") {
        name += this.#text.charAt(this.#at + 1)
        this.#at += 2
        continue
      }
      if (char === "." || char === "[" || ends.includes(char) || char === " ") break
      name += char
      this.#at++
    }
    if (name === "") throw this.#error("a field name is missing")
    return name
  }

  #bracket(): Step {
    this.#expect("[")
    const char = this.#peek()
    if (char === "'" || char === '"') {
      const name = this.#quoted(char)
      this.#expect("]")
      return { type: "field", name }
    }
    if (char === "?") return this.#filter()
    const end = this.#text.indexOf("]", this.#at)
    if (end < 0) throw this.#error("unterminated array")
    const inside = this.#text.slice(this.#at, end)
    this.#at = end + 1
    if (inside === "*") return { type: "all" }
    if (/^-?\d+$/.test(inside)) return { type: "index", index: Number(inside) }
    const slice = /^(-?\d*):(-?\d*)$/.exec(inside)
    if (slice === null) throw this.#error(`invalid array index ${inside}`, inside.includes(",") || inside.includes(":"))
    return { type: "slice", from: bound(slice[1]), to: bound(slice[2]) }
  }

  /** [?(@.type=="Ready")] */
  #filter(): Step {
    this.#expect("?")
    this.#expect("(")
    this.#blank()
    this.#expect("@")
    const path = this.path("=!<>) ")
    this.#blank()
    const operator = /^(==|!=|<=|>=|<|>)/.exec(this.#text.slice(this.#at))?.[0] ?? ""
    this.#at += operator.length
    this.#blank()
    const operand = operator === "" ? undefined : this.#literal()
    this.#blank()
    this.#expect(")")
    this.#expect("]")
    return { type: "filter", path, operator, operand }
  }

  #literal(): unknown {
    const char = this.#peek()
    if (char === "'" || char === '"') return this.#quoted(char)
    const word = /^[^\s)]+/.exec(this.#text.slice(this.#at))?.[0] ?? ""
    this.#at += word.length
    if (word === "true" || word === "false") return word === "true"
    if (word !== "" && !Number.isNaN(Number(word))) return Number(word)
    throw this.#error(`unrecognized value ${JSON.stringify(word)}`)
  }

  #quoted(quote: string): string {
    let value = ""
    this.#at++
    while (this.#peek() !== quote) {
      if (this.#at >= this.#text.length) throw this.#error("unterminated quoted string")
      if (this.#peek() === "\\") this.#at++
      value += this.#peek()
      this.#at++
    }
    this.#at++
    return value
  }

  #blank(): void {
    while (this.#peek() === " ") this.#at++
  }

  #expect(char: string): void {
    if (this.#peek() !== char) throw this.#error(`expected ${JSON.stringify(char)}`)
    this.#at++
  }

  #error(why: string, isUnsupported = false): JsonPathError {
    return new JsonPathError(`${why} at ${this.#at} of ${JSON.stringify(this.#text)}`, isUnsupported)
  }
}

function bound(text: string | undefined): number | undefined {
  return text === undefined || text === "" ? undefined : Number(text)
}
