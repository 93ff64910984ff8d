// Which of a CronJob's times has come, and when the next one will. Pure.
// Source: k8s.io/kubernetes/pkg/controller/cronjob/utils.go.

import type { Schedule } from "./schedule.ts"

/** More missed times than this are worth a warning. */
const manyMissed = 100
/** Wakes a moment after the minute, so that the time has surely come. */
const slackMs = 100

/** The schedule has no two times: it never comes (the 31st of February). */
class EmptySchedule extends Error {}

export interface Missed {
  /** The last time that has come since `earliest`; undefined: none has. */
  latest: number | undefined
  isMany: boolean
}

export const noneMissed: Missed = { latest: undefined, isMany: false }

/** Skips over times that were missed in between by a rough count, so that years of minutes cost as much as one. */
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
  return { latest: schedule.last(first + (count - 2) * period, now), isMany: count > manyMissed }
}

/** From now until the time after `since`'s last one. */
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
