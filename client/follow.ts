// What a process holds of certificates and the like stays valid for as long as it runs: files that somebody replaces (a Secret is
// mounted as them, a program renews them) are read again, and what was read from them is taken on without a restart.

import { errorMessage } from "../apimachinery/error-message.ts"
import { pause, systemClock, type Clock } from "./clock.ts"
import type { Log } from "./log.ts"

/** The kubelet takes about a minute to replace files; client-go reads certificates again after five. */
const checkMs = 60_000

interface Followed<T> {
  /** For the log. */
  what: string
  /** May fail, as while the files are being replaced and do not fit together. */
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

/** Renews whenever something else is read, until the signal ends. What cannot be used is tried again. Never fails. */
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
      log.info({}, `took on a renewed ${what}`)
    } catch (error) {
      log.warn({ error: errorMessage(error) }, `the ${what} cannot be renewed yet`)
    }
  }
}
