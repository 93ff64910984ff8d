// The commands' log: JSON lines on standard error.

import { pino } from "pino"
import type { Log } from "../client/log.ts"

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
export type LogLevel = (typeof logLevels)[number]

export function isLogLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text)
}

export function createLog(level: LogLevel): Log {
  return pino({ level }, pino.destination(2))
}
