// Resolves scalars by YAML 1.1 as Kubernetes reads it: yes and on are booleans, but times are strings. Source: go.yaml.in/yaml/v2
// (resolve.go, decode.go).

import { isUtf8 } from "node:buffer"
import { tagPrefix, type YamlNode } from "./compose.ts"
import { YamlFault } from "./text.ts"

/** A bigint is an integer in Go, a number a float64. */
export type Scalar = string | boolean | null | bigint | number

interface Resolved {
  tag: string
  value: Scalar
}

const words = new Map<string, Resolved>(
  [
    { tag: "bool", value: true, of: ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"] },
    { tag: "bool", value: false, of: ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"] },
    { tag: "null", value: null, of: ["", "~", "null", "Null", "NULL"] },
    { tag: "float", value: Number.NaN, of: [".nan", ".NaN", ".NAN"] },
    { tag: "float", value: Infinity, of: [".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"] },
    { tag: "float", value: -Infinity, of: ["-.inf", "-.Inf", "-.INF"] },
  ].flatMap(({ of, ...resolved }) => of.map((word): [string, Resolved] => [word, resolved])),
)

/** Tags with a special meaning. */
const known = ["str", "bool", "int", "float", "null", "timestamp"].map((name) => tagPrefix + name)
const binary = `${tagPrefix}binary`

export function resolveScalar({ value, tag, isPlain }: YamlNode & { is: "scalar" }): Scalar {
  if (tag === "" && !isPlain) return value
  if (tag === binary) return bytesOf(value)
  if (tag !== "" && !known.includes(tag)) return value
  const wanted = tag.slice(tagPrefix.length)
  if (wanted === "str") return value
  const resolved = resolve(value, wanted)
  if (wanted === "" || wanted === resolved.tag) return resolved.value
  if (wanted === "float" && resolved.tag === "int" && resolved.value !== null && fitsInt64(resolved.value))
    return Number(resolved.value)
  throw new YamlFault(`yaml: cannot decode !!${resolved.tag} \`${value}\` as a !!${wanted}`)
}

/** Whether it is written without quotes, as what nobody takes for anything but a text. Source: encode.go (stringv). */
export function isPlainText(text: string): boolean {
  return typeof resolve(text, "").value === "string" && !isTimestamp(text) && !base60.test(text)
}

const base60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/

function resolve(text: string, wanted: string): Resolved {
  const word = words.get(text)
  if (word !== undefined) return word
  const isTime = wanted === "timestamp" && isTimestamp(text)
  if (isTime) return { tag: "timestamp", value: text }
  const number = text.startsWith(".") ? floatOf(text, dotted) : /^[-+\d]/.test(text) ? numberOf(text) : undefined
  if (number === undefined) return { tag: "str", value: text }
  return { tag: typeof number === "bigint" ? "int" : "float", value: number }
}

const dotted = /^\.\d+(?:[eE][-+]?\d+)?$/
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/

function numberOf(text: string): bigint | number | undefined {
  const plain = text.replaceAll("_", "")
  return integerOf(plain) ?? floatOf(plain, float)
}

/** Undefined if it is too large. */
function floatOf(text: string, form: RegExp): number | undefined {
  if (!form.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** The length of 64 bits in base 2, with sign and prefix. */
const longest = 70

/** A signed or unsigned 64-bit integer, with the prefixes of Go's literals. */
function integerOf(text: string): bigint | undefined {
  const [, sign = "", given = ""] = /^([-+]?)(\d\w*|0b[-+]?[01]+)$/.exec(text) ?? []
  if (given.length > longest) return undefined
  const digits = given.toLowerCase()
  const literal = /^0[0-7]+$/.test(digits) ? `0o${digits}` : digits
  if (/^0b[-+]/.test(literal)) return sign === "" ? signedBinary(literal) : undefined
  if (!/^(?:0|[1-9]\d*|0x[\da-f]+|0o[0-7]+|0b[01]+)$/.test(literal)) return undefined
  const value = sign === "-" ? -BigInt(literal) : BigInt(literal)
  return fitsInt64(value) || (sign === "" && BigInt.asUintN(64, value) === value) ? value : undefined
}

/** A sign after the prefix. */
function signedBinary(literal: string): bigint | undefined {
  const value = BigInt(`0b${literal.slice(3)}`)
  const signed = literal[2] === "-" ? -value : value
  return fitsInt64(signed) ? signed : undefined
}

const fitsInt64 = (value: Scalar): boolean => typeof value === "bigint" && BigInt.asIntN(64, value) === value

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d))| +(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/

function isTimestamp(text: string): boolean {
  const found = timestamp.exec(text)
  if (found === null) return false
  const [year = 0, month = 0, day = 0, ...clock] = found.slice(1).map((part) => Number(part ?? 0))
  const [hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0, hour2 = 0, minute2 = 0, second2 = 0] = clock
  const isClock =
    hour + hour2 < 24 && minute + minute2 < 60 && second + second2 < 60 && zoneHour <= 24 && zoneMinute < 60
  const last = new Date(Date.UTC(2000, month, 0)).getUTCDate()
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return isClock && month >= 1 && month <= 12 && day >= 1 && day <= (month === 2 && !isLeap ? 28 : last)
}

const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

function bytesOf(text: string): string {
  const digits = text.replaceAll(/[\r\n]/g, "")
  if (!base64.test(digits)) throw new YamlFault("yaml: !!binary value contains invalid base64 data")
  return textOf(Buffer.from(digits, "base64"))
}

const replacement = "\ufffd"

/** As in Go: each byte of an invalid character is replaced separately. */
function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  let text = ""
  for (let at = 0; at < bytes.length;) {
    const width = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)))
    text += width === undefined ? replacement : bytes.toString("utf8", at, at + width)
    at += width ?? 1
  }
  return text
}
