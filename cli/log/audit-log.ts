// The audit log: one JSON line for each request of a client, in a file or on standard output.

import { pino, stdTimeFunctions } from "pino"
import type { Log } from "../../client/log.ts"

export const auditLogHelp =
  "append one JSON line per request to this file, or with - to standard output: who did what, with which result; after SIGHUP the file is opened again (default: no audit log)"

export interface AuditLog extends AsyncDisposable {
  log: Log
  /** Calls the listener after SIGHUP, so that other processes open the file again as well. Returns a function that stops it. */
  onReopen(listener: () => void): () => void
}

/** Fails with the system's error if the file cannot be written to. Several processes may append to the same file. */
export function openAuditLog(file: string): AuditLog {
  const ownersOnly = 0o600
  // Opened synchronously, so that an unusable file is reported at the start; each line is one write.
  const destination =
    file === "-" ? pino.destination(1) : pino.destination({ dest: file, append: true, mode: ownersOnly, sync: true })
  const listeners = new Set<() => void>()
  const reopen = (): void => {
    if (file !== "-") destination.reopen()
    for (const listener of listeners) listener()
  }
  process.on("SIGHUP", reopen)
  return {
    log: pino(
      { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (level: string) => ({ level }) } },
      destination,
    ),
    onReopen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    [Symbol.asyncDispose]() {
      process.off("SIGHUP", reopen)
      destination.flushSync()
      destination.end()
      return Promise.resolve()
    },
  }
}
