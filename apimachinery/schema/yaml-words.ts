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
      return scanned("mapping values are not allowed in this context", text, text.indexOf(":", start))
    case "MULTILINE_IMPLICIT_KEY":
      if (text.startsWith("- ", start)) return parsed("did not find expected key", text, start)
      return scanned("mapping values are not allowed in this context", text, end)
    case "TAB_AS_INDENT":
    case "BAD_SCALAR_START":
      return scanned("found character that cannot start any token", text, start)
    case "BAD_DQ_ESCAPE":
      return scanned("found unknown escape character", text, start)
    case "BAD_INDENT":
    case "MISSING_CHAR":
      if (message.startsWith("Flow")) return flowFault(text, start)
      if (message.startsWith("All mapping items")) return parsed("did not find expected key", text, start)
      if (message.endsWith("quote")) return scanned("found unexpected end of stream", text, text.length)
  }
  return { words: message, line: linesBefore(text, start) + 1 }
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
