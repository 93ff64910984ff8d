// known-differences.yaml: what differs and stays different for now, each with its reason. `*` in a pattern is any text. What is
// not in the file fails its scenario; what is in it and no longer occurs fails the run.

import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { type Difference, print } from "./compare.ts"

interface KnownDifference {
  /** Why it is so, and why that is no trap: it says so, it does not half work. */
  reason: string
  /** "design": ruled out, see ARCHITECTURE.md. "open": not there yet. */
  because: "design" | "open"
  /** Patterns; one that is missing fits everything. */
  scenario?: string
  request?: string
  at?: string
  kubernetes?: string
  polyplane?: string
}

interface Matcher {
  known: KnownDifference
  fits: (difference: Difference) => boolean
  times: number
}

export class KnownDifferences {
  readonly #matchers: readonly Matcher[]

  constructor(known: readonly KnownDifference[] = readKnown()) {
    this.#matchers = known.map((one) => ({ known: one, fits: fitter(one), times: 0 }))
  }

  /** Those that are not known; the others are counted. */
  unknown(differences: readonly Difference[]): Difference[] {
    return differences.filter((difference) => {
      const matcher = this.#matchers.find(({ fits }) => fits(difference))
      if (matcher !== undefined) matcher.times++
      return matcher === undefined
    })
  }

  /** Entries that nothing needed. */
  unused(): string[] {
    return this.#matchers.filter(({ times }) => times === 0).map(({ known }) => JSON.stringify(known))
  }

  summary(): string {
    const count = (because: KnownDifference["because"]): string => {
      const some = this.#matchers.filter(({ known }) => known.because === because)
      const times = some.reduce((sum, matcher) => sum + matcher.times, 0)
      return `${some.length} (seen ${times} times)`
    }
    return `known differences: ${count("design")} by design, ${count("open")} open`
  }
}

function readKnown(): KnownDifference[] {
  return (parse(readFileSync(new URL("known-differences.yaml", import.meta.url), "utf8")) ?? []) as KnownDifference[]
}

function fitter({
  scenario,
  request,
  at,
  kubernetes,
  polyplane,
}: KnownDifference): (difference: Difference) => boolean {
  const tests = [
    matching(scenario, (difference) => difference.scenario),
    matching(request, (difference) => difference.request),
    matching(at, (difference) => difference.at),
    matching(kubernetes, (difference) => print(difference.kubernetes)),
    matching(polyplane, (difference) => print(difference.polyplane)),
  ]
  return (difference) => tests.every((test) => test(difference))
}

function matching(
  pattern: string | undefined,
  text: (difference: Difference) => string,
): (difference: Difference) => boolean {
  if (pattern === undefined) return () => true
  const expression = new RegExp(`^${pattern.split("*").map(escape).join("[^]*")}$`)
  return (difference) => expression.test(text(difference))
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&")
}
