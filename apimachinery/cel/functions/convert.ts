// int(), string(), timestamp() and the like. Source: cel-go/common/types, and Go's strconv and time for the accepted strings.

import { parseGoBool } from "../../go/booleans.ts"
import { dictionary } from "../../dictionary.ts"
import { int, timestamp, uint } from "./arithmetic.ts"
import { CIDR, IP } from "./network.ts"
import { parseDuration, parseTimestamp, printSeconds, printTimestamp } from "./time.ts"
import { CelError, Duration, Timestamp, TypeValue, typeNameOf, UInt, type Value } from "../values.ts"

type Conversion = (value: Value) => Value | undefined

const nanosPerSecond = 1_000_000_000n
/** The range of doubles that can be converted to an int: Go compares with the neighbours of 2⁶³. */
const intBound = 2 ** 63
const uintBound = 2 ** 64

export const conversions: Readonly<Record<string, Conversion>> = dictionary({
  bool(value) {
    if (typeof value === "boolean") return value
    if (typeof value !== "string") return undefined
    return parseGoBool(value) ?? failed(value, "bool")
  },
  bytes(value) {
    if (value instanceof Uint8Array) return value
    return typeof value === "string" ? Buffer.from(value) : undefined
  },
  double(value) {
    if (typeof value === "number") return value
    if (typeof value === "bigint") return Number(value)
    if (value instanceof UInt) return Number(value.value)
    return typeof value === "string" ? (parseDouble(value) ?? failed(value, "double")) : undefined
  },
  duration(value) {
    if (value instanceof Duration) return value
    if (typeof value === "bigint") return failed(value, "google.protobuf.Duration")
    if (typeof value !== "string") return undefined
    return parseDuration(value) ?? failed(value, "google.protobuf.Duration")
  },
  dyn: (value) => value,
  int(value) {
    if (typeof value === "bigint") return value
    if (typeof value === "number") {
      return Math.abs(value) < intBound ? BigInt(Math.trunc(value)) : new CelError("integer overflow")
    }
    if (value instanceof UInt) return int(value.value)
    if (value instanceof Duration) return value.nanos
    if (value instanceof Timestamp) return floorDivide(value.nanos, nanosPerSecond)
    if (typeof value !== "string") return undefined
    const parsed = /^[+-]?\d{1,40}$/.test(value) ? int(BigInt(value.replace(/^\+/, ""))) : undefined
    return typeof parsed === "bigint" ? parsed : failed(value, "int")
  },
  string(value) {
    switch (typeof value) {
      case "string":
        return value
      case "boolean":
      case "bigint":
        return String(value)
      case "number":
        return printDouble(value)
    }
    if (value instanceof UInt) return String(value.value)
    if (value instanceof Uint8Array) return decodeUtf8(value)
    if (value instanceof Timestamp) return printTimestamp(value)
    if (value instanceof Duration) return `${printSeconds(value.nanos)}s`
    return value instanceof IP || value instanceof CIDR ? value.toString() : undefined
  },
  timestamp(value) {
    if (value instanceof Timestamp) return value
    if (typeof value === "bigint") return timestamp(value * nanosPerSecond)
    if (typeof value !== "string") return undefined
    return parseTimestamp(value) ?? failed(value, "google.protobuf.Timestamp")
  },
  type: (value) => new TypeValue(typeNameOf(value)),
  uint(value) {
    if (value instanceof UInt) return value
    if (typeof value === "bigint") return uint(value)
    if (typeof value === "number") {
      const fits = value >= 0 && value < uintBound
      return fits ? new UInt(BigInt(Math.trunc(value))) : new CelError("unsigned integer overflow")
    }
    if (typeof value !== "string") return undefined
    const parsed = /^\d{1,40}$/.test(value) ? uint(BigInt(value)) : undefined
    return parsed instanceof UInt ? parsed : failed(value, "uint")
  },
})

function failed(value: Value, type: string): CelError {
  return new CelError(`type conversion error from '${typeNameOf(value)}' to '${type}'`)
}

function decodeUtf8(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return new CelError("invalid UTF-8 in bytes, cannot convert to string")
    throw error
  }
}

/** Digits with underscores between them; then a fraction and an exponent. */
const decimal = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i
const hexadecimal = /^([+-]?)0x_?([\da-f]+(?:_[\da-f]+)*)?(?:\.([\da-f]+(?:_[\da-f]+)*)?)?p([+-]?\d+(?:_\d+)*)$/i

function parseDouble(text: string): number | undefined {
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return NaN
  const value = decimal.test(text) ? Number(text.replaceAll("_", "")) : parseHexadecimal(text)
  return Number.isFinite(value) ? value : undefined
}

function parseHexadecimal(text: string): number {
  const parts = (hexadecimal.exec(text) ?? []).map((part) => part?.replaceAll("_", ""))
  const [, sign, whole = "", fraction = "", exponent = ""] = parts
  const digits = whole + fraction
  if (digits === "") return NaN
  const value = Number(`0x${digits}`) * 2 ** (Number(exponent) - 4 * fraction.length)
  return sign === "-" ? -value : value
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient
}

/** Go's %g with the shortest representation. */
export function printDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN"
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf"
  if (value === 0) return Object.is(value, -0) ? "-0" : "0"
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e")
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 6) {
    const size = String(Math.abs(exponent)).padStart(2, "0")
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`
  }
  return printFixed(value)
}

/** All digits, without an exponent. */
export function printFixed(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (match === null) return text
  const [, sign = "", first = "", rest = "", power = "0"] = match
  const digits = first + rest
  const point = 1 + Number(power)
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, "0")}`
}
