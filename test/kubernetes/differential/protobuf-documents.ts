// OpenAPI documents in protobuf, decoded only by the wire format. In it, a map is a list of names and values in any order, and
// values of any type are YAML texts, of which JSON is a subset.

import { parseDocument } from "yaml"
import { type Decoded, decodeMessage, isMessage } from "./protobuf.ts"

export function decodeOpenAPI(body: Buffer): unknown {
  const message = decodeMessage(body)
  return message === undefined ? "malformed" : readable(message)
}

function readable(value: Decoded): unknown {
  if (Array.isArray(value)) {
    const named = value.filter(isNamed)
    if (named.length < value.length) return value.map(readable)
    return Object.fromEntries(named.map(({ 1: name, 2: inner }) => [name, readable(inner ?? {})]))
  }
  if (!isMessage(value)) return value
  const members = Object.entries(value)
  const [[number, text] = []] = members
  if (members.length === 1 && number === "2" && typeof text === "string") return { yaml: parsed(text) }
  return Object.fromEntries(members.map(([key, inner]) => [key, readable(inner)]))
}

function isNamed(value: Decoded): value is { 1: string; 2?: Decoded } {
  if (!isMessage(value) || typeof value["1"] !== "string") return false
  return Object.keys(value).every((number) => number === "1" || number === "2")
}

/** Other texts may have the same number; they are returned unchanged. */
function parsed(text: string): unknown {
  const document = parseDocument(text)
  return document.errors.length > 0 ? text : document.toJS()
}
