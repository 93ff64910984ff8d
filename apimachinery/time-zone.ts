// Local times in a time zone of the IANA database, which the engine includes.

import { isTimeZoneName } from "./time-zone-names.ts"

const parts = {
  era: "short",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const

export class TimeZone {
  readonly #format: Intl.DateTimeFormat

  /** Undefined if there is no such zone. */
  static named(name: string): TimeZone | undefined {
    // The engine accepts names in any case, and offsets.
    if (!isTimeZoneName(name)) return undefined
    try {
      return new TimeZone(new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", ...parts }))
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  private constructor(format: Intl.DateTimeFormat) {
    this.#format = format
  }

  /** The local time at a time in milliseconds, as if it were UTC. */
  local(at: number): Date {
    const shown = this.#format.formatToParts(at)
    const values = Object.fromEntries(shown.map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = values
    const local = new Date(0)
    // The year before the first one is 0.
    const isBefore = shown.some(({ type, value }) => type === "era" && value.startsWith("B"))
    local.setUTCFullYear(isBefore ? 1 - year : year, month - 1, day)
    local.setUTCHours(hour, minute, second, new Date(at).getUTCMilliseconds())
    return local
  }
}
