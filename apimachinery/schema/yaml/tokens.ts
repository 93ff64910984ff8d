// The tokens of a YAML text, passed from scanner.ts to compose.ts.

import type { Directive, Tag } from "./tags.ts"

export type Mark =
  | "end"
  | "document start"
  | "document end"
  | "block list"
  | "block map"
  | "block end"
  | "["
  | "]"
  | "{"
  | "}"
  | "-"
  | ","
  | "?"
  | ":"

export type Token = {
  /** Counted from 0. */
  line: number
} & (
  | { is: Mark }
  | { is: "directive"; directive: Directive }
  | { is: "alias" | "anchor"; name: string }
  | { is: "tag"; tag: Tag }
  | { is: "scalar"; value: string; isPlain: boolean }
)
