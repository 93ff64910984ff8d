// Computes the last missed and the next time of a CronJob. Pure.
// Source: k8s.io/kubernetes/pkg/controller/cronjob/utils.go.

import type { Schedule } from "./schedule.ts"

/** More missed times than this cause a warning. */
const tooManyMissed = 100
/** Delay after the scheduled time, so that it has certainly passed when the key is processed. */
const slackMs = 100

/** The schedule has fewer than two times, because it never matches (31 February). */
class EmptySchedule extends Error {}

export interface Missed {
  /** The last time since `earliest` that has passed, or undefined. */
  latest: number | undefined
  isMany: boolean
}

export const noneMissed: Missed = { latest: undefined, isMany: false }

/** Skips the missed times with an estimate of their number, so that years of minutes cost as much as one. */
export function missedSince(schedule: Schedule, earliest: number, now: number): Missed {
  const first = schedule.next(earliest)
  const second = first === undefined ? undefined : schedule.next(first)
  if (first !== undefined && now < first) return noneMissed
  if (second === undefined || first === undefined || second - first < 1000) {
    throw new EmptySchedule("time difference between two schedules is less than 1 second")
  }
  if (now < second) return { latest: first, isMany: false }
  const period = second - first
  const count = Math.floor((now - first) / period) + 1
  return { latest: schedule.last(first + (count - 2) * period, now), isMany: count > tooManyMissed }
}

/** Delay from now until the first time after the last one since `since`. */
export function nextTimeMs(schedule: Schedule, since: number, now: number): number {
  let from = now
  try {
    const first = schedule.next(since)
    const { latest } = missedSince(schedule, since, now)
    if (latest !== undefined) from = latest
    else if (first !== undefined && now < first) from = since
  } catch (error) {
    if (!(error instanceof EmptySchedule)) throw error
  }
  return (schedule.next(from) ?? now) + slackMs - now
}
