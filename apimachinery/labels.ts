// Label selectors: parsing what `?labelSelector=` has, matching, printing. Source: k8s.io/apimachinery/pkg/labels.

import { badRequest } from "./status.ts"
import { validateLabelValue, validateQualifiedName } from "./names.ts"

export type Operator = "in" | "notin" | "exists" | "!" | "=" | "!=" | "gt" | "lt"

export interface Requirement {
  key: string
  operator: Operator
  /** Sorted. */
  values: readonly string[]
}

/** All must hold; none means everything. */
export interface Selector {
  readonly requirements: readonly Requirement[]
}

export const everything: Selector = { requirements: [] }
/** A null selector in the API selects nothing: no label can have two values. */
export const nothing: Selector = {
  requirements: [
    { key: "", operator: "exists", values: [] },
    { key: "", operator: "!", values: [] },
  ],
}

export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

type Labels = Readonly<Record<string, string>> | undefined

export function matches(selector: Selector, labels: Labels): boolean {
  return selector.requirements.every((requirement) => holds(requirement, labels))
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case "in":
    case "=":
      return value !== undefined && values.includes(value)
    case "notin":
    case "!=":
      return value === undefined || !values.includes(value)
    case "exists":
      return value !== undefined
    case "!":
      return value === undefined
    case "gt":
      return value !== undefined && isInteger(value) && BigInt(value) > BigInt(values[0] ?? "0")
    case "lt":
      return value !== undefined && isInteger(value) && BigInt(value) < BigInt(values[0] ?? "0")
  }
}

const isInteger = (text: string): boolean => /^[+-]?\d{1,19}$/.test(text)

/** "a=b,c in (d,e),!f": throws BadRequest in upstream's words. */
export function parseSelector(text: string): Selector {
  const parser = new Parser(text)
  try {
    return parser.selector()
  } catch (error) {
    if (error instanceof ParseFailure)
      throw badRequest(`unable to parse requirement: ${error.message}`, { cause: error })
    throw error
  }
}

/** undefined selects nothing, an empty one everything, as the API has it. Throws BadRequest for what validation refuses. */
export function selectorFromLabelSelector(selector: LabelSelector | undefined | null): Selector {
  if (selector === undefined || selector === null) return nothing
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "=",
    values: [value],
  }))
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    requirements.push({ key, operator: fromExpression(operator), values: [...values].sort() })
  }
  return { requirements }
}

function fromExpression(operator: string): Operator {
  switch (operator) {
    case "In":
      return "in"
    case "NotIn":
      return "notin"
    case "Exists":
      return "exists"
    case "DoesNotExist":
      return "!"
    default:
      throw badRequest(`"${operator}" is not a valid label selector operator`)
  }
}

/** As upstream prints: requirements sorted by key. */
export function printSelector(selector: Selector): string {
  return [...selector.requirements]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(printRequirement)
    .join(",")
}

function printRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "exists":
      return key
    case "!":
      return `!${key}`
    case "=":
    case "!=":
      return `${key}${operator}${values[0] ?? ""}`
    case "gt":
      return `${key}>${values[0] ?? ""}`
    case "lt":
      return `${key}<${values[0] ?? ""}`
    default:
      return `${key} ${operator} (${values.join(",")})`
  }
}

class ParseFailure extends Error {}

const symbols = ["==", "!=", "=", "!", ">", "<", "(", ")", ","] as const
type Symbol_ = (typeof symbols)[number]
type Token = { symbol: Symbol_; text: string } | { symbol: undefined; text: string }

/** A recursive descent over at most one level: requirement ("," requirement)*. */
class Parser {
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  selector(): Selector {
    const requirements: Requirement[] = []
    if (this.#peek() === undefined) return everything
    for (;;) {
      requirements.push(this.#requirement())
      const next = this.#take()
      if (next === undefined) return { requirements }
      if (next.symbol !== ",") throw new ParseFailure(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after === undefined || (after.symbol !== undefined && after.symbol !== "!")) {
        throw new ParseFailure(`found '${after?.text ?? ""}', expected: identifier after ','`)
      }
    }
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at]
  }

  #take(): Token | undefined {
    return this.#tokens[this.#at++]
  }

  #requirement(): Requirement {
    const negated = this.#peek()?.symbol === "!"
    if (negated) this.#at++
    const token = this.#take()
    if (token === undefined || token.symbol !== undefined) {
      throw new ParseFailure(`found '${token?.text ?? ""}', expected: identifier`)
    }
    const key = token.text
    const faults = validateQualifiedName(key)
    if (faults.length > 0) throw new ParseFailure(`key: Invalid value: ${JSON.stringify(key)}: ${faults.join("; ")}`)
    const next = this.#peek()
    if (negated) return { key, operator: "!", values: [] }
    if (next === undefined || next.symbol === ",") return { key, operator: "exists", values: [] }
    this.#at++
    return this.#rest(key, next)
  }

  #rest(key: string, operator: Token): Requirement {
    switch (operator.symbol ?? operator.text) {
      case "=":
      case "==":
        return { key, operator: "=", values: [checkValue(key, this.#value())] }
      case "!=":
        return { key, operator: "!=", values: [checkValue(key, this.#value())] }
      case ">":
      case "<": {
        const value = this.#value()
        if (!isInteger(value)) {
          throw new ParseFailure(
            `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          )
        }
        return { key, operator: operator.symbol === ">" ? "gt" : "lt", values: [value] }
      }
      case "in":
        return { key, operator: "in", values: this.#values(key) }
      case "notin":
        return { key, operator: "notin", values: this.#values(key) }
      default:
        throw new ParseFailure(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  /** What follows "=": an identifier, or nothing at all (an empty value). */
  #value(): string {
    const token = this.#peek()
    if (token === undefined || token.symbol === ",") return ""
    if (token.symbol !== undefined) throw new ParseFailure(`found '${token.text}', expected: identifier`)
    this.#at++
    return token.text
  }

  #values(key: string): string[] {
    const open = this.#take()
    if (open?.symbol !== "(") throw new ParseFailure(`found '${open?.text ?? ""}', expected: '('`)
    const values = new Set<string>()
    for (;;) {
      const token = this.#take()
      if (token === undefined) throw new ParseFailure("found '', expected: ',', ')' or identifier")
      if (token.symbol === ",") {
        values.add("")
        continue
      }
      if (token.symbol === ")") {
        values.add("")
        break
      }
      values.add(checkValue(key, token.text))
      const after = this.#take()
      if (after?.symbol === ")") break
      if (after?.symbol !== ",") throw new ParseFailure(`found '${after?.text ?? ""}', expected: ',' or ')'`)
    }
    return [...values].sort()
  }
}

function checkValue(key: string, value: string): string {
  const faults = validateLabelValue(value)
  if (faults.length > 0)
    throw new ParseFailure(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${faults.join("; ")}`)
  return value
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at] ?? "")) {
      at++
      continue
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at))
    if (symbol !== undefined) {
      tokens.push({ symbol, text: symbol })
      at += symbol.length
      continue
    }
    const start = at
    while (at < text.length && !/[\s=!<>(),]/.test(text[at] ?? "")) at++
    tokens.push({ symbol: undefined, text: text.slice(start, at) })
  }
  return tokens
}
