// Splits the text of a label selector into tokens. Source: k8s.io/apimachinery/pkg/labels/selector.go (Lexer).

const symbols = ["==", "!=", "=", "!", ">", "<", "(", ")", ","] as const
type Symbol_ = (typeof symbols)[number]
/** `symbol` undefined: a word. The end of the text is a token without text. */
export interface Token {
  symbol: Symbol_ | "end" | undefined
  text: string
}

export const end: Token = { symbol: "end", text: "" }

/** Upstream's lexer takes a zero byte for the end of the text: behind a token it is skipped, elsewhere nothing follows it. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (/[ \t\r\n]/.test(text[at] ?? "")) {
      at++
      continue
    }
    if (text[at] === "\0") break
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at))
    const word = symbol ?? wordAt(text, at)
    tokens.push({ symbol, text: word })
    at += word.length
    if (text[at] === "\0") at++
  }
  return tokens
}

function wordAt(text: string, start: number): string {
  let end = start
  while (end < text.length && !/[ \t\r\n\0=!<>(),]/.test(text[end] ?? "")) end++
  return text.slice(start, end)
}
