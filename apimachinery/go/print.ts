// Prints values like Go: with %v in messages, and as JSON in cells. Source: strconv.FormatFloat, encoding/json.

import type { Json } from "../object.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { isObject, sortedEntries } from "../schema/json-object.ts"

/** Prints maps and lists like %v. */
export function printGo(value: Json): string {
  if (typeof value === "number" || typeof value === "bigint") return printGoNumber(value)
  if (Array.isArray(value)) return `[${value.map(printGo).join(" ")}]`
  if (!isObject(value)) return value === null ? "<nil>" : String(value)
  return `map[${sortedEntries(value)
    .map(([key, item]) => `${key}:${printGo(item)}`)
    .join(" ")}]`
}

/** The type of a decoded JSON value in Go, as %T prints it. */
export function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return "[]interface {}"
  if (isObject(value)) return "map[string]interface {}"
  if (value === null) return "<nil>"
  if (typeof value === "number" || typeof value === "bigint") return isInteger(value) ? "int64" : "float64"
  return typeof value === "boolean" ? "bool" : "string"
}

/** Outside this range, %v prints a float64 with an exponent. */
const plainExponents = { least: -4, below: 6 }

export function printGoNumber(value: number | bigint): string {
  return typeof value === "bigint" || Number.isSafeInteger(value) ? String(value) : printGoFloat(value)
}

/** Whole numbers as well. */
export function printGoFloat(value: number): string {
  if (Object.is(value, -0)) return "-0"
  const [digits = "", exponent = ""] = value.toExponential().split("e")
  const size = Number(exponent)
  if (size >= plainExponents.least && size < plainExponents.below) return String(value)
  return `${digits}e${size < 0 ? "-" : "+"}${String(Math.abs(size)).padStart(2, "0")}`
}

/** A whole number that Go keeps as a double, for the value of an error. */
export const shownDouble = (value: number): unknown => JSON.rawJSON(printGoFloat(value))

/** Like %.2f, with at most 100 digits. */
export function goFixed(value: number, digits: number): string {
  const scaled = Math.abs(value) * 10 ** digits
  // Go rounds halves to even, JavaScript rounds them up.
  const isMiddle = digits < 15 && scaled < 2 ** 50 && scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0
  return isMiddle ? ((Math.sign(value) * Math.floor(scaled)) / 10 ** digits).toFixed(digits) : value.toFixed(digits)
}

/** With sorted keys and HTML escaped. */
export function goJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`
  if (isObject(value)) {
    return `{${sortedEntries(value)
      .map(([name, inner]) => `${goJson(name)}:${goJson(inner)}`)
      .join(",")}}`
  }
  if (typeof value === "bigint") return String(value)
  const text = JSON.stringify(value)
  return typeof value === "string" ? fitForHtml(text) : text
}

/** JSON.stringify with the escapes of Go's encoder. */
export function printJson(value: unknown, indent?: number): string {
  return fitForHtml(JSON.stringify(value, undefined, indent))
}

const special = /[<>&\u2028\u2029]/g

/** JSON with the escapes of Go's encoder, which make it safe in HTML and JavaScript. */
export function fitForHtml(json: string): string {
  return json.replace(special, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
