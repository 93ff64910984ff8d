// The order of keys: their UTF-8 bytes, which is the order of code points. JavaScript's own string order differs for
// characters above U+FFFF (their surrogates sort below U+E000), hence these functions.

export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return unitRank(x) - unitRank(y)
  }
  return a.length - b.length
}

// Moves surrogates (U+D800–U+DFFF) above all other code units, keeping each part's order.
function unitRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** The smallest string above every string that starts with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  for (let end = prefix.length; end > 0;) {
    const isPair = (prefix.codePointAt(end - 2) ?? 0) > 0xffff
    const start = isPair ? end - 2 : end - 1
    const last = prefix.codePointAt(start) ?? 0
    if (last !== 0x10ffff) return prefix.slice(0, start) + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
    end = start
  }
  return undefined
}

/** The index of the first key that is ≥ `key` (> `key` when `exclusive`) in `keys`, which are in byte order. */
export function lowerBound(keys: readonly string[], key: string, exclusive = false): number {
  // The orders differ only where both have a unit from the surrogates on; without one in `key` the engine's own is right.
  const precedes = /[\ud800-\uffff]/.test(key) ? (other: string) => compareKeys(other, key) < 0 : undefined
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = keys[middle] ?? ""
    if ((precedes === undefined ? other < key : precedes(other)) || (exclusive && other === key)) low = middle + 1
    else high = middle
  }
  return low
}

/** The keys of a range request in a sorted list: those that start with `prefix` and come after `after`. */
export function selectKeys(keys: readonly string[], prefix: string, after?: string): readonly string[] {
  return keys.slice(...selectPlaces(keys, prefix, after))
}

/** Of the keys of a range request: where the first is in a sorted list, and what comes after the last. */
function selectPlaces(keys: readonly string[], prefix: string, after?: string): [start: number, end: number] {
  const fromPrefix = lowerBound(keys, prefix)
  const start = after === undefined ? fromPrefix : Math.max(fromPrefix, lowerBound(keys, after, true))
  if (keys.length === 0 || !keys[start]?.startsWith(prefix)) return [start, start]
  const end = prefixEnd(prefix)
  return [start, end === undefined ? keys.length : lowerBound(keys, end)]
}
