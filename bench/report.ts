// How benches tell what they measured: one table for people, one line of JSON, and the same in bench/results/<name>.json.

import { mkdir, writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"

export interface Line {
  what: string
  value: number
  unit: string
  /** What it is to be. */
  goal?: string
  /** What it is compared with, measured in the same run. */
  compared?: { with: string; value: number }
}

export async function report(name: string, settings: Record<string, unknown>, lines: readonly Line[]): Promise<void> {
  const cells = lines.map(({ what, value, unit, goal, compared }) => ({
    what,
    measured: `${print(value)} ${unit}`,
    goal: goal ?? "",
    "compared with": compared === undefined ? "" : `${print(compared.value)} ${unit} ${compared.with}`,
    ratio: compared === undefined || compared.value === 0 ? "" : print(value / compared.value),
  }))
  printTable(cells)
  const result = {
    bench: name,
    at: new Date().toISOString(),
    node: process.version,
    cpus: availableParallelism(),
    ...settings,
    lines,
  }
  const text = JSON.stringify(result)
  process.stdout.write(`${text}\n`)
  const results = new URL("results/", import.meta.url)
  await mkdir(results, { recursive: true })
  await writeFile(new URL(`${name}.json`, results), `${text}\n`)
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

/** Three digits that count. */
function print(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}

/** `share` 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** A whole number from the command line, or what it is without one. */
export function argument(position: number, otherwise: number): number {
  const value = Number(process.argv[2 + position] ?? otherwise)
  if (!Number.isInteger(value) || value < 1) throw new Error(`argument ${position + 1} must be a whole number above 0`)
  return value
}
