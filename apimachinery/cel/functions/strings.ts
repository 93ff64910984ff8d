// Functions of strings. Positions are code points. Source: cel-go/ext/strings.go (version 2), k8s.io/apiserver/pkg/cel/library.

import { dictionary } from "../../dictionary.ts"
import { shortEscapes } from "../../go/quote.ts"
import { printValue } from "../attributes.ts"
import { formatString } from "./format-string.ts"
import { ArrayList, CelError, codePoints, ListValue, itemsOf, type Value, type Implementation } from "../values.ts"
import { trimSpace } from "../../texts.ts"

/** The characters of a string; most strings have one code unit per character, and are returned unchanged. */
function charactersOf(text: string): string | string[] {
  return codePoints(text) === text.length ? text : Array.from(text)
}

function part(characters: string | string[], start: number, end?: number): string {
  return typeof characters === "string" ? characters.slice(start, end) : characters.slice(start, end).join("")
}

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`)
}

function charAt([text, index]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof index !== "bigint") return undefined
  const characters = charactersOf(text)
  if (index < 0n || index > characters.length) return outOfRange(index)
  return characters[Number(index)] ?? ""
}

function indexOf([text, sought, offset]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof sought !== "string") return undefined
  if (offset !== undefined && typeof offset !== "bigint") return undefined
  const from = offset ?? 0n
  if (sought === "") return from
  if (from < 0n) return outOfRange(from)
  const characters = charactersOf(text)
  if (from >= characters.length) return -1n
  const skipped = part(characters, 0, Number(from)).length
  const found = text.indexOf(sought, skipped)
  return found < 0 ? -1n : BigInt(codePoints(text.slice(0, found)))
}

function lastIndexOf([text, sought, offset]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof sought !== "string") return undefined
  if (offset !== undefined && typeof offset !== "bigint") return undefined
  const characters = charactersOf(text)
  if (sought === "") return offset ?? BigInt(characters.length)
  if (offset !== undefined && offset < 0n) return outOfRange(offset)
  if (offset !== undefined && offset >= characters.length) return -1n
  const from = offset === undefined ? Infinity : part(characters, 0, Number(offset)).length
  const found = text.lastIndexOf(sought, from)
  return found < 0 ? -1n : BigInt(codePoints(text.slice(0, found)))
}

function replace([text, sought, other, limit]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof sought !== "string" || typeof other !== "string") return undefined
  if (limit !== undefined && typeof limit !== "bigint") return undefined
  let left = limit === undefined || limit < 0n ? Infinity : Number(limit)
  if (sought === "") {
    const characters = Array.from(text)
    let result = ""
    for (const [index, character] of characters.entries()) result += (index < left ? other : "") + character
    return result + (characters.length < left ? other : "")
  }
  let result = ""
  let at = 0
  for (let found = text.indexOf(sought); found >= 0 && left > 0; found = text.indexOf(sought, at)) {
    result += text.slice(at, found) + other
    at = found + sought.length
    left--
  }
  return result + text.slice(at)
}

function split([text, separator, limit]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof separator !== "string") return undefined
  if (limit !== undefined && typeof limit !== "bigint") return undefined
  if (limit === 0n) return new ArrayList([])
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit)
  const parts = separator === "" ? Array.from(text) : text.split(separator)
  if (parts.length <= most) return new ArrayList(parts)
  return new ArrayList([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)])
}

function substring([text, start, end]: readonly Value[]): Value | undefined {
  if (typeof text !== "string" || typeof start !== "bigint") return undefined
  if (end !== undefined && typeof end !== "bigint") return undefined
  const characters = charactersOf(text)
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > characters.length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > characters.length)) return outOfRange(end)
  return part(characters, Number(start), end === undefined ? undefined : Number(end))
}

function join([list, separator]: readonly Value[]): Value | undefined {
  if (!(list instanceof ListValue) || (separator !== undefined && typeof separator !== "string")) return undefined
  const parts: string[] = []
  for (const item of itemsOf(list)) {
    // Upstream chooses the overload by the first.
    if (typeof item !== "string" && parts.length === 0) return undefined
    if (typeof item !== "string") return new CelError(`join: invalid input: ${printValue(item)}`)
    parts.push(item)
  }
  return parts.join(separator ?? "")
}

const asciiUpper = /[A-Z]+/g
const asciiLower = /[a-z]+/g

// oxlint-disable-next-line no-control-regex -- they are what is quoted
const escaped = /[\x07\b\f\n\r\t\v\\"]/g

function ofOneString(make: (text: string) => Value): Implementation {
  return ([text]) => (typeof text === "string" ? make(text) : undefined)
}

function ofTwoStrings(make: (text: string, other: string) => Value): Implementation {
  return ([text, other]) =>
    typeof text === "string" && typeof other === "string" ? make(text, other) : new CelError("no such overload")
}

export const stringFunctions: Readonly<Record<string, Implementation>> = dictionary({
  charAt,
  contains: ofTwoStrings((text, other) => text.includes(other)),
  endsWith: ofTwoStrings((text, other) => text.endsWith(other)),
  format: ([text, args]) =>
    typeof text === "string" && args instanceof ListValue ? formatString(text, [...itemsOf(args)]) : undefined,
  join,
  "jsonpatch.escapeKey": ofOneString((text) => text.replaceAll("~", "~0").replaceAll("/", "~1")),
  lowerAscii: ofOneString((text) => text.replace(asciiUpper, (upper) => upper.toLowerCase())),
  replace,
  split,
  startsWith: ofTwoStrings((text, other) => text.startsWith(other)),
  "strings.quote": ofOneString((text) => `"${text.replace(escaped, (one) => shortEscapes[one] ?? one)}"`),
  substring,
  trim: ofOneString(trimSpace),
  upperAscii: ofOneString((text) => text.replace(asciiLower, (lower) => lower.toUpperCase())),
})

/** For strings; lists.ts has those for lists. */
export const stringIndexOf: Implementation = indexOf
export const stringLastIndexOf: Implementation = lastIndexOf
