// Strings with a canonical form: times, durations, quantities, base64. Each is checked and printed like Go's types do.

import { errorMessage } from "../error-message.ts"
import { parseQuantity, printQuantity, roundToMilli } from "../quantity.ts"

/** Upstream's message about a string with an invalid format; it does not contain the field. */
export class ScalarError extends Error {}

export function canonicalScalar(format: string, text: string): string {
  switch (format) {
    case "time":
      return canonicalTime(text, timeLayout)
    case "microTime":
      return canonicalTime(text, microTimeLayout)
    case "byte":
      return canonicalBase64(text)
    case "quantity":
      return canonicalQuantity(text, false)
    default:
      return text
  }
}

const timeLayout = "2006-01-02T15:04:05Z07:00"
const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00"

/** The parts of both time layouts: the pattern and range of each. */
const timeParts: readonly { layout: string; pattern: RegExp; below?: number; name?: string }[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d\d/, below: 13, name: "month" },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d\d/, below: 32, name: "day" },
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d\d?/, below: 24, name: "hour" },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d\d/, below: 60, name: "minute" },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d\d/, below: 60, name: "second" },
]

const secondsPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
// A year of four centuries later, which has the same days: Date takes the first hundred years for those after 1900.
const maxDaysOf = (year: number, month: number): number => new Date(Date.UTC(year + 400, month, 0)).getUTCDate()

/** Quotes like Go's package time: only bytes are escaped. */
function timeQuote(text: string): string {
  const quoted = text.replaceAll(/["\\]|[^\x20-\x7f]/gu, (character) =>
    character === '"' || character === "\\"
      ? `\\${character}`
      : [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  )
  return `"${quoted}"`
}

function canonicalTime(text: string, layout: string): string {
  const micro = layout === microTimeLayout
  if (!micro && secondsPattern.test(text) && !Number.isNaN(Date.parse(text)) && isRealDay(text)) return text
  const fail = (detail: string): never => {
    throw new ScalarError(`parsing time ${timeQuote(text)}${detail}`)
  }
  let rest = text
  const take = (part: string, pattern: RegExp): string => {
    const match = pattern.exec(rest)
    if (match === null) {
      return fail(` as ${JSON.stringify(layout)}: cannot parse ${timeQuote(rest)} as ${JSON.stringify(part)}`)
    }
    rest = rest.slice(match[0].length)
    return match[0]
  }
  let local = ""
  for (const part of timeParts) {
    const found = take(part.layout, part.pattern)
    local += part.name === "hour" ? found.padStart(2, "0") : found
    if (
      part.below !== undefined &&
      (Number(found) >= part.below || (part.below < 50 && found === "00" && part.below !== 24))
    ) {
      fail(`: ${part.name} out of range`)
    }
  }
  const fraction = micro ? take(".000000", /^[.,]\d{6}/) : (/^[.,]\d+/.exec(rest)?.[0] ?? "")
  if (!micro) rest = rest.slice(fraction.length)
  const zone = take("Z07:00", /^(?:Z|[+-]\d\d:\d\d)/)
  const [hours = 0, minutes = 0] = zone === "Z" ? [] : zone.slice(1).split(":").map(Number)
  // Upstream lets the offset be a whole day, and its minutes a whole hour.
  if (hours > 24) fail(": time zone offset hour out of range")
  if (minutes > 60) fail(": time zone offset minute out of range")
  if (rest !== "") fail(`: extra text: ${JSON.stringify(rest)}`)
  if (!isRealDay(text)) fail(": day out of range")
  const offset = (hours * 60 + minutes) * 60_000 * (zone.startsWith("-") ? -1 : 1)
  const seconds = printSeconds(Date.parse(`${local}Z`) - offset)
  return micro ? `${seconds}.${fraction.slice(1)}Z` : `${seconds}Z`
}

/** Years before the first one and after 9999, which an offset can lead to, have no sign or as many digits as they need. */
function printSeconds(at: number): string {
  const text = new Date(at).toISOString().replace(/\.\d{3}Z$/, "")
  return text.replace(
    /^[+-]\d{6}/,
    (year) => `${year.startsWith("-") ? "-" : ""}${String(Math.abs(Number(year))).padStart(4, "0")}`,
  )
}

/** Milliseconds since the epoch of a canonical time, whatever its year is; NaN if it is not one. */
export function millisecondsOf(time: string): number {
  const [, sign = "", year = "", rest = ""] = /^(-?)(\d{4,})(-.*)$/.exec(time) ?? []
  const isUsual = sign === "" && year.length <= 4
  return Date.parse(isUsual ? time : `${sign || "+"}${year.padStart(6, "0")}${rest}`)
}

function isRealDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number)
  return day !== undefined && day >= 1 && day <= maxDaysOf(year ?? 0, month ?? 0)
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

function canonicalBase64(text: string): string {
  const plain = text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, "") : text
  if (plain.length % 4 === 0 && base64Pattern.test(plain)) {
    if (!plain.endsWith("=")) return plain
    // Bits left unused by the padding may be set; they are dropped from the bytes.
    const last = plain.slice(-4)
    const clean = Buffer.from(last, "base64").toString("base64")
    return clean === last ? plain : plain.slice(0, -4) + clean
  }
  throw new ScalarError(`illegal base64 data at input byte ${placeOfFault(text)}`)
}

/** The position at which Go's decoder fails. Source: decodeQuantum in encoding/base64. */
function placeOfFault(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/\r\n]/)
  const digits = (at < 0 ? text : text.slice(0, at)).replace(/[\r\n]/g, "").length % 4
  if (at < 0) return text.length - digits
  if (text[at] !== "=" || digits < 2) return at
  let end = pastLineEnds(text, at + 1)
  if (digits === 2) {
    if (text[end] !== "=") return end === text.length ? end : end - 1
    end = pastLineEnds(text, end + 1)
  }
  return end
}

function pastLineEnds(text: string, from: number): number {
  let at = from
  while (text[at] === "\n" || text[at] === "\r") at++
  return at
}

/** Already canonical: up to three digits are below 1000 and 1024. */
const plainQuantity = /^(?:0|[1-9]\d{0,2}(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?)$/

/** `amount`: an item of a list of resources, which upstream rounds to thousandths. */
export function canonicalQuantity(text: string, amount: boolean): string {
  if (plainQuantity.test(text)) return text
  try {
    const quantity = parseQuantity(text.trim())
    return printQuantity(amount ? roundToMilli(quantity) : quantity)
  } catch (error) {
    throw new ScalarError(errorMessage(error), { cause: error })
  }
}
