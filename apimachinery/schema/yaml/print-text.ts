// How a text is written in YAML: plain, quoted, or as a block of lines, as Kubernetes writes it. Source: go.yaml.in/yaml/v2 (encode.go,
// emitterc.go).

import { isPlainText } from "./resolve.ts"

/** A column beyond which a line is broken at the next space. */
const width = 80

interface TextPlace {
  /** Of what follows. */
  column: number
  /** Of further lines. */
  indent: number
  /** A key stays on its line. */
  isKey: boolean
}

type Style = "plain" | "single" | "double" | "literal"

/** Characters that a text has only as escapes. */
const special = /[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
const lineBreak = /[\n\u2028\u2029]/

export const isMultiline = (text: string): boolean => lineBreak.test(text)

/** What would begin something else than a text. */
const indicators = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\r\n\0\u0085\u2028\u2029]#/

function styleOf(text: string, isKey: boolean): Style {
  const isSpecial = special.test(text) || / [\n\u2028\u2029]/.test(text)
  if (text.includes("\n")) return isSpecial || isKey || text.endsWith(" ") ? "double" : "literal"
  if (!isPlainText(text)) return "double"
  const isBare = !/^ | $/.test(text) && !lineBreak.test(text) && !indicators.test(text)
  if (isBare && !isSpecial) return "plain"
  return isSpecial || /[\u2028\u2029] /.test(text) ? "double" : "single"
}

/** Begins where the text does: after a space. */
export function printText(text: string, place: TextPlace): string {
  switch (styleOf(text, place.isKey)) {
    case "plain":
      return folded(text, place)
    case "single":
      return `'${brokenAfterBreaks(folded(text.replaceAll("'", "''"), { ...place, column: place.column + 1 }), place)}'`
    case "double":
      return `"${quoted(text, { ...place, column: place.column + 1 })}"`
    case "literal":
      return literal(text, place)
  }
}

const runs = / +|[^ ]+/g

/** Single spaces beyond the width become line breaks, but not at the ends. */
function folded(text: string, { column, indent, isKey }: TextPlace): string {
  if (isKey || column + text.length <= width || !text.includes(" ")) return text
  let out = ""
  let at = column
  for (const { 0: run, index } of text.matchAll(runs)) {
    const isInside = index > 0 && index + run.length < text.length
    if (run === " " && isInside && at > width) {
      out += newLine(indent)
      at = indent
    } else {
      out += run
      at += columnsOf(run)
    }
  }
  return out
}

const newLine = (indent: number): string => `\n${" ".repeat(indent)}`

/** A character counts once, no matter how many units it has. */
export function columnsOf(run: string): number {
  return run.length - (run.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
}

/** Other line breaks are kept; the next line is indented. */
function brokenAfterBreaks(text: string, { indent }: TextPlace): string {
  return text.replaceAll(/([\u2028\u2029])(?![\u2028\u2029]|$)/g, (found) => found + " ".repeat(indent))
}

const escaped = /[^ !#-[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu
const named: Readonly<Record<string, string>> = Object.freeze({
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\x85": "N",
})

function escapeOf(character: string): string {
  const name = named[character] ?? { "\u2028": "L", "\u2029": "P" }[character]
  if (name !== undefined) return `\\${name}`
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${digits.padStart(2, "0")}`
  return code <= 0xffff ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`
}

/** The first of several spaces may become a line break, too; a backslash keeps the others. */
function quoted(text: string, { column, indent, isKey }: TextPlace): string {
  // Upstream takes every character of such a text for the byte order mark.
  const plain = text.replaceAll(text.startsWith("\ufeff") ? /./gsu : escaped, escapeOf)
  if (isKey || column + plain.length <= width || !text.includes(" ")) return plain
  let out = ""
  let at = column
  for (const { 0: run, index } of plain.matchAll(runs)) {
    const isInside = index > 0 && index < plain.length - 1
    if (run.startsWith(" ") && isInside && at > width) {
      const rest = run.length === 1 ? "" : `\\${run.slice(1)}`
      out += newLine(indent) + rest
      at = indent + rest.length
    } else {
      out += run
      at += columnsOf(run)
    }
  }
  return out
}

/** A block of lines. Its first line begins with a space or a break only if the hint says by how much it is indented. */
function literal(text: string, { indent }: TextPlace): string {
  const hint = /^[ \n\u2028\u2029]/.test(text) ? "2" : ""
  const end = /(?:^|[\n\u2028\u2029])[\n\u2028\u2029]$/.test(text) ? "+" : /[\n\u2028\u2029]$/.test(text) ? "" : "-"
  const lines = text.replaceAll(/(^|[\n\u2028\u2029])(?![\n\u2028\u2029]|$)/g, (found) => found + " ".repeat(indent))
  return `|${hint}${end}\n${lines}`
}
