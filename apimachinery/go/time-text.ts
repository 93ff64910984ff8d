// Times as texts of Go's layouts, with Go's messages about other texts. Source: Parse of Go's package time.

import { timeQuote } from "./quote.ts"

/** `local` has no fraction; `offset`: minutes to the east; `fraction`: its digits. */
type TimeText = { local: string; fraction: string; offset: number } | { fault: string }

interface Part {
  layout: string
  pattern: RegExp
  below?: number
  name?: string
}

const dateParts: readonly Part[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d\d/, below: 13, name: "month" },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d\d/, below: 32, name: "day" },
]
const clockParts: readonly Part[] = [
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d\d?/, below: 24, name: "hour" },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d\d/, below: 60, name: "minute" },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d\d/, below: 60, name: "second" },
]

/** Layouts: "2006-01-02", and one that continues "T15:04:05", ".000000" and "Z07:00". */
export function readTime(text: string, layout: string): TimeText {
  try {
    return new Reader(text, layout).read()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { fault: error.message }
  }
}

class Fault extends Error {}

class Reader {
  readonly #text: string
  readonly #layout: string
  #rest: string

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  read(): TimeText {
    const hasClock = this.#layout.includes("T15")
    let local = ""
    for (const part of hasClock ? [...dateParts, ...clockParts] : dateParts) local += this.#part(part)
    const fraction = hasClock ? this.#fraction() : ""
    const offset = this.#layout.endsWith("Z07:00") ? this.#offset() : 0
    if (this.#rest !== "") this.#fail(`: extra text: ${timeQuote(this.#rest)}`)
    if (!isRealDay(this.#text)) this.#fail(": day out of range")
    return { local, fraction, offset }
  }

  #part({ layout, pattern, below, name }: Part): string {
    const found = this.#take(layout, pattern)
    const isZeroDay = (name === "month" || name === "day") && found === "00"
    if (below !== undefined && (Number(found) >= below || isZeroDay)) this.#fail(`: ${name} out of range`)
    return name === "hour" ? found.padStart(2, "0") : found
  }

  /** Any number of digits is read where the layout has none. */
  #fraction(): string {
    if (this.#layout.includes(".000000")) return this.#take(".000000", /^[.,]\d{6}/).slice(1)
    const found = /^[.,]\d+/.exec(this.#rest)?.[0] ?? ""
    this.#rest = this.#rest.slice(found.length)
    return found.slice(1)
  }

  /** It may be a whole day, and its minutes a whole hour. */
  #offset(): number {
    const zone = this.#take("Z07:00", /^(?:Z|[+-]\d\d:\d\d)/)
    const [hours = 0, minutes = 0] = zone === "Z" ? [] : zone.slice(1).split(":").map(Number)
    if (hours > 24) this.#fail(": time zone offset hour out of range")
    if (minutes > 60) this.#fail(": time zone offset minute out of range")
    return (hours * 60 + minutes) * (zone.startsWith("-") ? -1 : 1)
  }

  #take(part: string, pattern: RegExp): string {
    const match = pattern.exec(this.#rest)
    if (match === null) {
      this.#fail(
        ` as ${JSON.stringify(this.#layout)}: cannot parse ${timeQuote(this.#rest)} as ${JSON.stringify(part)}`,
      )
    }
    this.#rest = this.#rest.slice(match[0].length)
    return match[0]
  }

  #fail(detail: string): never {
    throw new Fault(`parsing time ${timeQuote(this.#text)}${detail}`)
  }
}

// A year of four centuries later, which has the same days: Date takes the first hundred years for those after 1900.
const maxDaysOf = (year: number, month: number): number => new Date(Date.UTC(year + 400, month, 0)).getUTCDate()

/** The text must begin with a year, a month and a day, of so many digits. */
export function isRealDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number)
  return day !== undefined && day >= 1 && day <= maxDaysOf(year ?? 0, month ?? 0)
}
