// Parses what stands for one character of a set: classes, escapes and brackets.

import { complement, controls, escapes, named, unicodeClass } from "./re2-classes.ts"
import { fail, type PatternReader } from "./re2-reader.ts"
import type { CharacterSet } from "./re2-tree.ts"

/** Parses \d, \pL, \p{Greek} and their negations; undefined if there is none. */
export function readClass(reader: PatternReader): CharacterSet | undefined {
  const next = reader.text[reader.at + 1] ?? ""
  const ranges = Object.hasOwn(escapes, next.toLowerCase()) ? escapes[next.toLowerCase()] : undefined
  if (ranges !== undefined) {
    reader.at += 2
    const negated = next !== next.toLowerCase()
    return { ranges: negated ? complement(ranges) : ranges, classes: [], negated: false, foldCase: false }
  }
  if (next !== "p" && next !== "P") return undefined
  const match = /^\\[pP](?:\{(\^?)(\w+)\}|(\w))/.exec(reader.ahead())
  const name = match?.[2] ?? match?.[3] ?? ""
  const test = match === null ? undefined : unicodeClass(name)
  if (match === null || test === undefined) fail("invalid character class range", match?.[0] ?? reader.rest())
  reader.at += Array.from(match[0]).length
  const negated = (next === "P") !== (match[1] === "^")
  return { ranges: [], classes: [negated ? (point): boolean => !test(point) : test], negated: false, foldCase: false }
}

/** The code point after a backslash. */
export function readEscaped(reader: PatternReader): number {
  const number = /^\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(reader.ahead())
  if (number !== null) {
    reader.at += number[0].length
    return number[3] === undefined ? Number.parseInt(number[1] ?? number[2] ?? "", 16) : Number.parseInt(number[3], 8)
  }
  const next = reader.text[reader.at + 1]
  if (next === undefined) fail("trailing backslash at end of expression", "")
  const control = controls[next]
  if (control === undefined && /[A-Za-z0-9]/.test(next)) fail("invalid escape sequence", `\\${next}`)
  reader.at += 2
  return control ?? next.codePointAt(0) ?? 0
}

/** A set in brackets. */
export function readBracket(reader: PatternReader, foldCase: boolean): CharacterSet {
  const start = reader.at++
  const ranges: (readonly [number, number])[] = []
  const classes: ((codePoint: number) => boolean)[] = []
  const negated = reader.text[reader.at] === "^"
  if (negated) reader.at++
  for (let first = true; reader.text[reader.at] !== "]" || first; first = false) {
    if (reader.at >= reader.text.length) fail("missing closing ]", reader.rest(start))
    reader.countPart()
    const name = reader.text[reader.at] === "[" ? /^\[:(\^?)(\w+):\]/.exec(reader.ahead()) : null
    if (name !== null) {
      const known = Object.hasOwn(named, name[2] ?? "") ? named[name[2] ?? ""] : undefined
      if (known === undefined) fail("invalid character class range", name[0])
      ranges.push(...(name[1] === "^" ? complement(known) : known))
      reader.at += name[0].length
      continue
    }
    const set = reader.text[reader.at] === "\\" ? readClass(reader) : undefined
    if (set === undefined) ranges.push(readRange(reader))
    else {
      ranges.push(...set.ranges)
      classes.push(...set.classes)
    }
  }
  reader.at++
  return { ranges, classes, negated, foldCase }
}

function readRange(reader: PatternReader): [number, number] {
  const from = reader.at
  const low = readInBracket(reader)
  if (reader.text[reader.at] !== "-" || reader.text[reader.at + 1] === "]" || reader.at + 1 >= reader.text.length) {
    return [low, low]
  }
  reader.at++
  const high = readInBracket(reader)
  if (high < low) fail("invalid character class range", reader.text.slice(from, reader.at).join(""))
  return [low, high]
}

function readInBracket(reader: PatternReader): number {
  if (reader.text[reader.at] === "\\") return readEscaped(reader)
  return reader.text[reader.at++]?.codePointAt(0) ?? 0
}
