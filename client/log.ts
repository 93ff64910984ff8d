// The logger interface that clients need; pino's logger implements it.

import { errorMessage } from "../apimachinery/error-message.ts"

export interface LogFields {
  /** An error with its stack: pino prints it completely under this name, and as {} under any other. */
  err?: unknown
  /** Only an error's message. */
  error?: string | undefined
  readonly [name: string]: unknown
}

export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/** What the language throws at bugs, wherever they are caught; RangeErrors and SyntaxErrors also tell of bad input. */
const bugs = [TypeError, ReferenceError]

/** A failure after which the work goes on, or is tried again: its message, and if it is a bug, where it is. */
export function failureFields(error: unknown): LogFields {
  return bugs.some((bug) => error instanceof bug) ? { err: error } : { error: errorMessage(error) }
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
