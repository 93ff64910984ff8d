// What code that logs needs of a logger; pino's has this shape.

export interface LogFields {
  /** An error, with its stack: pino prints it whole under this name, and as {} under any other. */
  err?: unknown
  /** Only what an error says. */
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
