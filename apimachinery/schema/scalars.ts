// Strings with a canonical form: times, durations, quantities, base64. Each is checked and printed like Go's types do.

import { errorMessage } from "../error-message.ts"
import { isRealDay, readTime } from "../go/time-text.ts"
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

const secondsPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function canonicalTime(text: string, layout: string): string {
  const micro = layout === microTimeLayout
  if (!micro && secondsPattern.test(text) && !Number.isNaN(Date.parse(text)) && isRealDay(text)) return text
  const read = readTime(text, layout)
  if ("fault" in read) throw new ScalarError(read.fault)
  const seconds = printSeconds(Date.parse(`${read.local}Z`) - read.offset * 60_000)
  return micro ? `${seconds}.${read.fraction}Z` : `${seconds}Z`
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
