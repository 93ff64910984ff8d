// The commands' log: JSON lines on standard error.

import { pino } from "pino"
import type { Log } from "../client/log.ts"

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
export type LogLevel = (typeof logLevels)[number]

export function isLogLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text)
}

/** `worker`: added to every line of a worker process. */
export function createLog(level: LogLevel, worker?: number): Log {
  const log = pino({ level }, pino.destination(2))
  return worker === undefined ? log : log.child({ worker })
}
