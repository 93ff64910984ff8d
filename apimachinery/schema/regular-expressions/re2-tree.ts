// The tree of a regular expression. re2-parse.ts makes it, patterns.ts compiles it.

/** Ranges of code points, or a function for classes that JavaScript provides (\p{Greek}). */
export interface CharacterSet {
  ranges: readonly (readonly [number, number])[]
  classes: readonly ((codePoint: number) => boolean)[]
  negated: boolean
  foldCase: boolean
}

export type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "wordBoundary" | "noWordBoundary"

export type Node =
  | { kind: "set"; set: CharacterSet }
  | { kind: "assert"; assertion: Assertion }
  | { kind: "concat" | "alternate"; nodes: Node[] }
  | { kind: "repeat"; node: Node; min: number; max: number; lazy: boolean }
