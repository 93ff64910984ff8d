// The audit log: one JSON line for each request of a client, in a file or on standard output.

import { pino, stdTimeFunctions } from "pino"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Log } from "../../client/log.ts"
import { UserError } from "../command.ts"
import { LineFile } from "./line-file.ts"

export const auditLogHelp =
  "append one JSON line per request to this file, or with - to standard output: who did what, with which result; after SIGHUP the file is opened again (default: no audit log)"

export interface AuditLog extends AsyncDisposable {
  log: Log
  /** Calls the listener after SIGHUP, so that other processes open the file again as well. Returns a function that stops it. */
  onReopen(listener: () => void): () => void
}

/**
 * Throws a UserError if the file cannot be opened. Requests are served even if lines cannot be written later; `log` then says so.
 * Several processes may append to the same file.
 */
export function openAuditLog(file: string, log: Log): AuditLog {
  const failed = (error: unknown): void =>
    log.error({ error: errorMessage(error) }, "the audit log cannot be written to: requests are missing from it")
  const lines = file === "-" ? new LineFile(1, failed) : openFile(file, failed)
  const listeners = new Set<() => void>()
  const reopen = (): void => {
    if (file !== "-") lines.reopen(file)
    for (const listener of listeners) listener()
  }
  process.on("SIGHUP", reopen)
  return {
    log: pino(
      { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (level: string) => ({ level }) } },
      lines,
    ),
    onReopen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    [Symbol.asyncDispose]() {
      process.off("SIGHUP", reopen)
      if (file !== "-") lines.close()
      return Promise.resolve()
    },
  }
}

function openFile(file: string, failed: (error: unknown) => void): LineFile {
  try {
    return LineFile.open(file, failed)
  } catch (error) {
    throw new UserError(`the audit log cannot be opened: ${errorMessage(error)}`, { cause: error })
  }
}
