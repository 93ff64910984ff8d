// The interface of a subcommand and its errors: a UsageError or UserError is one sentence for the user, any other error is a bug
// and is printed with its stack.

import { parseArgs, type ParseArgsConfig } from "node:util"

export interface Command {
  name: string
  summary: string
  /** The complete help text, without the program name of the leading "usage:" line. */
  help: string
  /** Resolves to the exit code. */
  run(args: string[]): Promise<number>
}

/** An error that the user can correct: printed as one line, exit code 1. */
export class UserError extends Error {
  override readonly name: string = "UserError"
}

/** Wrong flags or arguments: printed with a reference to the help, exit code 2. */
export class UsageError extends UserError {
  override readonly name = "UsageError"
}

type Options = NonNullable<ParseArgsConfig["options"]>

/** Adds `--help` to parseArgs and throws its errors as UsageError. Returns undefined if help was requested (and printed). */
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
