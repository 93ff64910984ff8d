// Label selectors: parses `?labelSelector=`, matches and prints. Source: k8s.io/apimachinery/pkg/labels.

import { ownValue } from "./schema/json-object.ts"
import { goQuote } from "./go/quote.ts"
import { end, type Token, tokenize } from "./label-tokens.ts"
import { badRequest } from "./status.ts"
import { validateLabelValue, validateQualifiedName } from "./names.ts"

type Operator = "in" | "notin" | "exists" | "!" | "=" | "!=" | "gt" | "lt"

interface Requirement {
  key: string
  operator: Operator
  /** Sorted. */
  values: readonly string[]
}

/** All must be satisfied; an empty list matches everything. */
export interface Selector {
  readonly requirements: readonly Requirement[]
}

/** A null selector in the API selects nothing: a label cannot have two values. */
const nothing: Selector = {
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
  for (const requirement of selector.requirements) if (!holds(requirement, labels)) return false
  return true
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  // The common case, evaluated for thousands of objects; inherited properties are not strings.
  if (operator === "=") return labels?.[key] === values[0]
  const value = ownValue(labels, key)
  switch (operator) {
    case "in":
      return value !== undefined && isAmong(values, value)
    case "notin":
    case "!=":
      return value === undefined || !isAmong(values, value)
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

const fewValues = 32
const manyValues = new WeakMap<readonly string[], ReadonlySet<string>>()

/** For many values, which are compared for each of many objects, a set is created once. */
function isAmong(values: readonly string[], value: string): boolean {
  if (values.length <= fewValues) return values.includes(value)
  let known = manyValues.get(values)
  if (known === undefined) manyValues.set(values, (known = new Set(values)))
  return known.has(value)
}

/** Fits 64 bits. */
function isInteger(text: string): boolean {
  return /^[+-]?\d+$/.test(text) && text.length <= 64 && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/** "a=b,c in (d,e),!f". Throws BadRequest with upstream's messages. Requirements are sorted by key. */
export function parseSelector(text: string): Selector {
  return { requirements: new Parser(text).requirements().sort(byKey) }
}

const byKey = (a: Requirement, b: Requirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

const knownSelectors = new WeakMap<LabelSelector, Selector>()

/**
 * As in the API, undefined selects nothing and an empty selector everything. Throws BadRequest for invalid selectors. Those of stored
 * objects, which do not change, are parsed once: they are compared with each of many objects.
 */
export function selectorFromLabelSelector(selector: LabelSelector | undefined | null): Selector {
  if (selector === undefined || selector === null) return nothing
  const known = knownSelectors.get(selector)
  if (known !== undefined) return known
  const parsed = parseLabelSelector(selector)
  if (Object.isFrozen(selector)) knownSelectors.set(selector, parsed)
  return parsed
}

function parseLabelSelector(selector: LabelSelector): Selector {
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "=",
    values: [value],
  }))
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    requirements.push({ key, operator: fromExpression(operator), values: [...values].sort() })
  }
  return { requirements: requirements.sort(byKey) }
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

/** In upstream's format: requirements sorted by key. */
export function printSelector(selector: Selector): string {
  return [...selector.requirements].sort(byKey).map(printRequirement).join(",")
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

const binaryOperators = "in, notin, =, ==, !=, gt, lt"

function unexpected(found: Token, expected: string): never {
  throw badRequest(`found '${found.text}', expected: ${expected}`)
}

/** Errors inside a requirement are prefixed, those between requirements are not. */
function inRequirement(fault: string): never {
  throw badRequest(`unable to parse requirement: ${fault}`)
}

function unexpectedInside(found: Token, expected: string): never {
  inRequirement(`found '${found.text}', expected: ${expected}`)
}

/** A recursive descent of at most one level: requirement ("," requirement)*. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  requirements(): Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const first = this.#peek()
      if (first.symbol === "end") return requirements
      if (first.symbol !== undefined && first.symbol !== "!") unexpected(first, "!, identifier, or 'end of string'")
      requirements.push(this.#requirement())
      const separator = this.#take()
      if (separator.symbol === "end") return requirements
      if (separator.symbol !== ",") unexpected(separator, "',' or 'end of string'")
      const after = this.#peek()
      if (after.symbol !== undefined && after.symbol !== "!") unexpected(after, "identifier after ','")
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end
  }

  #take(): Token {
    return this.#tokens[this.#at++] ?? end
  }

  #requirement(): Requirement {
    const negated = this.#peek().symbol === "!"
    if (negated) this.#take()
    const token = this.#take()
    if (token.symbol !== undefined) unexpectedInside(token, "identifier")
    const key = token.text
    const faults = validateQualifiedName(key)
    // Upstream prints "<nil>" as the path of a key outside an object.
    if (faults.length > 0) inRequirement(`<nil>: Invalid value: ${goQuote(key)}: ${faults.join("; ")}`)
    if (negated) return { key, operator: "!", values: [] }
    const next = this.#peek()
    if (next.symbol === "end" || next.symbol === ",") return { key, operator: "exists", values: [] }
    return this.#comparison(key, this.#take())
  }

  #comparison(key: string, operator: Token): Requirement {
    switch (operator.symbol ?? operator.text) {
      case "=":
      case "==":
        return checked({ key, operator: "=", values: [this.#value()] })
      case "!=":
        return checked({ key, operator: "!=", values: [this.#value()] })
      case ">":
        return checked({ key, operator: "gt", values: [this.#value()] })
      case "<":
        return checked({ key, operator: "lt", values: [this.#value()] })
      case "in":
        return checked({ key, operator: "in", values: this.#values() })
      case "notin":
        return checked({ key, operator: "notin", values: this.#values() })
      default:
        return unexpectedInside(operator, binaryOperators)
    }
  }

  /** The value after "=": a word, or nothing (an empty value). */
  #value(): string {
    const next = this.#peek()
    if (next.symbol === "end" || next.symbol === ",") return ""
    if (next.symbol !== undefined) unexpectedInside(next, "identifier")
    return this.#take().text
  }

  /** "(a,b)". Missing words next to commas are empty values. */
  #values(): string[] {
    const open = this.#take()
    if (open.symbol !== "(") inRequirement(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.symbol !== undefined && first.symbol !== "," && first.symbol !== ")")
      unexpectedInside(first, "',', ')' or identifier")
    const values = new Set<string>()
    let afterWord = false
    for (;;) {
      const token = this.#take()
      if (token.symbol === ")") {
        if (!afterWord) values.add("")
        return [...values].sort()
      }
      if (token.symbol === ",") {
        if (!afterWord) values.add("")
        afterWord = false
      } else if (token.symbol !== undefined) {
        unexpectedInside(token, afterWord ? "',' or ')'" : "',', or identifier")
      } else {
        if (afterWord) unexpectedInside(token, "',' or ')'")
        values.add(token.text)
        afterWord = true
      }
    }
  }
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement
  const faults: string[] = []
  values.forEach((value, index) => {
    if ((operator === "gt" || operator === "lt") && !isInteger(value)) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer"
      faults.push(`values[${index}]: Invalid value: ${goQuote(value)}: ${detail}`)
    }
  })
  values.forEach((value, index) => {
    const detail = validateLabelValue(value).join("; ")
    if (detail !== "") faults.push(`values[${index}][${key}]: Invalid value: ${goQuote(value)}: ${detail}`)
  })
  if (faults.length > 0) inRequirement(faults.length === 1 ? (faults[0] ?? "") : `[${faults.join(", ")}]`)
  return requirement
}
