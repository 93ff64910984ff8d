// Splits a script into operators and words, with their quotes and expansions.

export class SyntaxFault extends Error {}

/** A word before expansion: literal text and expansions. `quoted`: not split at blanks. */
type WordPart =
  | { type: "text"; text: string; quoted: boolean }
  | { type: "variable"; name: string; fallback: string | undefined; quoted: boolean }
  | { type: "command"; script: string; quoted: boolean }
  | { type: "arithmetic"; expression: string; quoted: boolean }

export type Word = readonly WordPart[]

export type Token = { type: "operator"; text: string } | { type: "word"; word: Word; bare: string | undefined }

const operators = ["&&", "||", ";;", ">>", "2>&1", "1>&2", ">&2", "2>", "1>", ";", "|", ">", "<", "(", ")", "&", "\n"]

export function tokenize(script: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < script.length) {
    const character = script[at] ?? ""
    if (character === " " || character === "\t") at++
    else if (character === "#") while (at < script.length && script[at] !== "\n") at++
    else if (character === "\\" && script[at + 1] === "\n") at += 2
    else {
      const operator = operators.find((text) => script.startsWith(text, at))
      if (operator === "&" || operator === "(" || operator === ")" || operator === ";;") {
        throw new SyntaxFault(`syntax error: "${operator}" is not supported`)
      }
      if (operator !== undefined) {
        tokens.push({ type: "operator", text: operator })
        at += operator.length
      } else {
        const { word, end } = readWord(script, at)
        const only = word.length === 1 ? word[0] : undefined
        tokens.push({ type: "word", word, bare: only?.type === "text" && !only.quoted ? only.text : undefined })
        at = end
      }
    }
  }
  return tokens
}

function readWord(script: string, start: number): { word: Word; end: number } {
  const parts: WordPart[] = []
  let text = ""
  let at = start
  const flush = () => {
    if (text !== "") parts.push({ type: "text", text, quoted: false })
    text = ""
  }
  while (at < script.length) {
    const character = script[at] ?? ""
    if (/[\s;|<>&()]/.test(character)) break
    if (character === "'") {
      const end = script.indexOf("'", at + 1)
      if (end < 0) throw new SyntaxFault("syntax error: unterminated quoted string")
      flush()
      parts.push({ type: "text", text: script.slice(at + 1, end), quoted: true })
      at = end + 1
    } else if (character === '"') {
      flush()
      at = readDoubleQuoted(script, at + 1, parts)
    } else if (character === "\\") {
      flush()
      parts.push({ type: "text", text: script[at + 1] ?? "", quoted: true })
      at += 2
    } else if (character === "$" || character === "`") {
      const expansion = readExpansion(script, at, false)
      flush()
      parts.push(expansion.part)
      at = expansion.end
    } else {
      text += character
      at++
    }
  }
  flush()
  return { word: parts, end: at }
}

function readDoubleQuoted(script: string, start: number, parts: WordPart[]): number {
  let text = ""
  let at = start
  for (; at < script.length && script[at] !== '"';) {
    const character = script[at] ?? ""
    if (character === "\\" && /["\\$`\n]/.test(script[at + 1] ?? "")) {
      if (script[at + 1] !== "\n") text += script[at + 1]
      at += 2
    } else if (character === "$" || character === "`") {
      parts.push({ type: "text", text, quoted: true })
      text = ""
      const { part, end } = readExpansion(script, at, true)
      parts.push(part)
      at = end
    } else {
      text += character
      at++
    }
  }
  if (at >= script.length) throw new SyntaxFault("syntax error: unterminated quoted string")
  parts.push({ type: "text", text, quoted: true })
  return at + 1
}

function readExpansion(script: string, at: number, quoted: boolean): { part: WordPart; end: number } {
  if (script[at] === "`") {
    const end = script.indexOf("`", at + 1)
    if (end < 0) throw new SyntaxFault("syntax error: unterminated command substitution")
    return { part: { type: "command", script: script.slice(at + 1, end), quoted }, end: end + 1 }
  }
  if (script.startsWith("$((", at)) {
    const end = script.indexOf("))", at)
    if (end < 0) throw new SyntaxFault("syntax error: unterminated arithmetic")
    return { part: { type: "arithmetic", expression: script.slice(at + 3, end), quoted }, end: end + 2 }
  }
  if (script[at + 1] === "(") {
    const end = closing(script, at + 1)
    return { part: { type: "command", script: script.slice(at + 2, end), quoted }, end: end + 1 }
  }
  const braced = /^\$\{([A-Za-z_]\w*|[?#$!0-9])(?::?-([^}]*))?\}/.exec(script.slice(at))
  if (braced !== null) {
    return {
      part: { type: "variable", name: braced[1] ?? "", fallback: braced[2], quoted },
      end: at + braced[0].length,
    }
  }
  const plain = /^\$([A-Za-z_]\w*|[?#$!0-9])/.exec(script.slice(at, at + 256))
  if (plain !== null) {
    return { part: { type: "variable", name: plain[1] ?? "", fallback: undefined, quoted }, end: at + plain[0].length }
  }
  if (script[at + 1] === "{") throw new SyntaxFault("syntax error: this parameter expansion is not supported")
  return { part: { type: "text", text: "$", quoted }, end: at + 1 }
}

function closing(script: string, open: number): number {
  let depth = 0
  for (let at = open; at < script.length; at++) {
    if (script[at] === "(") depth++
    else if (script[at] === ")" && --depth === 0) return at
  }
  throw new SyntaxFault("syntax error: unterminated command substitution")
}
