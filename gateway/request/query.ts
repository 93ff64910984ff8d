// The query of a request, as Go reads and writes it. Source: net/url (ParseQuery, Values.Encode).

import { compareText } from "../../apimachinery/go/text-order.ts"
import { percentDecoded, percentEncoded, textOfBytes } from "../../apimachinery/go/text.ts"

/** Parts of a query with an invalid escape or a semicolon are ignored. */
const unreadable = /;|%(?![\da-fA-F]{2})/
/** Only such bytes may be invalid UTF-8. */
const escapedByte = /%[89a-fA-F]/

/** Upstream ignores the errors of Go's parser. */
export function parseQuery(text: string): URLSearchParams {
  const readable = unreadable.test(text)
    ? text
        .split("&")
        .filter((part) => !unreadable.test(part))
        .join("&")
    : text
  const query = new URLSearchParams(readable)
  if (!escapedByte.test(readable)) return query
  const pairs = readable.split("&").map(pairOf)
  return pairs.every((pair) => pair.every((part) => part.isWellFormed())) ? query : new ByteQuery(readable, pairs)
}

type Pair = readonly [string, string]

function pairOf(part: string): Pair {
  const at = part.indexOf("=")
  const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)]
  return [textOf(name), textOf(value)]
}

const textOf = (escaped: string): string => textOfBytes(percentDecoded(escaped.replaceAll("+", " ")))

/** A query whose texts have bytes that are no UTF-8 (go/text.ts), which URLSearchParams would replace. */
class ByteQuery extends URLSearchParams {
  readonly #pairs: readonly Pair[]

  constructor(text: string, pairs: readonly Pair[]) {
    super(text)
    this.#pairs = pairs
  }

  override get(name: string): string | null {
    return this.getAll(name)[0] ?? null
  }

  override getAll(name: string): string[] {
    return this.#pairs.flatMap(([given, value]) => (given === name ? [value] : []))
  }
}

/** As Go writes a query that it has read: sorted by name. */
export function encodeQuery(query: URLSearchParams): string {
  const pairs = [...query].sort(([a], [b]) => compareText(a, b))
  return pairs.map((pair) => pair.map(escapeQuery).join("=")).join("&")
}

const escapeQuery = (text: string): string => percentEncoded(text, "-_.~ ").replaceAll(" ", "+")
