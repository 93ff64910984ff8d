// Parses the Accept header like kube-apiserver: clauses ordered by quality, then in the given order; clauses with wildcards last.
// Pure. Source: github.com/munnerz/goautoneg, k8s.io/apiserver/pkg/endpoints/handlers/negotiation.

export interface Clause {
  /** "application/json", "*" + "/*". */
  type: string
  parameters: ReadonlyMap<string, string>
}

/** Limits of the cache for parsed headers; clients send the same few. When it is full, all entries are dropped. */
const maxKept = 256
const maxKeptLength = 512

/** Caches the results of `make`, which must depend only on the header. */
export function remembering<T>(make: (header: string) => T): (header: string) => T {
  const kept = new Map<string, T>()
  return (header) => {
    let made = kept.get(header)
    if (made !== undefined) return made
    made = make(header)
    if (header.length <= maxKeptLength) {
      if (kept.size >= maxKept) kept.clear()
      kept.set(header, made)
    }
    return made
  }
}

export const parseAccept: (header: string) => readonly Clause[] = remembering((header) =>
  header
    .split(",")
    .map(parseClause)
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b)),
)

function parseClause(text: string): (Clause & { quality: number }) | undefined {
  const [range = "", ...rest] = text.split(";").map((part) => part.trim())
  const type = range === "*" ? "*/*" : range
  if (type.split("/").length !== 2) return undefined
  let quality = 1
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const [name = "", value, more] = part.split("=")
    if (value === undefined || value === "" || more !== undefined) continue
    if (name.trim() === "q") quality = Number.parseFloat(value) || 0
    else parameters.set(name.trim(), value.trim())
  }
  return { type, parameters, quality }
}

function wildcards({ type }: Clause): number {
  return type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0
}

/**
 * The first check of built-in paths, which ignores parameters and does not support "application/*". Source: go-restful's routes.
 */
export function acceptsOneOf(header: string, produced: readonly string[]): boolean {
  return header.split(",").some((clause) => {
    const type = (clause.split(";")[0] ?? "").trim()
    return type === "*/*" || produced.includes(type)
  })
}
