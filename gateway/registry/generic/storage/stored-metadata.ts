// Finds the metadata of a stored object, and its labels, in its bytes without parsing them: lists of metadata need nothing else, and a
// list with a label selector examines every object. Stored bytes begin as stored-form.ts shows: metadata is the third field, and the
// first one whose value is an object.

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const colon = 0x3a

const labelsKey = Buffer.from('"labels":')
const none: Readonly<Record<string, string>> = {}

/** `start`: the position after the opening brace of metadata. */
export function labelsIn(stored: Buffer, start: number): Readonly<Record<string, string>> {
  let depth = 0
  for (let at = start; at < stored.length; at++) {
    switch (stored[at]) {
      case quote: {
        const end = endOfText(stored, at)
        if (depth === 0 && stored[end + 1] === colon && isLabels(stored, at, end)) return parseAt(stored, end + 2)
        at = end
        break
      }
      case openBrace:
      case openBracket:
        depth++
        break
      case closeBracket:
        depth--
        break
      case closeBrace:
        if (depth === 0) return none // the end of metadata
        depth--
        break
      default:
    }
  }
  return none
}

/** The position after the closing brace of metadata. `start`: after its opening brace. */
export function endOfMetadata(stored: Buffer, start: number): number {
  let depth = 0
  let isInText = false
  for (let at = start; at < stored.length; at++) {
    const byte = stored[at]
    if (byte === quote) isInText = !isInText
    else if (isInText) {
      if (byte === backslash) at++
    } else if (byte === openBrace) depth++
    else if (byte === closeBrace && depth-- === 0) return at + 1
  }
  return stored.length
}

function isLabels(stored: Buffer, start: number, end: number): boolean {
  return end - start === labelsKey.length - 2 && stored.compare(labelsKey, 0, labelsKey.length, start, end + 2) === 0
}

function parseAt(stored: Buffer, start: number): Readonly<Record<string, string>> {
  if (stored[start] !== openBrace) return none
  let at = start + 1
  while (at < stored.length && stored[at] !== closeBrace) at = stored[at] === quote ? endOfText(stored, at) + 1 : at + 1
  return JSON.parse(stored.toString("utf8", start, at + 1)) as Record<string, string>
}

/** Position of the closing quote of the string whose opening quote is at `start`. */
function endOfText(stored: Buffer, start: number): number {
  let end = stored.indexOf(quote, start + 1)
  while (end > 0 && isEscaped(stored, end)) end = stored.indexOf(quote, end + 1)
  return end < 0 ? stored.length : end
}

function isEscaped(stored: Buffer, at: number): boolean {
  let slashes = 0
  while (stored[at - 1 - slashes] === backslash) slashes++
  return slashes % 2 === 1
}
