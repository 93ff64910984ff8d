// The parts of a document that a Range header asks for. Source: parseRange in Go's net/http.

export interface Part {
  start: number
  length: number
}

const unit = "bytes="

/** Empty if it asks for none, "beyond" if all begin after the end. Undefined if it cannot be read. */
export function partsOf(range: string, size: number): readonly Part[] | "beyond" | undefined {
  if (!range.startsWith(unit)) return undefined
  const texts = range.slice(unit.length).split(",")
  const found = texts.map((text) => text.trim()).flatMap((text) => (text === "" ? [] : [partOf(text, size)]))
  if (found.includes(undefined)) return undefined
  const parts = found.filter((part) => typeof part === "object")
  return parts.length === 0 && found.length > 0 ? "beyond" : parts
}

function partOf(text: string, size: number): Part | "beyond" | undefined {
  const at = text.indexOf("-")
  if (at < 0) return undefined
  const [first, last] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  const end = placeOf(last)
  if (first === "") {
    if (end === undefined) return undefined
    const length = Math.min(end, size)
    return { start: size - length, length }
  }
  const start = placeOf(first)
  if (start === undefined) return undefined
  if (start >= size) return "beyond"
  if (last === "") return { start, length: size - start }
  return end === undefined || end < start ? undefined : { start, length: Math.min(end + 1, size) - start }
}

/** Of 63 bits. */
const largest = 2n ** 63n - 1n

function placeOf(text: string): number | undefined {
  return /^\+?\d{1,20}$/.test(text) && BigInt(text.replace("+", "")) <= largest ? Number(text) : undefined
}
