// Whether a process still does anything: it is asked at each beat, and when it owes the answer it is looked at. One that has
// been stopped has no turn coming; one that has much to do answers late, and is given its time. Who hangs is to be ended by
// the caller: only when the process is gone may another have what it had, so that no two ever write.

import { readFile } from "node:fs/promises"
import { pause, systemClock, type Clock } from "../../client/clock.ts"

export interface HeartbeatParts {
  /** Resolves when the process has answered; rejects when it has ended. */
  beat(): Promise<void>
  /** Default: what the system says of the process. */
  look(): Promise<ProcessState>
  /** Once. */
  hung(why: string): void
  /** Ends with the process. */
  signal: AbortSignal
  clock?: Clock
}

/** unknown: the system does not tell. */
export type ProcessState = "stopped" | "alive" | "unknown"

/** From an answer to the next question, and between looks. */
const beatMs = 250
/** Found stopped so many times in a row, without an answer: it hangs. More than a second, so that who stops all processes of a group and lets them go on loses nothing. */
const maxStopped = 4
/** Without an answer for so many beats, whatever it does: it hangs. */
const maxSilent = 120

/** Resolves when the signal has ended or the process hangs. */
export async function watchBeats(parts: HeartbeatParts): Promise<void> {
  const { signal, clock = systemClock } = parts
  while (!signal.aborted) {
    let isAnswered = false
    parts.beat().then(
      () => (isAnswered = true),
      () => (isAnswered = true), // it has ended: so does the signal
    )
    let stopped = 0
    for (let silent = 0; !isAnswered && !signal.aborted; silent++) {
      if (stopped >= maxStopped) return parts.hung("it has been stopped")
      if (silent >= maxSilent) return parts.hung(`it has not answered for ${(maxSilent * beatMs) / 1000} seconds`)
      await pause(clock, beatMs, signal)
      if (isAnswered || signal.aborted) break
      stopped = (await parts.look()) === "stopped" ? stopped + 1 : 0
    }
    await pause(clock, beatMs, signal)
  }
}

/** On Linux: the third field of /proc/<pid>/stat, behind the name in brackets. */
export async function stateOf(pid: number): Promise<ProcessState> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8")
    return /\) T /.test(text.slice(text.lastIndexOf(")"))) ? "stopped" : "alive"
  } catch {
    return "unknown" // no such system, or the process has just ended
  }
}
