// What is wrong with a YAML text, in the words of the parser that Kubernetes has. Both parsers stop at the same faults but name
// them, and count their lines, differently; a fault that is not known here keeps our parser's words. Source:
// go.yaml.in/yaml/v2 (scannerc.go, parserc.go, and decode.go's fail).

import type { YAMLParseError } from "yaml"

/** "yaml: line 2: did not find expected key" */
export function yamlWords(text: string, error: Pick<YAMLParseError, "code" | "message" | "pos">): string {
  const { words, line } = faultOf(text, error)
  return `yaml: ${line === 0 ? "" : `line ${line}: `}${words}`
}

interface Fault {
  words: string
  /** 0: it is not said. */
  line: number
}

function faultOf(text: string, { code, message, pos }: Pick<YAMLParseError, "code" | "message" | "pos">): Fault {
  const [start, end] = pos
  switch (code) {
    case "BLOCK_AS_IMPLICIT_KEY":
      if (text[start] === "?") return scanned("mapping keys are not allowed in this context", text, start)
      if (text[start] === "-" && isFirstOfLine(text, start)) return parsed("did not find expected key", text, start)
      return scanned("mapping values are not allowed in this context", text, text.indexOf(":", start))
    case "MULTILINE_IMPLICIT_KEY":
      if (/^-\s/.test(text.slice(start, start + 2))) return parsed("did not find expected key", text, start)
      return scanned("mapping values are not allowed in this context", text, end)
    case "TAB_AS_INDENT":
    case "BAD_SCALAR_START":
      return scanned("found character that cannot start any token", text, start)
    case "BAD_DQ_ESCAPE":
      return scanned(isHexEscape(text, start) ? noHexDigits : unknownEscape, text, start)
    case "UNEXPECTED_TOKEN":
      return unexpectedToken(text, message, start) ?? unknown(text, message, start)
    case "BLOCK_IN_FLOW":
      return parsed("did not find expected node content", text, start)
    case "BAD_INDENT":
    case "MISSING_CHAR":
      if (message.startsWith("Block collection")) return scanned(noEntry, text, start)
      if (message.startsWith("Implicit map keys")) return implicitKey(text, start)
      if (message.startsWith("Flow")) return flowFault(text, start)
      if (message.startsWith("All mapping items")) return entryFault(text, start)
      if (message.endsWith("quote")) {
        const isEscape = message.includes('"') && /(?<!\\)(?:\\\\)*\\$/.test(text.slice(-maxEscapes))
        return scanned(isEscape ? unknownEscape : "found unexpected end of stream", text, text.length)
      }
  }
  return unknown(text, message, start)
}

/** Nobody ends a text with more backslashes. */
const maxEscapes = 32
const unknownEscape = "found unknown escape character"
const noHexDigits = "did not find expected hexdecimal number" // as it is spelled there
const noEntry = "block sequence entries are not allowed in this context"

/** Our parser's words. */
function unknown(text: string, message: string, at: number): Fault {
  return { words: message, line: linesBefore(text, at) + 1 }
}

function isHexEscape(text: string, at: number): boolean {
  return "xuU".includes(text[at + 1] ?? " ")
}

/** Undefined: a kind of it that is not known here. */
function unexpectedToken(text: string, message: string, at: number): Fault | undefined {
  if (message.startsWith("Unexpected block-seq-ind on same line")) {
    return isFirstOfLine(text, at) ? parsed("did not find expected key", text, at) : scanned(noEntry, text, at)
  }
  if (message.startsWith("Not a YAML token")) return scanned("did not find expected comment or line break", text, at)
  if (message.startsWith("Unexpected , in flow")) return parsed("did not find expected node content", text, at)
  if (message !== "Unexpected scalar at node end") return undefined
  return isFirstOfLine(text, at) ? entryFault(text, at) : parsed("did not find expected key", text, at)
}

/** What is not in the map it stands in: in a list an entry has to come, or what the entry before still lacks. */
function entryFault(text: string, from: number): Fault {
  const at = from + Math.max(0, text.slice(from).search(/\S/))
  if (!followsEntry(text, at)) return parsed("did not find expected key", text, at)
  const lacks = /(?:^|\s)-$/.test(text.slice(0, at).trimEnd().slice(-2))
  return parsed(lacks ? "did not find expected node content" : "did not find expected '-' indicator", text, at)
}

/** Of the lines before, is the last that begins no further to the right an entry of a list in the same column? */
function followsEntry(text: string, at: number): boolean {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1
  const column = text.slice(lineStart).search(/[^ ]/)
  for (let end = lineStart - 1; end > 0;) {
    const start = text.lastIndexOf("\n", end - 1) + 1
    const line = text.slice(start, end)
    const indent = line.search(/\S/)
    if (indent >= 0 && indent <= column) return indent === column && /^-(?:\s|$)/.test(line.slice(indent, indent + 2))
    end = start - 1
  }
  return false
}

function isFirstOfLine(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, at).trim() === ""
}

/** A text alone on its line, which is no key: it is found out where the next one begins, or at the end. */
function implicitKey(text: string, at: number): Fault {
  if (text.startsWith("-", at) && isFirstOfLine(text, at)) return parsed("did not find expected key", text, at)
  const endOfLine = text.indexOf("\n", at)
  const rest = endOfLine < 0 ? "" : text.slice(endOfLine)
  const next = rest.search(/\S/)
  const line =
    next < 0 ? linesBefore(text, text.length) + (text.endsWith("\n") ? 0 : 1) : linesBefore(text, endOfLine + next)
  return { words: "could not find expected ':'", line: line + 1 }
}

/** Faults of the scanner are told with their line, but for the first. */
function scanned(words: string, text: string, at: number): Fault {
  const line = linesBefore(text, at)
  return { words, line: line === 0 ? 0 : line + 1 }
}

/** Those of the parser with the line before; the end of the text is on a line of its own. */
function parsed(words: string, text: string, at: number): Fault {
  const isEnd = at >= text.length && !text.endsWith("\n")
  return { words, line: linesBefore(text, at) + (isEnd ? 1 : 0) }
}

function linesBefore(text: string, at: number): number {
  return text.slice(0, at).split("\n").length - 1
}

/** A list or map in brackets that is not closed: something is missing in it, or behind what is there. */
function flowFault(text: string, at: number): Fault {
  const last = text.slice(0, at).trimEnd().at(-1) ?? ""
  if ("[{,:".includes(last)) return parsed("did not find expected node content", text, at)
  const opening = openingBefore(text, at)
  const fault = parsed(`did not find expected ',' or '${text[opening] === "{" ? "}" : "]"}'`, text, at)
  const line = linesBefore(text, opening)
  return line === 0 ? fault : { ...fault, line }
}

/** Of the brackets before, the last that is open. */
function openingBefore(text: string, at: number): number {
  for (let depth = 0; at-- > 0;) {
    const character = text[at] ?? ""
    if ("]}".includes(character)) depth++
    else if ("[{".includes(character) && depth-- === 0) return at
  }
  return 0
}
