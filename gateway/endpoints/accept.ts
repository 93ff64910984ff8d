// The Accept header as kube-apiserver reads it: clauses by quality, and then in the order given; those with wildcards last.
// Pure. Source: github.com/munnerz/goautoneg, k8s.io/apiserver/pkg/endpoints/handlers/negotiation.

export interface Clause {
  /** "application/json", "*" + "/*". */
  type: string
  parameters: ReadonlyMap<string, string>
}

/** Headers seen lately, already parsed: clients send the same few. Beyond the limit all are forgotten. */
const parsed = new Map<string, readonly Clause[]>()
const maxParsed = 256
const maxKeptLength = 512

export function parseAccept(header: string): readonly Clause[] {
  const known = parsed.get(header)
  if (known !== undefined) return known
  const clauses = header.split(",").map(parseClause)
  const sorted = clauses
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b))
  if (header.length <= maxKeptLength) {
    if (parsed.size >= maxParsed) parsed.clear()
    parsed.set(header, sorted)
  }
  return sorted
}

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

/** The first gate of built-in paths, which knows no parameters and no "application/*". Source: go-restful's routes. */
export function acceptsOneOf(header: string, produced: readonly string[]): boolean {
  return header.split(",").some((clause) => {
    const type = (clause.split(";")[0] ?? "").trim()
    return type === "*/*" || produced.includes(type)
  })
}
