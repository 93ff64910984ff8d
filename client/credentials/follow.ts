// Keeps certificates and the like valid for the lifetime of a process: rereads files that are replaced (mounted Secrets, files
// renewed by a program) and applies their content without a restart.

import { pause, systemClock, type Clock } from "../clock.ts"
import { failureFields, type Log } from "../log.ts"

/** The kubelet takes about a minute to replace files; client-go rereads certificates after five minutes. */
const checkMs = 60_000

interface Followed<T> {
  /** Used in log messages. */
  what: string
  /** May fail, such as while the files are being replaced and are inconsistent. */
  read: () => Promise<T>
  current: T
  isSame: (a: T, b: T) => boolean
  renew: (now: T) => void
}

export interface Following {
  signal: AbortSignal
  log: Log
  clock?: Clock
}

/** Calls `renew` whenever the result of `read` changes, until the signal ends. Errors are logged and retried. Never fails. */
export async function follow<T>(
  { what, read, current, isSame, renew }: Followed<T>,
  { signal, log, clock = systemClock }: Following,
): Promise<void> {
  let known = current
  for (;;) {
    await pause(clock, checkMs, signal)
    if (signal.aborted) return
    try {
      const now = await read()
      if (signal.aborted) return
      if (isSame(now, known)) continue
      renew(now)
      known = now
      log.info({}, `loaded the renewed ${what}`)
    } catch (error) {
      log.warn(failureFields(error), `the ${what} cannot be reloaded; retrying`)
    }
  }
}
