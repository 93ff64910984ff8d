// Detects hung processes: each is queried at every beat, and its state is checked while the response is pending. A stopped process
// cannot respond; a busy one responds late and is given time. The caller must kill a hung process: another process may take over
// its tenants only when it has exited, so that there are never two writers.

import { readFile } from "node:fs/promises"
import { pause, systemClock, type Clock } from "../../client/clock.ts"

interface HeartbeatParts {
  /** Resolves when the process has responded; rejects when it has ended. */
  beat(): Promise<void>
  /** Default: the state of the process according to the system. */
  look(): Promise<ProcessState>
  /** Called at most once. */
  hung(why: string): void
  /** Aborted when the process ends. */
  signal: AbortSignal
  clock?: Clock
}

/** unknown: the system does not provide it. */
export type ProcessState = "stopped" | "alive" | "unknown"

/** From a response to the next query, and between checks of the state. */
const beatMs = 250
/**
 * Number of consecutive checks without a response that find the process stopped before it counts as hung. More than a second in
 * total, so that stopping and continuing a whole process group has no effect.
 */
const maxStopped = 4
/** Number of beats without a response before the process counts as hung, regardless of its state. */
const maxSilent = 120

/** Resolves when the signal is aborted or the process hangs. */
export async function watchBeats(parts: HeartbeatParts): Promise<void> {
  const { signal, clock = systemClock } = parts
  while (!signal.aborted) {
    let isAnswered = false
    parts.beat().then(
      () => (isAnswered = true),
      () => (isAnswered = true), // the process has ended, and the signal is aborted as well
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

/** On Linux: the third field of /proc/<pid>/stat, after the name in parentheses. */
export async function stateOf(pid: number): Promise<ProcessState> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8")
    return /\) T /.test(text.slice(text.lastIndexOf(")"))) ? "stopped" : "alive"
  } catch {
    return "unknown" // no such system, or the process has just ended
  }
}
