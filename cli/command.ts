// The interface of a subcommand and its errors: a UsageError or UserError is one sentence for the user, any other error is a bug
// and is printed with its stack.

export interface Command {
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
