// The flags of a command, declared once: how they are parsed, and what the help says about them. So the help names every flag,
// with the default that the parser uses.

import { parseArgs, type ParseArgsConfig } from "node:util"
import { UsageError } from "./command.ts"

type Parsed = NonNullable<ParseArgsConfig["options"]>[string]

type Flag = Parsed & {
  /** What the flag takes, such as "DIR" or "SECONDS"; none for booleans. */
  takes?: string
  /** A default that is not one of the parser belongs into this text. */
  help: string
  /** Otherwise an empty value is refused: it usually comes from a variable that is not set. */
  mayBeEmpty?: boolean
}

export type Flags = Record<string, Flag>

const width = 120

/** One entry per flag, sorted by name. */
export function printFlags(flags: Flags): string {
  const entries = Object.entries(flags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { short, takes, help, default: value }]) => ({
      label: `${short === undefined ? "" : `-${short}, `}--${name}${takes === undefined ? "" : ` ${takes}`}`,
      text: typeof value === "string" ? `${help} (default ${value})` : help,
    }))
  const indent = Math.max(...entries.map(({ label }) => label.length)) + 4
  return entries.map(({ label, text }) => `${`  ${label}`.padEnd(indent)}${wrapped(text, indent)}\n`).join("")
}

/** Lines of at most 120 columns; all but the first are indented. */
export function wrapped(text: string, indent: number): string {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`)
}

/** Adds `--help` to parseArgs and throws its errors as UsageError. Returns undefined if help was requested (and printed). */
export function parseFlags<const O extends Flags>(command: { help: string }, args: string[], options: O) {
  const parsed = parse(args, options)
  if ((parsed.values as { help?: boolean }).help === true) {
    process.stdout.write(command.help)
    return undefined
  }
  for (const [name, value] of Object.entries(parsed.values))
    if ([value].flat().includes("") && options[name]?.mayBeEmpty !== true)
      throw new UsageError(`--${name} must not be empty`)
  return parsed
}

function parse<const O extends Flags>(args: string[], options: O) {
  try {
    return parseArgs({
      args,
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    })
  } catch (error) {
    const message = error instanceof Error ? (error.message.split(". To specify")[0] ?? error.message) : String(error)
    throw new UsageError(message.replaceAll("\n", " "))
  }
}

/** "6443" → 6443; throws UsageError naming the flag. */
export function integerFlag(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new UsageError(`--${name} must be a whole number from ${minimum} to ${maximum}, not "${text}"`)
  }
  return value
}
