// "%d of %s".format([1, x]). The error messages appear both when an expression is checked and when it runs, except that of surplus
// arguments, which are then left out. Source:
// cel-go/ext/formatting.go.

import { goFixed } from "../../go/print.ts"
import { printDouble, printFixed } from "./convert.ts"
import { printSeconds, printTimestamp } from "./time.ts"
import {
  CelError,
  Duration,
  itemsOf,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  UInt,
  type Value,
} from "../values.ts"
import { step } from "../work.ts"

class FormatFault extends Error {}

export function formatString(text: string, args: readonly Value[]): Value {
  try {
    return formatAll(text, args)
  } catch (error) {
    if (error instanceof FormatFault) return new CelError(error.message)
    throw error
  }
}

/** Of a clause: what stands after the %, until its letter. */
interface Clause {
  letter: string
  precision: number | undefined
  length: number
  /** Why it cannot be used with any argument. */
  fault?: string
}

const endless = "unexpected end of string"

/** Parses the clauses of a format string. `fault`: why it ends with them. */
export function clausesOf(text: string): { clauses: Clause[]; fault?: string } {
  const clauses: Clause[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "%") continue
    if (text[at + 1] === "%") {
      at++
      continue
    }
    const clause = clauseAfter(text, at)
    if (clause === undefined) return { clauses, fault: endless }
    clauses.push(clause)
    at += clause.length
  }
  return { clauses }
}

const unreadable = "could not parse formatting clause: "
const noPrecision = `${unreadable}error while parsing precision: `

/** `at`: of the %. Undefined at the end of the text. */
function clauseAfter(text: string, at: number): Clause | undefined {
  if (at + 1 >= text.length) return undefined
  const [whole = "", digits, letter = ""] = /^(?:\.(\d*))?(.?)/su.exec(text.slice(at + 1)) ?? []
  const clause = { letter, precision: digits === undefined ? undefined : Number(digits), length: whole.length }
  if (digits !== undefined && letter === "")
    return { ...clause, fault: `${noPrecision}could not find end of precision specifier` }
  if (digits === "") {
    const fault = `${noPrecision}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`
    return { ...clause, fault }
  }
  return "sdfexXbo".includes(letter)
    ? clause
    : { ...clause, fault: `${unreadable}unrecognized formatting clause "${letter}"` }
}

function formatAll(text: string, args: readonly Value[]): string {
  let result = ""
  let used = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "%") {
      result += text[at] ?? ""
      continue
    }
    if (text[at + 1] === "%") {
      result += "%"
      at++
      continue
    }
    const value = args[used]
    if (value === undefined) throw new FormatFault(indexFault(used))
    const clause = clauseAfter(text, at)
    if (clause === undefined) throw new FormatFault(endless)
    if (clause.fault !== undefined) throw new FormatFault(clause.fault)
    used++
    result += formatOne(clause.letter, clause.precision, value)
    at += clause.length
  }
  return result
}

export const indexFault = (index: number): string => `index ${index} out of range`
export const surplusFault = (expected: number, found: number): string =>
  `too many arguments supplied to string.format (expected ${expected}, got ${found})`

function formatOne(clause: string, precision: number | undefined, value: Value): string {
  switch (clause) {
    case "s":
      return printValue(value)
    case "d":
      return decimal(value)
    case "f":
      return fixed(value, precision ?? 6)
    case "e":
      return scientific(value, precision ?? 6)
    case "b":
      return binary(value)
    case "o":
      return String(integer(value, "octal").toString(8))
    default:
      return hexadecimal(value, clause === "X")
  }
}

function fault(what: string, on: string, value: Value): never {
  throw new FormatFault(
    `error during formatting: ${what} clause can only be used on ${on}, was given ${typeNameOf(value)}`,
  )
}

function formatted(on: string, as: string, value: Value): never {
  throw new FormatFault(`error during formatting: only ${on} can be formatted as ${as}, was given ${typeNameOf(value)}`)
}

function integer(value: Value, what: string): bigint {
  if (typeof value === "bigint") return value
  return value instanceof UInt ? value.value : fault(what, "integers", value)
}

function special(value: Value): string | undefined {
  const text = typeof value === "number" ? printDouble(value) : value
  if (text === "NaN") return "NaN"
  if (text === "Infinity" || text === "+Inf") return "∞"
  return text === "-Infinity" || text === "-Inf" ? "-∞" : undefined
}

function decimal(value: Value): string {
  return String(integer(value, "decimal"))
}

function numeric(value: Value, what: string): number {
  return typeof value === "number" ? value : fault(what, "doubles", value)
}

function fixed(value: Value, precision: number): string {
  const shown = special(value)
  if (shown !== undefined) return shown
  return goFixed(numeric(value, "fixed-point"), Math.min(precision, 100))
}

const maxWidth = 1_000_000

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

/** Upstream takes the precision for the width; there are always six digits. */
function scientific(value: Value, width: number): string {
  return (special(value) ?? exponential(numeric(value, "scientific"))).padStart(Math.min(width, maxWidth))
}

function exponential(value: number): string {
  const [mantissa = "", exponent = "+0"] = value.toExponential(6).split("e")
  const raised = Array.from(exponent.slice(1).padStart(2, "0"), (digit) => superscripts[Number(digit)] ?? "").join("")
  return `${mantissa}×10${exponent.startsWith("-") ? "⁻" : ""}${raised}`
}

function binary(value: Value): string {
  if (typeof value === "boolean") return value ? "1" : "0"
  if (typeof value !== "bigint" && !(value instanceof UInt)) formatted("integers and bools", "binary", value)
  return integer(value, "binary").toString(2)
}

function hexadecimal(value: Value, upper: boolean): string {
  const text = ((): string => {
    if (typeof value === "string") return Buffer.from(value).toString("hex")
    if (value instanceof Uint8Array) return Buffer.from(value).toString("hex")
    if (typeof value !== "bigint" && !(value instanceof UInt))
      formatted("integers, byte buffers, and strings", "hex", value)
    return integer(value, "hex").toString(16)
  })()
  return upper ? text.toUpperCase() : text
}

/** %s. */
function printValue(value: Value): string {
  if (typeof value === "string") return special(value) ?? value
  if (typeof value === "number")
    return special(value) ?? (Number.isInteger(value) ? printFixed(value) : printDouble(value))
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof Duration) return `${printSeconds(value.nanos)}s`
  if (value instanceof Timestamp) return printTimestamp(value)
  return printInner(value)
}

/** Within lists and maps: formatted like a literal. */
function printInner(value: Value): string {
  step()
  if (value === null) return "null"
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "boolean" || typeof value === "bigint") return String(value)
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(6) : JSON.stringify(printDouble(value))
  if (value instanceof UInt) return String(value.value)
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`
  if (value instanceof Duration) return `duration("${printSeconds(value.nanos)}s")`
  if (value instanceof Timestamp) return `timestamp("${printTimestamp(value)}")`
  if (value instanceof TypeValue) return value.name
  if (value instanceof ListValue) return `[${[...itemsOf(value)].map(printInner).join(", ")}]`
  if (value instanceof MapValue) {
    const entries = value.keys().map((key): [string, string] => [printInner(key), printInner(value.get(key) as Value)])
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${key}:${item}`).join(", ")}}`
  }
  const on = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
  return fault("string", on, value)
}
