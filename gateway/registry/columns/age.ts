// Times in cells: how long ago something was, as text.

import { longestMs } from "../../../apimachinery/go/duration.ts"
import { millisecondsOf } from "../../../apimachinery/schema/scalars.ts"

/** A text that contains how long ago something was. It changes while the object does not. */
export class Age {
  readonly #since: number
  readonly #before: string
  readonly #after: string

  /** `since`: in ms; `before`, `after`: ASCII. */
  constructor(since: number, before = "", after = "") {
    this.#since = since
    this.#before = before
    this.#after = after
  }

  /** `now` in ms. */
  text(now: number): string {
    return `${this.#before}${humanDuration(now - this.#since)}${this.#after}`
  }
}

/** The time since then, with a text before and after it; "<unknown>" in its place if the time is not set. */
export function ageOf(time: string | null | undefined, before = "", after = ""): Age | string {
  const at = time === undefined || time === null || time === "" ? NaN : millisecondsOf(time)
  return Number.isNaN(at) ? `${before}<unknown>${after}` : new Age(at, before, after)
}

/** Source: k8s.io/apimachinery/pkg/util/duration HumanDuration: at most two units, finer for shorter durations. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(Math.min(milliseconds, longestMs) / 1000)
  // Allows for two seconds of clock skew; beyond that the time is invalid.
  if (seconds < -1) return "<invalid>"
  if (seconds < 0) return "0s"
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s")
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m")
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 24 * 8) return withRest(days, "d", hours % 24, "h")
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  if (hours < 24 * 365 * 8) return withRest(years, "y", days % 365, "d")
  return `${years}y`
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`
}
