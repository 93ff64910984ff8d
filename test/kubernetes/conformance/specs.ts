// The specs of the upstream suite with their results, read from ginkgo's JSON reports.

import { readFile } from "node:fs/promises"

export const outcomes = ["passed", "failed", "not run", "not asked"] as const
export type Outcome = (typeof outcomes)[number]

export interface SpecResult {
  /** As printed by the suite: "[sig-node] Pods should …  [Conformance]". */
  name: string
  /** Such as "sig-node". */
  group: string
  outcome: Outcome
  seconds: number
  /** Why it failed or was not run, according to the suite; why it was excluded, according to selection.ts. */
  message: string
}

/** The used part of github.com/onsi/ginkgo/v2/types.Report. */
interface GinkgoReport {
  SpecReports?: {
    ContainerHierarchyTexts?: string[] | null
    LeafNodeType: string
    LeafNodeText: string
    State: string
    /** Nanoseconds. */
    RunTime: number
    Failure?: { Message?: string }
  }[]
}

const neverBegun = "never begun"

/** All selected specs; the report also contains the thousands of others, as skipped. Empty if there is no report. */
export async function readSpecs(file: string): Promise<SpecResult[]> {
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
  const found: SpecResult[] = []
  for (const report of JSON.parse(text) as GinkgoReport[]) {
    for (const spec of report.SpecReports ?? []) {
      if (spec.LeafNodeType !== "It") continue
      const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" ")
      const outcome = outcomeOf(spec.State)
      found.push({
        name,
        group: groupOf(name),
        outcome,
        seconds: Math.round(spec.RunTime / 1e8) / 10,
        message: spec.Failure?.Message ?? (outcome === "not run" ? neverBegun : ""),
      })
    }
  }
  return found
}

function outcomeOf(state: string): Outcome {
  if (state === "passed") return "passed"
  return ["skipped", "pending", "interrupted", "aborted", ""].includes(state) ? "not run" : "failed"
}

const groupOf = (name: string): string => /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? "none"

export function withoutRun(name: string, outcome: "not run" | "not asked", message: string): SpecResult {
  return { name, group: groupOf(name), outcome, seconds: 0, message }
}

/** Adds the specs of `selected` that are missing in `ran`: they were never started. */
export function complete(selected: readonly string[], ran: readonly SpecResult[]): SpecResult[] {
  const results = new Map(ran.map((result) => [result.name, result]))
  return selected.map((name) => results.get(name) ?? withoutRun(name, "not run", neverBegun))
}

/** Merges several runs: a spec has its most informative result; of equally informative ones, the later one. */
export function merge(runs: readonly (readonly SpecResult[])[]): SpecResult[] {
  const merged = new Map<string, SpecResult>()
  for (const result of runs.flat()) {
    const before = merged.get(result.name)
    if (before === undefined || rank(result) >= rank(before)) merged.set(result.name, result)
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function rank({ outcome, message }: SpecResult): number {
  if (outcome === "not asked") return 0
  if (outcome === "not run") return message === neverBegun ? 1 : 2
  return 3
}

/** Applies the current rules, which may differ from those at the time of the run. */
export function judge(result: SpecResult, notAsked: string | undefined): SpecResult {
  if (notAsked !== undefined) return withoutRun(result.name, "not asked", notAsked)
  return result.outcome === "not asked" ? withoutRun(result.name, "not run", neverBegun) : result
}
