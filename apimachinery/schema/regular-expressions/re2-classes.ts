// The character classes of Go's regular expressions, as ranges of code points.

import { dictionary } from "../../dictionary.ts"

export const lastCodePoint = 0x10ffff

export const escapes: Readonly<Record<string, readonly (readonly [number, number])[]>> = dictionary({
  d: [[0x30, 0x39]],
  s: [
    [0x09, 0x0a],
    [0x0c, 0x0d],
    [0x20, 0x20],
  ],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
})
export const named: Readonly<Record<string, readonly (readonly [number, number])[]>> = dictionary({
  alnum: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  alpha: [
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  ascii: [[0, 0x7f]],
  blank: [
    [0x09, 0x09],
    [0x20, 0x20],
  ],
  cntrl: [
    [0, 0x1f],
    [0x7f, 0x7f],
  ],
  digit: [[0x30, 0x39]],
  graph: [[0x21, 0x7e]],
  lower: [[0x61, 0x7a]],
  print: [[0x20, 0x7e]],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  space: [
    [0x09, 0x0d],
    [0x20, 0x20],
  ],
  upper: [[0x41, 0x5a]],
  word: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  xdigit: [
    [0x30, 0x39],
    [0x41, 0x46],
    [0x61, 0x66],
  ],
})
export const controls: Readonly<Record<string, number>> = dictionary({ a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 })

export function complement(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const found: [number, number][] = []
  let from = 0
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (low > from) found.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  if (from <= lastCodePoint) found.push([from, lastCodePoint])
  return found
}

/** The class of \\p{Greek} or \\pL; undefined if there is no such class. */
export function unicodeClass(name: string): ((codePoint: number) => boolean) | undefined {
  for (const property of [name, `Script=${name}`]) {
    try {
      const pattern = new RegExp(`^\\p{${property}}$`, "u")
      return (point) => pattern.test(String.fromCodePoint(point))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error // not a property of that form
    }
  }
  return undefined
}
