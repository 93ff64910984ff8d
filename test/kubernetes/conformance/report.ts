// docs/conformance.md and docs/beyond-conformance.md: how much of the upstream suite a tenant passes, group by group, and why
// not, spec by spec.

import { reasonOf, type Selection } from "./selection.ts"
import { outcomes, type Outcome, type SpecResult } from "./specs.ts"

const maxMessageLength = 240

export interface ReportContext {
  version: string
  /** What the tenant's pods run on. */
  superCluster: string
  /** The command that makes this file. */
  command: string
  /** It was put together of. */
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
    ...table(["special interest group", ...shown], rows),
  ]
  for (const outcome of ["failed", "not run"] as const) {
    const some = results.filter((result) => result.outcome === outcome)
    if (some.length === 0) continue
    lines.push("", outcome === "failed" ? "## Failed" : "## Not run", "")
    for (const { name, message } of some) {
      lines.push(`- ${code(name)}: ${reasonOf(selection.explained, name) ?? code(shorten(message))}`)
    }
  }
  if (selection.notAsked.length > 0) lines.push("", "## Not asked", "", ...table(["reason", "specs"], reasons(results)))
  return `${lines.join("\n")}\n`
}

const writtenBy = ({ command, runs }: ReportContext): string =>
  `Written by \`${command}\`${runs === 1 ? "" : `, of ${runs} runs: a spec did what it did in the last of them that ran it`}.`

const conformanceText = (context: ReportContext): string[] => [
  `Specs of the upstream conformance suite of Kubernetes ${context.version}, unmodified, that pass against a tenant whose pods run on`,
  `${context.superCluster}. Nothing is left out of the denominator; the same run against that cluster itself passes all.`,
  writtenBy(context),
]

const beyondText = ({ specs }: Selection, context: ReportContext): string[] => [
  `Specs of the upstream test binary of Kubernetes ${context.version}, unmodified, that are not of the conformance suite, and pass against a`,
  `tenant whose pods run on ${context.superCluster}. Of the ${specs} there are, those that need more than such a`,
  "cluster are not asked; the reasons are below. *Not run* are those that say themselves that they do not apply, and those that",
  "were never begun.",
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

/** The first words of a message, without what differs from machine to machine or from run to run. */
export function shorten(message: string): string {
  const text = message
    .replace(/(?<![\w.@+/-])(?:\/[\w.@+-]+){2,}\.go:\d+/g, "")
    .replace(/\/(?:root|home|tmp)\/\S+/g, "…")
    .replace(/\s+/g, " ")
    .trim()
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength).trimEnd()} …`
}

/** As code, so that nothing in it is taken for markup. */
function code(text: string): string {
  return text === "" ? "no message" : `\`${text.replaceAll("`", "'")}\``
}
