// Whether a text is the address of a mail as Go reads one: user@domain, `A Name <user@domain>`, `group: user@domain;`, with
// comments in parentheses. Source: net/mail (ParseAddress), mime (WordDecoder).

import { parseAddress, readable } from "../addresses.ts"

/** Thrown where the text is no address. */
class MailFault extends Error {}

export function isMailAddress(text: string): boolean {
  try {
    const reader = new Reader(text)
    const count = addresses(reader, true)
    skipComments(reader)
    return count === 1 && reader.isAtEnd()
  } catch (error) {
    if (error instanceof MailFault) return false
    throw error
  }
}

class Reader {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Empty at the end. */
  next(): string {
    return this.#text.charAt(this.at)
  }

  isAtEnd(): boolean {
    return this.at >= this.#text.length
  }

  take(character: string): boolean {
    if (this.next() !== character) return false
    this.at++
    return true
  }

  demand(character: string): void {
    if (!this.take(character)) throw new MailFault(`${character} is missing`)
  }

  /** The characters of the class, which may be none. */
  run(isOf: (character: string) => boolean): string {
    const start = this.at
    while (!this.isAtEnd() && isOf(this.next())) this.at++
    return this.#text.slice(start, this.at)
  }
}

const isSpace = (character: string): boolean => character === " " || character === "\t"
const isVisible = (character: string): boolean => (character >= "!" && character <= "~") || character >= "\u0080"
const isAtom = (character: string): boolean => isVisible(character) && !'()<>[]:;@\\,"'.includes(character)
const isLiteral = (character: string): boolean => isVisible(character) && !"[]\\".includes(character)

/** Returns how many there are. */
function addresses(reader: Reader, mayBeGroup: boolean): number {
  reader.run(isSpace)
  const start = reader.at
  if (isPlainAddress(reader)) {
    reader.run(isSpace)
    if (reader.take("(") && comment(reader).split(/[ \t]/).some(isOfUnknownCharset)) {
      throw new MailFault("the charset of the name is unknown")
    }
    return 1
  }
  reader.at = start
  if (reader.next() !== "<") phrase(reader)
  reader.run(isSpace)
  if (mayBeGroup && reader.take(":")) return group(reader)
  reader.demand("<")
  plainAddress(reader)
  reader.demand(">")
  return 1
}

function group(reader: Reader): number {
  reader.run(isSpace)
  let count = 0
  while (!reader.take(";")) {
    if (count > 0) reader.demand(",")
    count += addresses(reader, false)
    skipComments(reader)
  }
  skipComments(reader)
  return count
}

function isPlainAddress(reader: Reader): boolean {
  try {
    plainAddress(reader)
    return true
  } catch (error) {
    if (error instanceof MailFault) return false
    throw error
  }
}

function plainAddress(reader: Reader): void {
  reader.run(isSpace)
  if (reader.next() === '"') {
    if (quoted(reader) === "") throw new MailFault("the user is empty")
  } else dottedAtom(reader)
  reader.demand("@")
  reader.run(isSpace)
  if (!reader.take("[")) return dottedAtom(reader)
  const literal = reader.run(isLiteral)
  reader.demand("]")
  // Go's net.ParseIP knows no zones.
  if (literal.includes("%") || !readable(() => parseAddress(literal))) throw new MailFault("no IP address")
}

function dottedAtom(reader: Reader): void {
  if (reader.run(isAtom).split(".").includes("")) throw new MailFault("a part between dots is empty")
}

/** Words, up to what is none. An unreadable one ends the phrase, unless it is the first. */
function phrase(reader: Reader): void {
  let isEmpty = true
  // Of encoded words that follow each other.
  let decoded = ""
  for (;;) {
    if (!isEmpty) skipComments(reader)
    reader.run(isSpace)
    if (reader.isAtEnd()) break
    try {
      const isQuoted = reader.next() === '"'
      const word = isQuoted ? quoted(reader) : reader.run(isAtom)
      if (!isQuoted && (word === "" || isOfUnknownCharset(word))) throw new MailFault("no word")
      const content = isQuoted ? undefined : decodeWord(word)?.content
      if (content === undefined) isEmpty = false
      else decoded += content
    } catch (error) {
      if (!(error instanceof MailFault)) throw error
      if (isEmpty && decoded === "") throw error
      break
    }
  }
}

/** Returns its content. */
function quoted(reader: Reader): string {
  const start = reader.at
  reader.demand('"')
  let content = ""
  const isQuotable = (character: string): boolean =>
    character !== '"' && character !== "\\" && (isVisible(character) || isSpace(character))
  for (;;) {
    content += reader.run(isQuotable)
    if (reader.take('"')) return content
    if (!reader.take("\\") || !(isVisible(reader.next()) || isSpace(reader.next()))) {
      reader.at = start
      throw new MailFault("no quoted text")
    }
    content += reader.next()
    reader.at++
  }
}

function skipComments(reader: Reader): void {
  reader.run(isSpace)
  while (reader.take("(")) {
    comment(reader)
    reader.run(isSpace)
  }
}

/** After its parenthesis; comments may contain others. */
function comment(reader: Reader): string {
  let text = ""
  for (let depth = 1; ; reader.at++) {
    if (reader.isAtEnd()) throw new MailFault("a comment has no end")
    if (reader.next() === "\\") reader.at++
    else if (reader.next() === "(") depth++
    else if (reader.next() === ")") depth--
    if (depth === 0) break
    text += reader.next()
  }
  reader.at++
  return text
}

const knownCharsets = new Set(["utf-8", "iso-8859-1", "us-ascii"])

function isOfUnknownCharset(word: string): boolean {
  const decoded = decodeWord(word)
  return decoded !== undefined && !knownCharsets.has(decoded.charset.toLowerCase())
}

/** Of =?charset?q?content?=; undefined for a word that is not encoded. */
function decodeWord(word: string): { charset: string; content: string } | undefined {
  const match = /^=\?([^?]+)\?([bq])\?([^?]*)\?=$/i.exec(word)
  if (match === null) return undefined
  const [, charset = "", encoding = "", content = ""] = match
  const isValid =
    encoding.toLowerCase() === "b"
      ? /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(content.replaceAll(/[\r\n]/g, ""))
      : !/=(?![0-9A-Fa-f]{2})|[^ -~\t\r\n]/.test(content)
  return isValid ? { charset, content } : undefined
}
