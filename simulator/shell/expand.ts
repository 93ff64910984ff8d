// Expands the words of a script: variables, arithmetic, command substitution.

import { SyntaxFault, type Word } from "./tokens.ts"

/**
 * Maximum number of characters of a word, and of all words of a command: a loop that repeats a variable twice doubles it each
 * time.
 */
const maxCharacters = 1024 * 1024

/** The context of an expansion. */
export interface ExpansionContext {
  environment: Record<string, string>
  hostname: string
  /** The exit code of the last command. */
  last: number
  /** $0, $1 … */
  arguments: readonly string[]
  /** Returns a script's output without trailing line breaks. */
  substitute(script: string): Promise<string>
}

/** Expands words to the arguments of a command. */
export async function expandAll(shell: ExpansionContext, words: readonly Word[]): Promise<string[]> {
  const expanded: string[] = []
  let characters = 0
  for (const word of words) {
    let current: string | undefined
    for (const part of word) {
      const text = await expandPart(shell, part)
      characters += text.length
      if (characters > maxCharacters) throw new SyntaxFault("argument list too long")
      if (part.quoted || part.type === "text") {
        current = (current ?? "") + text
        continue
      }
      // An unquoted expansion is split at blanks; an empty one yields no word.
      const [first, ...more] = text.split(/\s+/).filter((piece) => piece !== "")
      if (first === undefined) continue
      current = (current ?? "") + first
      for (const piece of more) {
        expanded.push(current)
        current = piece
      }
    }
    if (current !== undefined) expanded.push(current)
  }
  return expanded
}

/** Expands without splitting at blanks: for assignments and targets of redirections. */
export async function expandOne(shell: ExpansionContext, word: Word): Promise<string> {
  let text = ""
  for (const part of word) {
    text += await expandPart(shell, part)
    if (text.length > maxCharacters) throw new SyntaxFault("out of memory")
  }
  return text
}

async function expandPart(shell: ExpansionContext, part: Word[number]): Promise<string> {
  switch (part.type) {
    case "text":
      return part.text
    case "variable": {
      const value = variable(shell, part.name)
      return (value === undefined || value === "") && part.fallback !== undefined ? part.fallback : (value ?? "")
    }
    case "arithmetic":
      return String(arithmetic(shell, part.expression))
    case "command":
      return shell.substitute(part.script)
  }
}

function variable(shell: ExpansionContext, name: string): string | undefined {
  if (name === "?") return String(shell.last)
  if (name === "$") return "1"
  if (name === "#") return String(Math.max(shell.arguments.length - 1, 0))
  if (/^\d$/.test(name)) return shell.arguments[Number(name)] ?? (name === "0" ? "sh" : undefined)
  if (name === "HOSTNAME") return shell.environment["HOSTNAME"] ?? shell.hostname
  return shell.environment[name]
}

/** Integer arithmetic with + - * / % and precedence, without parentheses. */
function arithmetic(shell: ExpansionContext, expression: string): number {
  const value = (term: string): number => {
    const name = term.trim().replace(/^\$/, "")
    return /^\d+$/.test(name) ? Number(name) : Number.parseInt(variable(shell, name) ?? "0", 10) || 0
  }
  const product = (text: string): number => {
    const [first = "0", ...rest] = text.split(/([*/%])/)
    let result = value(first)
    for (let at = 0; at < rest.length; at += 2) {
      const right = value(rest[at + 1] ?? "0")
      result =
        rest[at] === "*"
          ? result * right
          : right === 0
            ? 0
            : rest[at] === "/"
              ? Math.trunc(result / right)
              : result % right
    }
    return result
  }
  const [first = "0", ...rest] = expression.split(/([+-])/)
  let sum = product(first)
  for (let at = 0; at < rest.length; at += 2) {
    const right = product(rest[at + 1] ?? "0")
    sum = rest[at] === "+" ? sum + right : sum - right
  }
  return sum
}
