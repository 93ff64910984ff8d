// known-differences.yaml: accepted differences, each with its reason. `*` in a pattern matches any text. A difference that is not
// in the file fails its scenario; an entry that no longer occurs fails the run.

import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { type Difference, printWhole } from "./compare.ts"

interface KnownDifference {
  /** Why it differs, and why that is no trap for users: it fails visibly instead of working in part. */
  reason: string
  /** "design": intended, see ARCHITECTURE.md. "open": not implemented yet. */
  because: "design" | "open"
  /** Patterns; an absent one matches anything. Values are printed as JSON, so strings begin and end with a quote. */
  scenario?: string
  request?: string
  at?: string
  kubernetes?: string
  polyplane?: string
  /** Instead of patterns: exact "scenario :: request :: at". */
  cases?: readonly string[]
  /** Does not occur in every run, because of upstream's map order or timing. */
  sometimes?: boolean
}

interface Matcher {
  known: KnownDifference
  fits: (difference: Difference) => boolean
  times: number
}

export class KnownDifferences {
  readonly #matchers: readonly Matcher[]
  /** Exact cases by name, with the number of occurrences. */
  readonly #cases: ReadonlyMap<string, { known: KnownDifference; times: number }>

  constructor(known: readonly KnownDifference[] = readKnown()) {
    const patterns = known.filter(({ cases }) => cases === undefined)
    this.#matchers = patterns.map((one) => ({ known: one, fits: fitter(one), times: 0 }))
    this.#cases = new Map(
      known.flatMap((one) => (one.cases ?? []).map((name) => [name, { known: one, times: 0 }] as const)),
    )
  }

  /** Returns differences that are not known, and counts the others. */
  unknown(differences: readonly Difference[]): Difference[] {
    return differences.filter((difference) => {
      const counted = this.#cases.get(nameOf(difference)) ?? this.#matchers.find(({ fits }) => fits(difference))
      if (counted !== undefined) counted.times++
      return counted === undefined
    })
  }

  /** Patterns and cases that did not occur. */
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
    matching(kubernetes, (difference) => printWhole(difference.kubernetes)),
    matching(polyplane, (difference) => printWhole(difference.polyplane)),
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
