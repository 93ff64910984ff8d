// The values of literals.

import { dictionary } from "../../dictionary.ts"
import { int64, uint64 } from "../../schema/exact-integers.ts"
import type { TokenKind } from "./scanner.ts"
import { type Value, UInt } from "../values.ts"

const simple: Readonly<Record<string, string>> = dictionary({
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
})

/** The value of a token of that kind; undefined if it is out of range or not valid text. */
export function literalValue(kind: TokenKind, text: string, negative: boolean): Value | undefined {
  switch (kind) {
    case "int":
      return intLiteral(text, negative)
    case "uint":
      return uintLiteral(text)
    case "double":
      return doubleLiteral(text, negative)
    case "string":
      return stringLiteral(text)
    default:
      return bytesLiteral(text)
  }
}

function intLiteral(text: string, negative: boolean): Value | undefined {
  const value = negative ? -BigInt(text) : BigInt(text)
  return value > int64.max || value < int64.min ? undefined : value
}

function uintLiteral(text: string): Value | undefined {
  const value = BigInt(text.slice(0, -1))
  return value > uint64.max ? undefined : new UInt(value)
}

function doubleLiteral(text: string, negative: boolean): Value | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  return negative ? -value : value
}

/** The value of a scanned string token; undefined if it contains an invalid code point. */
function stringLiteral(token: string): string | undefined {
  const { text, raw } = unquote(token)
  if (raw) return text
  let valid = true
  const result = text.replace(
    /\\(?:([abfnrtv"'\\?`])|([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/g,
    (_all, plain?: string, octal?: string, hex?: string, short?: string, long?: string) => {
      if (plain !== undefined) return simple[plain] ?? plain
      const point = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8)
      if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) valid = false
      return valid ? String.fromCodePoint(point) : ""
    },
  )
  return valid ? result : undefined
}

/** Octal and hexadecimal escapes are bytes here, not code points. */
function bytesLiteral(token: string): Uint8Array | undefined {
  const { text, raw } = unquote(token.slice(1))
  if (raw) return Buffer.from(text)
  const parts: Uint8Array[] = []
  if (/^(?:[^\\]|\\[^uU])*\\[uU]/.test(text)) return undefined
  for (const part of text.match(/\\(?:[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|[^])|[^\\]+/g) ?? []) {
    const code = /^\\(?:([0-3][0-7][0-7])|[xX](..))$/.exec(part)
    if (code === null) parts.push(Buffer.from(part.startsWith("\\") ? (simple[part.slice(1)] ?? part.slice(1)) : part))
    else
      parts.push(
        Uint8Array.of(code[1] === undefined ? Number.parseInt(code[2] ?? "", 16) : Number.parseInt(code[1], 8)),
      )
  }
  return Buffer.concat(parts)
}

function unquote(token: string): { text: string; raw: boolean } {
  const raw = /^[rR]/.test(token)
  const quoted = (raw ? token.slice(1) : token).replaceAll("\r\n", "\n").replaceAll("\r", "\n")
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1
  return { text: quoted.slice(width, -width), raw }
}
