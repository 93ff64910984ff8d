// What a subcommand is, and how it fails: a UsageError or UserError is one sentence for the person who typed it, anything
// else is a bug and shows its stack.

import { parseArgs, type ParseArgsConfig } from "node:util"

export interface Command {
  name: string
  summary: string
  /** The whole help text, without the leading "usage:" line's program name. */
  help: string
  /** Resolves to the exit code. */
  run(args: string[]): Promise<number>
}

/** What the person can do something about: printed as one line, exit code 1. */
export class UserError extends Error {
  override readonly name: string = "UserError"
}

/** Wrong flags or arguments: printed with a pointer to the help, exit code 2. */
export class UsageError extends UserError {
  override readonly name = "UsageError"
}

type Options = NonNullable<ParseArgsConfig["options"]>

/** parseArgs with `--help` everywhere and errors as UsageError. Returns undefined when help was asked for (and printed). */
export function parseFlags<const O extends Options>(command: { help: string }, args: string[], options: O) {
  try {
    const parsed = parseArgs({
      args,
      options: { ...options, help: { type: "boolean", short: "h" } } as O & { help: { type: "boolean" } },
      allowPositionals: true,
    })
    if ((parsed.values as { help?: boolean }).help === true) {
      process.stdout.write(command.help)
      return undefined
    }
    return parsed
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? (error.message.split(". To specify")[0] ?? error.message) : String(error),
    )
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
