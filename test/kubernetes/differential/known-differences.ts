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
  /** Patterns; one that is missing fits everything. Values are printed as JSON: a text begins and ends with its quote. */
  scenario?: string
  request?: string
  at?: string
  kubernetes?: string
  polyplane?: string
  /** Instead of patterns: "scenario :: request :: at", exactly. */
  cases?: readonly string[]
  /** Does not occur in every run: upstream's order of maps, or timing. */
  sometimes?: boolean
}

interface Matcher {
  known: KnownDifference
  fits: (difference: Difference) => boolean
  times: number
}

export class KnownDifferences {
  readonly #matchers: readonly Matcher[]
  /** Exact cases not yet seen, and those that were, by what they are. */
  readonly #cases: ReadonlyMap<string, { known: KnownDifference; times: number }>

  constructor(known: readonly KnownDifference[] = readKnown()) {
    const patterns = known.filter(({ cases }) => cases === undefined)
    this.#matchers = patterns.map((one) => ({ known: one, fits: fitter(one), times: 0 }))
    this.#cases = new Map(
      known.flatMap((one) => (one.cases ?? []).map((name) => [name, { known: one, times: 0 }] as const)),
    )
  }

  /** Those that are not known; the others are counted. */
  unknown(differences: readonly Difference[]): Difference[] {
    return differences.filter((difference) => {
      const counted = this.#cases.get(nameOf(difference)) ?? this.#matchers.find(({ fits }) => fits(difference))
      if (counted !== undefined) counted.times++
      return counted === undefined
    })
  }

  /** Patterns and cases that nothing needed. */
  unused(): string[] {
    return [
      ...this.#matchers
        .filter(({ known, times }) => times === 0 && known.sometimes !== true)
        .map(({ known }) => JSON.stringify(known)),
      ...this.unusedCases(),
    ]
  }

  unusedCases(): string[] {
    return [...this.#cases]
      .filter(([, { known, times }]) => times === 0 && known.sometimes !== true)
      .map(([name]) => name)
  }

  summary(): string {
    const all = [...this.#matchers, ...this.#cases.values()]
    const count = (because: KnownDifference["because"]): string => {
      const some = all.filter(({ known }) => known.because === because)
      return `${some.length} (seen ${some.reduce((sum, { times }) => sum + times, 0)} times)`
    }
    return `known differences: ${count("design")} by design, ${count("open")} open`
  }
}

export const knownDifferencesFile = new URL("known-differences.yaml", import.meta.url)

function nameOf({ scenario, request, at }: Difference): string {
  return `${scenario} :: ${request} :: ${at}`
}

export function readKnown(file = knownDifferencesFile): KnownDifference[] {
  return (parse(readFileSync(file, "utf8")) ?? []) as KnownDifference[]
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
