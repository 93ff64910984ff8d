// The order of keys in YAML: by letters and numbers, other characters first. Source: go.yaml.in/yaml/v2 (sorter.go).

const isLatin = (character: string): boolean =>
  (character >= "a" && character <= "z") || (character >= "A" && character <= "Z")
const letter = /\p{L}/u
const digit = /\p{Nd}/u

export function compareKeys(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  if (at === one.length) return at === other.length ? 0 : -1
  // Nearly all keys differ in letters.
  const [a = "", b = ""] = [one[at], other[at]]
  if (isLatin(a) && isLatin(b)) return a < b ? -1 : 1
  return precedes(Array.from(one), Array.from(other)) ? -1 : 1
}

function precedes(one: readonly string[], other: readonly string[]): boolean {
  const shorter = Math.min(one.length, other.length)
  let at = 0
  while (at < shorter && one[at] === other[at]) at++
  if (at === shorter) return one.length < other.length
  const [a = "", b = ""] = [one[at], other[at]]
  const [isLetter, isOtherLetter] = [letter.test(a), letter.test(b)]
  if (isLetter && isOtherLetter) return codeOf(a) < codeOf(b)
  if (isLetter || isOtherLetter) return isOtherLetter
  // After digits that are the same, zeros count as much as others.
  const lead = (a === "0" || b === "0") && followsNumber(one, at) ? 1n : 0n
  const [number, otherNumber] = [numberAt(one, at, lead), numberAt(other, at, lead)]
  if (number.value !== otherNumber.value) return number.value < otherNumber.value
  if (number.end !== otherNumber.end) return number.end < otherNumber.end
  return codeOf(a) < codeOf(b)
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

function followsNumber(text: readonly string[], end: number): boolean {
  for (let at = end - 1; at >= 0 && digit.test(text[at] ?? ""); at--) if (text[at] !== "0") return true
  return false
}

/** Of 64 bits: a longer number overflows. */
function numberAt(text: readonly string[], start: number, lead: bigint): { value: bigint; end: number } {
  let value = lead
  let end = start
  for (; end < text.length && digit.test(text[end] ?? ""); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(text[end] ?? "") - 0x30))
  }
  return { value, end }
}
