// Scans what precedes a node or a document: anchors, tags and directives. Source: go.yaml.in/yaml/v2 (scannerc.go).

import { isTrailing, utf8Width } from "./characters.ts"
import {
  code,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isBreakOrEnd,
  isDigit,
  isHex,
  isNameCharacter,
  type YamlText,
} from "./text.ts"

const bang = "!"

/** At "&" or "*": scans the name that follows. */
export function scanAnchor(text: YamlText): string {
  text.skip()
  const name = text.skipWhile(isNameCharacter)
  const next = text.peek()
  if (name === "" || !(isBlankOrEnd(next) || "?:,]}%@`".includes(String.fromCharCode(next))))
    throw text.fault("did not find expected alphabetic or numeric character")
  return name
}

export interface Tag {
  /** "": the suffix is the whole tag. */
  handle: string
  suffix: string
}

export function scanTag(text: YamlText): Tag {
  const tag = text.text[text.at + 1] === "<" ? verbatimTag(text) : shorthandTag(text)
  if (!isBlankOrEnd(text.peek())) throw text.fault("did not find expected whitespace or line break")
  return tag
}

function verbatimTag(text: YamlText): Tag {
  text.skip(2)
  const suffix = scanUri(text, "")
  if (text.text[text.at] !== ">") throw text.fault("did not find the expected '>'")
  text.skip()
  return { handle: "", suffix }
}

function shorthandTag(text: YamlText): Tag {
  const handle = scanHandle(text, false)
  if (handle.length > 1 && handle.endsWith(bang)) return { handle, suffix: scanUri(text, "") }
  const suffix = scanUri(text, handle)
  return suffix === "" ? { handle: "", suffix: bang } : { handle: bang, suffix }
}

function scanHandle(text: YamlText, isDirective: boolean): string {
  const isBang = (): boolean => text.text[text.at] === bang
  if (!isBang()) throw text.fault("did not find expected '!'")
  text.skip()
  const name = text.skipWhile(isNameCharacter)
  if (isBang()) {
    text.skip()
    return bang + name + bang
  }
  if (isDirective && name !== "") throw text.fault("did not find expected '!'")
  return bang + name
}

const isUriCharacter = (char: number): boolean =>
  isNameCharacter(char) || ";/?:@&=+$,.!~*'()[]".includes(String.fromCharCode(char))

/** `handle`: the text already read, if it was not a handle. */
function scanUri(text: YamlText, handle: string): string {
  let uri = handle.slice(1)
  let isThere = handle !== ""
  for (;;) {
    const part = text.skipWhile(isUriCharacter)
    isThere ||= part !== ""
    uri += part
    if (text.peek() !== code.percent) break
    uri += scanOctets(text)
    isThere = true
  }
  if (!isThere) throw text.fault("did not find expected tag URI")
  return uri
}

/** One character: its bytes, each as %xx. */
function scanOctets(text: YamlText): string {
  const bytes: number[] = []
  let width = 1
  while (bytes.length < width) {
    if (text.peek() !== code.percent || !isHex(text.peek(1)) || !isHex(text.peek(2)))
      throw text.fault("did not find URI escaped octet")
    const byte = Number.parseInt(text.text.slice(text.at + 1, text.at + 3), 16)
    if (bytes.length === 0) {
      width = utf8Width(byte)
      if (width === 0) throw text.fault("found an incorrect leading UTF-8 octet")
    } else if (!isTrailing(byte)) throw text.fault("found an incorrect trailing UTF-8 octet")
    bytes.push(byte)
    text.skip(3)
  }
  return Buffer.from(bytes).toString()
}

export type Directive = { is: "version"; major: number; minor: number } | { is: "tag"; handle: string; prefix: string }

/** At "%". */
export function scanDirective(text: YamlText): Directive {
  text.skip()
  const name = text.skipWhile(isNameCharacter)
  if (name === "") throw text.fault("could not find expected directive name")
  if (!isBlankOrEnd(text.peek())) throw text.fault("found unexpected non-alphabetical character")
  if (name !== "YAML" && name !== "TAG") throw text.fault("found unknown directive name")
  text.skipWhile(isBlank)
  const directive = name === "YAML" ? scanVersion(text) : scanTagDirective(text)
  text.skipWhile(isBlank)
  text.skipComment()
  if (!isBreakOrEnd(text.peek())) throw text.fault("did not find expected comment or line break")
  if (isBreak(text.peek())) text.skipLine()
  return directive
}

function scanVersion(text: YamlText): Directive {
  const major = scanNumber(text)
  if (text.peek() !== code.dot) throw text.fault("did not find expected digit or '.' character")
  text.skip()
  return { is: "version", major, minor: scanNumber(text) }
}

const longestNumber = 2

function scanNumber(text: YamlText): number {
  const start = text.at
  while (isDigit(text.peek())) {
    if (text.at - start === longestNumber) throw text.fault("found extremely long version number")
    text.skip()
  }
  if (text.at === start) throw text.fault("did not find expected version number")
  return Number(text.text.slice(start, text.at))
}

function scanTagDirective(text: YamlText): Directive {
  const handle = scanHandle(text, true)
  if (!isBlank(text.peek())) throw text.fault("did not find expected whitespace")
  text.skipWhile(isBlank)
  const prefix = scanUri(text, "")
  if (!isBlankOrEnd(text.peek())) throw text.fault("did not find expected whitespace or line break")
  return { is: "tag", handle, prefix }
}
