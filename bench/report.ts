// The output of benches: a table for people, one line of JSON, and the same in bench/results/<name>.json.

import { mkdir, writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"

/** The goal for a value: a bound in its own unit, or a share of the compared value. */
export interface Goal {
  is: "≤" | "≥"
  bound: number
  isShare?: boolean
}

export const atMost = (bound: number): Goal => ({ is: "≤", bound })
export const atLeast = (bound: number): Goal => ({ is: "≥", bound })
export const atMostOfCompared = (bound: number): Goal => ({ is: "≤", bound, isShare: true })
export const atLeastOfCompared = (bound: number): Goal => ({ is: "≥", bound, isShare: true })

export interface Line {
  what: string
  value: number
  unit: string
  goal?: Goal
  /** What prevents reaching the goal, according to profiles; printed when it is missed. */
  obstacle?: string
  /** The compared value, measured in the same run. */
  compared?: { with: string; value: number }
}

export async function report(name: string, settings: Record<string, unknown>, lines: readonly Line[]): Promise<void> {
  const evaluated = lines.map(evaluate)
  printTable(
    evaluated.map(({ what, value, unit, goal, missedBy, compared }) => ({
      what,
      measured: `${print(value)} ${unit}`,
      goal: goal ?? "",
      "missed by": missedBy ?? "",
      "compared with": compared === undefined ? "" : `${print(compared.value)} ${unit} ${compared.with}`,
      ratio: compared === undefined || compared.value === 0 ? "" : print(value / compared.value),
    })),
  )
  for (const [obstacle, missed] of Map.groupBy(evaluated, (line) => line.obstacle))
    if (obstacle !== undefined)
      process.stdout.write(`in the way of ${missed.map(({ what }) => what.trim()).join("; ")}: ${obstacle}\n`)
  const result = {
    bench: name,
    at: new Date().toISOString(),
    node: process.version,
    cpus: availableParallelism(),
    ...settings,
    lines: evaluated,
  }
  const text = JSON.stringify(result)
  process.stdout.write(`${text}\n`)
  const results = new URL("results/", import.meta.url)
  await mkdir(results, { recursive: true })
  await writeFile(new URL(`${name}.json`, results), `${text}\n`)
}

type EvaluatedLine = Omit<Line, "goal"> & { goal?: string; missedBy?: string }

/** A line as it is printed: its goal in words and, if it is missed, by how much and why. */
function evaluate({ goal, obstacle, ...line }: Line): EvaluatedLine {
  if (goal === undefined) return line
  if (goal.isShare === true && line.compared === undefined) return line // nothing to compare with was measured
  const words = `${goal.is} ${print(goal.bound)}${goal.isShare === true ? " of it" : ""}`
  const value = goal.isShare === true ? line.value / (line.compared?.value ?? Number.NaN) : line.value
  const isMet = goal.is === "≤" ? value <= goal.bound : value >= goal.bound
  if (isMet) return { ...line, goal: words }
  const far = goal.bound === 0 ? print(value) : `${Math.round(100 * Math.abs(value / goal.bound - 1))} %`
  return { ...line, goal: words, missedBy: far, ...(obstacle === undefined ? {} : { obstacle }) }
}

function printTable(rows: readonly Record<string, string>[]): void {
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => row[name]?.length ?? 0)))
  const print = (cells: readonly string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    )
  print(names)
  for (const row of rows) print(names.map((name) => row[name] ?? ""))
}

/** Prints three significant digits. */
function print(value: number): string {
  if (Number.isInteger(value)) return String(value)
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}

/** `share` 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** An integer from the command line, or the default. */
export function argument(position: number, otherwise: number): number {
  const value = Number(process.argv[2 + position] ?? otherwise)
  if (!Number.isInteger(value) || value < 1) throw new Error(`argument ${position + 1} must be a whole number above 0`)
  return value
}
