// Splits a CEL expression into tokens. Source: cel-spec/doc/langdef.md.

import { type Issue, maxShown } from "./issues.ts"

export type TokenKind = "end" | "operator" | "int" | "uint" | "double" | "string" | "bytes" | "identifier" | "escaped"

export interface Token {
  kind: TokenKind
  text: string
  /** Offset in code points. */
  at: number
}

const operators = [
  "==",
  "!=",
  "<=",
  ">=",
  "&&",
  "||",
  "<",
  ">",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  ".",
  ",",
  "-",
  "!",
  "?",
  ":",
  "+",
  "*",
  "/",
  "%",
]

const number = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|0x[0-9a-fA-F]+[uU]?|\d+[uU]?/y
const escape = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`
const string = new RegExp(
  [
    String.raw`[rR]"""[^]*?"""`,
    String.raw`[rR]'''[^]*?'''`,
    String.raw`[rR]"[^"\n\r]*"`,
    String.raw`[rR]'[^'\n\r]*'`,
    String.raw`"""(?:${escape}|[^\\])*?"""`,
    String.raw`'''(?:${escape}|[^\\])*?'''`,
    String.raw`"(?:${escape}|[^\\"\n\r])*"`,
    String.raw`'(?:${escape}|[^\\'\n\r])*'`,
  ].join("|"),
  "y",
)
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y
const escaped = /`[A-Za-z0-9_./ -]+`/y
const space = /(?:[\t \r\n\f]|\/\/[^\n]*(?:\n|$))+/y

/** Maximum number of code points. */
const maxSize = 100_000

/** Instead of scanning it. */
export function sizeIssue(source: string): Issue | undefined {
  const size = source.length <= maxSize ? source.length : Array.from(source).length
  if (size <= maxSize) return undefined
  return { at: 0, message: `expression code point size exceeds limit: size: ${size}, limit ${maxSize}` }
}

/** The last token is the end. Issues: texts that are not tokens, up to the one at which cel-go gives up. */
export function scan(source: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let at = 0
  let points = 0
  const take = (text: string): void => {
    at += text.length
    points += isAscii(text) ? text.length : Array.from(text).length
  }
  for (;;) {
    const blank = match(space, source, at)
    if (blank !== undefined) take(blank)
    if (at >= source.length) break
    const found = next(source, at)
    if (found === undefined) {
      const text = unrecognized(source, at)
      issues.push({ at: points, message: `Syntax error: token recognition error at: '${text}'` })
      take(text)
      if (issues.length > maxShown) break
      continue
    }
    tokens.push({ ...found, at: points })
    take(found.text)
  }
  tokens.push({ kind: "end", text: "<EOF>", at: points })
  return { tokens, issues }
}

function next(source: string, at: number): Omit<Token, "at"> | undefined {
  const digits = match(number, source, at)
  if (digits !== undefined) return { kind: numberKind(digits), text: digits }
  const prefixed = source[at] === "b" || source[at] === "B" ? match(string, source, at + 1) : undefined
  if (prefixed !== undefined) return { kind: "bytes", text: `${source[at] ?? ""}${prefixed}` }
  const text = match(string, source, at)
  if (text !== undefined) return { kind: "string", text }
  const name = match(identifier, source, at)
  if (name !== undefined) return { kind: name === "in" ? "operator" : "identifier", text: name }
  const operator = operators.find((candidate) => source.startsWith(candidate, at))
  if (operator !== undefined) return { kind: "operator", text: operator }
  const quoted = match(escaped, source, at)
  return quoted === undefined ? undefined : { kind: "escaped", text: quoted }
}

function numberKind(text: string): TokenKind {
  if (/[uU]$/.test(text)) return "uint"
  return !text.startsWith("0x") && /[.eE]/.test(text) ? "double" : "int"
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/** As far as a token might have gone: one character, an operator's first and the next, or a string up to its fault. */
function unrecognized(source: string, at: number): string {
  const first = String.fromCodePoint(source.codePointAt(at) ?? 0)
  if (first === "&" || first === "|" || first === "=") {
    return (
      first +
      String.fromCodePoint(
        ...Array.from(source.slice(at + 1, at + 3))
          .slice(0, 1)
          .map(pointOf),
      )
    )
  }
  if (first === '"' || first === "'") {
    const part = String.raw`\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?`
    const rest = new RegExp(`${first}(?:${escape}|[^\\\\${first}\\n\\r])*(?:${part})?[^]?`, "yu")
    return match(rest, source, at) ?? first
  }
  return first
}

function pointOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

/** As it is named in errors. */
export function visible(text: string): string {
  return text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")
}
