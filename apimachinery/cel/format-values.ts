// Strings whose format gives them another type in expressions. What the format allows and what is read here is not quite the same.
// Source: k8s.io/kube-openapi/pkg/validation/strfmt, k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.

import { dictionary } from "../dictionary.ts"
import { goNanoseconds } from "../go/duration.ts"
import { readTime } from "../go/time-text.ts"
import { canonicalScalar, ScalarError } from "../schema/scalars.ts"
import { CelError, Duration, Timestamp, type Value } from "./values.ts"

export function formatValue(text: string, format: string): Value {
  switch (format) {
    case "duration":
      return durationValue(text)
    case "date":
      return timeValue(text, ["2006-01-02"], "date")
    case "date-time":
      return text === "" ? new Timestamp(0n, 0) : timeValue(text, timeLayouts, "date-time")
    case "byte":
      return bytesValue(text)
    default:
      return text
  }
}

/** With a zone or without. The fault is that of the last one. */
const timeLayouts = ["2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"]

function timeValue(text: string, layouts: readonly string[], format: string): Value {
  let fault = ""
  for (const layout of layouts) {
    const read = readTime(text, layout)
    if (!("fault" in read)) return timestampOf(read)
    fault = read.fault
  }
  return new CelError(`Invalid ${format} formatted string ${text}: ${fault}`)
}

function timestampOf({ local, fraction, offset }: { local: string; fraction: string; offset: number }): Value {
  const milliseconds = Date.parse(local.includes("T") ? `${local}Z` : `${local}T00:00:00Z`) - offset * 60_000
  const nanoseconds = BigInt(fraction.slice(0, 9).padEnd(9, "0"))
  return new Timestamp(BigInt(milliseconds) * 1_000_000n + nanoseconds, offset)
}

/** In the alphabet of URLs, whereas the format is checked with the usual one. */
function bytesValue(text: string): Value {
  const usual = text.replaceAll(/[-_+/]/g, (character) => ({ "-": "+", _: "/" })[character] ?? "*")
  try {
    return Buffer.from(canonicalScalar("byte", usual), "base64")
  } catch (error) {
    if (!(error instanceof ScalarError)) throw error
    return new CelError(`Invalid byte formatted string ${text}: ${error.message}`)
  }
}

const second = 1_000_000_000n
const day = 86_400n * second
/** Words in lower case. Of the last one also what continues it is accepted: "secs". */
const unitWords: readonly (readonly [bigint, ...string[]])[] = [
  [1n, "ns", "nano"],
  [1000n, "us", "µs", "micro"],
  [1_000_000n, "ms", "milli"],
  [second, "s", "sec"],
  [60n * second, "m", "min"],
  [3600n * second, "h", "hr", "hour"],
  [day, "d", "day"],
  [7n * day, "w", "wk", "week"],
]
const knownUnits: Readonly<Record<string, bigint>> = dictionary(
  Object.fromEntries(unitWords.flatMap(([size, ...words]) => words.map((word) => [word, size]))),
)
const amounts = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g

/** "3 days and 2 h": all amounts of known units, whatever is between them. */
function durationValue(text: string): Value {
  const plain = goNanoseconds(text)
  if (plain !== undefined) return new Duration(plain)
  let sum: bigint | undefined
  for (const [, digits = "", word = ""] of text.matchAll(amounts)) {
    const significant = digits.replace(/^0+(?=\d)/, "")
    if (significant.length > 19 || BigInt(significant) >= 2n ** 63n) {
      return new CelError(
        `Invalid duration ${text}: strconv.Atoi: parsing ${JSON.stringify(digits)}: value out of range`,
      )
    }
    const size = unitSize(word.toLowerCase())
    if (size !== undefined) sum = BigInt.asIntN(64, (sum ?? 0n) + BigInt(significant) * size)
  }
  return sum === undefined
    ? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
    : new Duration(sum)
}

function unitSize(word: string): bigint | undefined {
  return knownUnits[word] ?? unitWords.find(([, ...words]) => word.startsWith(words.at(-1) ?? word))?.[0]
}
