// The specs of the upstream suite as this project counts them, read from ginkgo's own JSON reports.

import { readFile } from "node:fs/promises"

export type Outcome = "passed" | "failed" | "not run"

export interface SpecResult {
  /** As the suite prints it: "[sig-node] Pods should …  [Conformance]". */
  name: string
  /** sig-node. */
  group: string
  outcome: Outcome
  seconds: number
  /** Why it failed or was not run, as the suite says it. */
  message: string
}

/** What is read of github.com/onsi/ginkgo/v2/types.Report. */
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

const serialLabel = "[Serial]"
export const isSerial = ({ name }: { name: string }): boolean => name.includes(serialLabel)

/** Every spec that was selected; the thousands of others are in the report as skipped. Empty when there is no report. */
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
      found.push({
        name,
        group: /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? "none",
        outcome: outcomeOf(spec.State),
        seconds: Math.round(spec.RunTime / 1e8) / 10,
        message: spec.Failure?.Message ?? "",
      })
    }
  }
  return found
}

function outcomeOf(state: string): Outcome {
  if (state === "passed") return "passed"
  return ["skipped", "pending", "interrupted", "aborted", ""].includes(state) ? "not run" : "failed"
}

/** `ran` knows of those it was asked for; the others of `selected` were never begun. */
export function complete(selected: readonly string[], ran: readonly SpecResult[]): SpecResult[] {
  const results = new Map(ran.map((result) => [result.name, result]))
  return selected.map(
    (name) =>
      results.get(name) ?? {
        name,
        group: /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? "none",
        outcome: "not run",
        seconds: 0,
        message: "never begun",
      },
  )
}

/** Of several runs: a spec that was run in one of them has that result; of two the later run's. */
export function merge(runs: readonly (readonly SpecResult[])[]): SpecResult[] {
  const merged = new Map<string, SpecResult>()
  for (const result of runs.flat()) {
    if (result.outcome !== "not run" || !merged.has(result.name)) merged.set(result.name, result)
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
