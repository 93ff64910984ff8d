// Parses the Accept header like kube-apiserver: clauses ordered by quality and wildcards. Pure. Source: github.com/munnerz/goautoneg, k8s.io/apiserver/pkg/endpoints/handlers/negotiation.

import { remember } from "../../apimachinery/remember.ts"

export interface Clause {
  /** "application/json", "*" + "/*". */
  type: string
  parameters: ReadonlyMap<string, string>
}

/** Limits of the cache for parsed headers; clients send the same few. */
const maxKept = 256
const maxKeptLength = 512

/** Caches the results of `make`, which must depend only on the header. */
export function remembering<T>(make: (header: string) => T): (header: string) => T {
  const kept = new Map<string, T>()
  return (header) => {
    let made = kept.get(header)
    if (made !== undefined) return made
    made = make(header)
    return header.length > maxKeptLength ? made : remember(kept, header, made, maxKept)
  }
}

interface Weighed extends Clause {
  quality: number
}

export const parseAccept: (header: string) => readonly Clause[] = remembering((header) =>
  sorted(
    header
      .split(",")
      .map(parseClause)
      .filter((clause) => clause !== undefined),
  ),
)

/** go-restful and goautoneg trim nothing else. */
export const trimSpaces = (text: string): string => text.replace(/^ +/, "").replace(/(?<! ) +$/, "")

function parseClause(text: string): Weighed | undefined {
  const [range = "", ...rest] = text.split(";")
  const [main = "", sub = "", more = ""] = range.split("/").map(trimSpaces)
  if (more !== "" || (sub === "" && main !== "*")) return undefined
  let quality = 1
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const [name = "", value = "", after = ""] = part.split("=")
    if (value === "" || after !== "") continue
    if (trimSpaces(name) === "q") quality = qualityOf(value)
    else parameters.set(trimSpaces(name), trimSpaces(value))
  }
  return { type: `${main}/${sub === "" ? "*" : sub}`, parameters, quality }
}

/** What is no number counts as none. */
function qualityOf(text: string): number {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return Math.fround(Number(text))
  return /^\+?inf(?:inity)?$/i.test(text) ? Infinity : 0
}

/** Go sorts as many by insertion. */
const mostInserted = 12

/** By upstream's order any two may precede each other: what counts is what its sort makes of it. */
function sorted(clauses: Weighed[]): Weighed[] {
  if (clauses.length > mostInserted) {
    return clauses.sort((a, b) => Number(precedes(b, a)) - Number(precedes(a, b)))
  }
  const result: Weighed[] = []
  for (const clause of clauses) {
    let at = result.length
    while (at > 0 && precedes(clause, result[at - 1] as Weighed)) at--
    result.splice(at, 0, clause)
  }
  return result
}

function precedes(one: Weighed, other: Weighed): boolean {
  return (
    one.quality > other.quality ||
    (!one.type.startsWith("*/") && other.type.startsWith("*/")) ||
    (!one.type.endsWith("/*") && other.type.endsWith("/*"))
  )
}

/**
 * The first check of built-in paths, which ignores parameters and does not support "application/*". Source: go-restful's routes.
 */
export function acceptsOneOf(header: string, produced: readonly string[]): boolean {
  return header.split(",").some((clause) => {
    const type = trimSpaces(clause.split(";")[0] ?? "")
    return type === "*/*" || produced.includes(type)
  })
}
