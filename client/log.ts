// The logger interface that clients need; pino's logger implements it.

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

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
