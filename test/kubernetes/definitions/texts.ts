// Texts that match a pattern, made from its syntax.

import { parsePattern } from "../../../apimachinery/schema/regular-expressions/re2-parse.ts"
import type { Node } from "../../../apimachinery/schema/regular-expressions/re2-tree.ts"
import { compilePattern } from "../../../apimachinery/schema/regular-expressions/patterns.ts"
import { pick, type Random } from "../../../apimachinery/testing/random.ts"

/** Beyond what a repetition asks for at least. */
const mostMore = 3
const attempts = 8
const preferred = Array.from("ab1xz09-.:/_A", (one) => one.codePointAt(0) ?? 0)

/** Undefined: none was found, since what patterns assert is not planned for. */
export function textOf(random: Random, pattern: string): string | undefined {
  let node: Node
  let matches: (text: string) => boolean
  try {
    node = parsePattern(pattern)
    const compiled = compilePattern(pattern)
    matches = (text) => compiled.matches(text)
  } catch {
    return undefined // not RE2's: definitions with it are refused
  }
  for (let attempt = 0; attempt < attempts; attempt++) {
    const text = write(random, node)
    if (matches(text)) return text
  }
  return undefined
}

function write(random: Random, node: Node): string {
  switch (node.kind) {
    case "set":
      return character(random, node.set)
    case "assert":
      return ""
    case "concat":
      return node.nodes.map((one) => write(random, one)).join("")
    case "alternate":
      return node.nodes.length === 0 ? "" : write(random, pick(random, node.nodes))
    case "repeat": {
      const count = Math.min(node.min + random(mostMore + 1), node.max)
      return Array.from({ length: count }, () => write(random, node.node)).join("")
    }
  }
}

function character(random: Random, { ranges, classes, negated }: Extract<Node, { kind: "set" }>["set"]): string {
  const has = (code: number): boolean =>
    negated !== (ranges.some(([from, to]) => from <= code && code <= to) || classes.some((is) => is(code)))
  const good = preferred.filter(has)
  if (good.length > 0) return String.fromCodePoint(pick(random, good))
  if (negated || ranges.length === 0) return "ü"
  const [from, to] = pick(random, ranges)
  return String.fromCodePoint(from + random(to - from + 1))
}
