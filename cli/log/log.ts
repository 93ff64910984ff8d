// The commands' log: JSON lines on standard error. Level and time are texts, as log collectors and people expect them.

import { pino, stdTimeFunctions } from "pino"
import type { Log } from "../../client/log.ts"
import { LineFile } from "./line-file.ts"
import { withoutRepeats } from "./repeats.ts"

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
export type LogLevel = (typeof logLevels)[number]

/** Tenants choose some of the texts, such as the messages of their webhooks, and would fill the disk with them. */
const logLimits = { characters: 2_000, items: 20, depth: 5 } as const

export function isLogLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text)
}

/** `worker`: added to every line of a worker process. */
export function createLog(level: LogLevel, worker?: number): Log {
  const options = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (name: string) => ({ level: name }),
      log: (fields: object) => shortened(fields) as Record<string, unknown>,
    },
    serializers: { err: (error: unknown) => shortened(printError(error)) },
  }
  // There is no other place to tell a failure.
  const log = pino(options, new LineFile(2, () => undefined))
  return withoutRepeats(worker === undefined ? log : log.child({ worker }))
}

/**
 * The message once, then where the error was thrown and what caused it. Other fields of an error, such as the Status of a response,
 * would repeat the message.
 */
export function printError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack = "", cause } = error
  const { code } = error as { code?: unknown }
  const frames = /^ {4}at [^]*/m.exec(stack)?.[0].replaceAll(/^ +/gm, "")
  return {
    type: name,
    message,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(frames === undefined ? {} : { stack: frames }),
    ...(cause === undefined ? {} : { cause: printError(cause) }),
  }
}

/** Errors are unchanged: they are serialized first. */
function shortened(value: unknown, depth: number = logLimits.depth): unknown {
  const { characters, items } = logLimits
  if (typeof value === "string") {
    return value.length <= characters ? value : `${value.slice(0, characters)}… (${value.length} characters)`
  }
  if (typeof value !== "object" || value === null || value instanceof Error) return value
  if (depth === 0) return "…"
  if (Array.isArray(value)) return value.slice(0, items).map((item) => shortened(item, depth - 1))
  const fields = Object.entries(value).slice(0, items)
  return Object.fromEntries(fields.map(([name, field]) => [name, shortened(field, depth - 1)]))
}
