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
  { layout: "15", pattern: /^\d\d/, below: 24, name: "hour" },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d\d/, below: 60, name: "minute" },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d\d/, below: 60, name: "second" },
]

const secondsPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const maxDaysOf = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

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
  for (const part of timeParts) {
    const found = take(part.layout, part.pattern)
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
  if (rest !== "") fail(`: extra text: ${JSON.stringify(rest)}`)
  if (!isRealDay(text)) fail(": day out of range")
  const at = Date.parse(`${text.slice(0, 19)}${zone}`)
  const seconds = new Date(at).toISOString().slice(0, 19)
  return micro ? `${seconds}.${fraction.slice(1)}Z` : `${seconds}Z`
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
