// Go's order of strings, by their UTF-8 bytes; JavaScript's is by code units.

const high = /[\ud800-\uffff]/

export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!high.test(a) || !high.test(b)) return a < b ? -1 : 1
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    // In UTF-16, surrogates sort before U+E000 and above, but their characters sort after them.
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

/** Sorts in place by compareText. */
export function sortTexts(texts: string[]): void {
  texts.sort() // by code units, without a comparator: many times faster, and nearly always correct
  for (const text of texts) {
    if (!high.test(text)) continue
    texts.sort(compareText)
    return
  }
}

function rank(unit: number): number {
  return unit <= 0xdfff ? unit + 0x10000 : unit
}
