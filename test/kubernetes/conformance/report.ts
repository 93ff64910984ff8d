// Writes docs/conformance.md and docs/beyond-conformance.md: how many specs of the upstream suite a tenant passes, by group, and
// the reason for each spec that does not pass.

import { reasonOf, type Selection } from "./selection.ts"
import { outcomes, type Outcome, type SpecResult } from "./specs.ts"

const maxMessageLength = 240

interface ReportContext {
  version: string
  /** What the tenant's pods run on. */
  superCluster: string
  /** The command that writes this file. */
  command: string
  /** Number of runs the results were merged from. */
  runs: number
}

export function countOf(results: readonly SpecResult[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

export function printReport(results: readonly SpecResult[], selection: Selection, context: ReportContext): string {
  const asked = selection.specs - countOf(results, "not asked")
  const shown = outcomes.filter((outcome) => outcome !== "not asked" || selection.notAsked.length > 0)
  const groups = [...new Set(results.map(({ group }) => group))].sort()
  const rows = groups.map((group) => {
    const own = results.filter((result) => result.group === group)
    return [group, ...shown.map((outcome) => String(countOf(own, outcome)))]
  })
  const lines = [
    `${countOf(results, "passed")} / ${asked}`,
    "",
    ...(selection.notAsked.length > 0 ? beyondText(selection, context) : conformanceText(context)),
    "",
    ...table(["special interest group", ...shown.map(titleOf)], rows),
  ]
  for (const outcome of ["failed", "not run"] as const) {
    const some = results.filter((result) => result.outcome === outcome)
    if (some.length === 0) continue
    lines.push("", outcome === "failed" ? "## Failed" : "## Not run", "")
    for (const { name, message } of some) {
      lines.push(`- ${code(name)}: ${reasonOf(selection.explained, name) ?? code(shorten(message))}`)
    }
  }
  if (selection.notAsked.length > 0) lines.push("", "## Excluded", "", ...table(["reason", "specs"], reasons(results)))
  return `${lines.join("\n")}\n`
}

const titleOf = (outcome: Outcome): string => (outcome === "not asked" ? "excluded" : outcome)

const writtenBy = ({ command, runs }: ReportContext): string =>
  `Written by \`${command}\`${runs === 1 ? "" : ` from ${runs} runs; each spec has the result of the last run that executed it`}.`

const conformanceText = (context: ReportContext): string[] => [
  `Number of specs of the unmodified upstream conformance suite of Kubernetes ${context.version} that pass against a tenant whose pods run`,
  `on ${context.superCluster}. No spec is excluded. All of them also pass against that cluster itself.`,
  writtenBy(context),
]

const beyondText = ({ specs }: Selection, context: ReportContext): string[] => [
  `Number of specs of the unmodified upstream test binary of Kubernetes ${context.version} outside the conformance suite that pass against`,
  `a tenant whose pods run on ${context.superCluster}. Of these ${specs} specs, those that need more than`,
  "such a cluster are *excluded*, for the reasons listed below. *Not run* means that the spec skipped itself or was never started.",
  writtenBy(context),
]

function reasons(results: readonly SpecResult[]): string[][] {
  const counts = new Map<string, number>()
  for (const { outcome, message } of results) {
    if (outcome === "not asked") counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => [reason, String(count)])
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)]
}

/** The start of a message, without parts that differ between machines or runs. */
export function shorten(message: string): string {
  const text = message
    .replace(/(?<![\w.@+/-])(?:\/[\w.@+-]+){2,}\.go:\d+/g, "")
    .replace(/\/(?:root|home|tmp)\/\S+/g, "…")
    .replace(/\s+/g, " ")
    .trim()
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength).trimEnd()} …`
}

/** Formatted as code, so that nothing in it is interpreted as markup. */
function code(text: string): string {
  return text === "" ? "no message" : `\`${text.replaceAll("`", "'")}\``
}
