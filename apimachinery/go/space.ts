// White space as Go has it, which differs from JavaScript's in two characters: U+0085 is white space, U+FEFF is not. Source:
// strings.TrimSpace, unicode.IsSpace.

const space = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

export function trimSpace(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && space.test(text.charAt(start))) start++
  while (end > start && space.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
