// From the bytes of a request to a JSON value, with the errors a client gets for bytes that are none. Next: decode.ts.

import { isMap, isNode, isScalar, Lexer, LineCounter, parseAllDocuments, visit } from "yaml"
import type { Document, Tags } from "yaml"
import { errorMessage } from "../error-message.ts"
import type { Json } from "../object.ts"
import { badRequest, requestEntityTooLarge, StatusError } from "../status.ts"
import { exactInteger, parseExactly, unsignedInteger } from "./exact-integers.ts"
import { type JsonObject, setOwn } from "./json-object.ts"
import { countKeys, openingAt, scanJson, survey } from "./json-scan.ts"
import { asOfYaml } from "./number-literals.ts"
import { noteOddNumbers } from "./odd-numbers.ts"
import { Aliases } from "./yaml-aliases.ts"
import { characterFault } from "./yaml-characters.ts"
import { keyFault } from "./yaml-keys.ts"
import { yamlWords } from "./yaml-words.ts"

/**
 * Nesting of a value. Go's decoder allows 10000; what walks values here is recursive and shares one stack, so it is less,
 * yet far beyond any real object.
 */
export const maxDepth = 1000
/** Bytes that an error message quotes. */
const quotedBytes = 30

export interface ParseOptions {
  /** Look for keys given twice; the last one wins in any case. */
  duplicates: boolean
  /** Whatever it says it is: who reads it looks at its kind himself. */
  anyKind?: boolean
  /** The kind the path expects: for messages. */
  kind?: string
}

export interface Parsed {
  value: Json
  /** `duplicate field "metadata.name"`: what strict decoding complains of. */
  duplicates: string[]
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Invalid UTF-8 becomes U+FFFD, as in Go. null is taken for an empty object; anything else but an object is an error. */
export function parseObject(bytes: Uint8Array, mediaType: "json" | "yaml", options: ParseOptions): Parsed {
  const parsed = mediaType === "json" ? parseJson(bytes, options) : parseYaml(bytes, options)
  const { value } = parsed
  if (value === null) return { ...parsed, value: {} }
  if (typeof value !== "object" || Array.isArray(value)) {
    const what = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value
    const target = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`
    throw unrecognized(bytes, options, `${typeError}json: cannot unmarshal ${what} into Go value of type ${target}`)
  }
  const fault = options.anyKind === true ? undefined : typeFault(value)
  if (fault !== undefined) throw unrecognized(bytes, options, fault)
  return parsed
}

/** Why an object does not say what it is: its apiVersion or kind is no text, or names more than a group and a version. */
export function typeFault(value: { [key: string]: Json }): string | undefined {
  for (const field of ["apiVersion", "kind"]) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined
    if (given === undefined || given === null || typeof given === "string") continue
    const what = Array.isArray(given) ? "array" : typeof given === "boolean" ? "bool" : typeof given
    return `${typeError}json: cannot unmarshal ${what} into Go struct field .${field} of type string`
  }
  const { apiVersion } = value
  if (typeof apiVersion !== "string" || apiVersion.split("/").length <= 2) return undefined
  return `unexpected GroupVersion string: ${apiVersion}`
}

const typeError = "couldn't get version/kind; json parse error: "

/** 400 in the words upstream has for bytes that are no object. */
export function unrecognized(bytes: Uint8Array, { kind }: Pick<ParseOptions, "kind">, detail: string): Error {
  const expected = kind === undefined ? "" : ` (must be of type ${kind})`
  return badRequest(`the object provided is unrecognized${expected}: ${detail} (${quoteBytes(bytes)})`)
}

/** The beginning of the body as upstream shows it: text when it looks like JSON, hexadecimal otherwise. */
function quoteBytes(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>"
  const start = Buffer.from(bytes.subarray(0, quotedBytes))
  const shown = start.toString(/^[\t\n\v\f\r \u0085\u00a0]*\{/.test(start.toString()) ? "utf8" : "hex")
  return bytes.length > quotedBytes ? `${shown} ...` : shown
}

function parseJson(bytes: Uint8Array, options: ParseOptions): Parsed {
  const { depth, keys, oddNumbers: mayBeOdd } = survey(bytes)
  if (depth > maxDepth) {
    const opening = openingAt(bytes, maxDepth + 1)
    throw unrecognized(bytes, options, `${typeError}invalid character '${opening}' exceeded max depth`)
  }
  const text = decoder.decode(bytes)
  let value: Json
  try {
    value = mayBeOdd ? parseExactly(text) : (JSON.parse(text) as Json)
  } catch (error) {
    throw unrecognized(bytes, options, typeError + explain(text, error))
  }
  if (text.includes("\\ud") || text.includes("\\uD")) value = wellFormed(value)
  const mayRepeat = options.duplicates && keys !== countKeys(value)
  if (!mayRepeat && !mayBeOdd) return { value, duplicates: [] }
  const scan = scanJson(text)
  noteOddNumbers(value, scan.oddNumbers)
  return { value, duplicates: options.duplicates ? scan.duplicates : [] }
}

/** Half of a surrogate pair can only be written as an escape, and becomes U+FFFD as in Go. */
function wellFormed(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) setOwn(out, key.toWellFormed(), wellFormed(inner))
  return out
}

function explain(text: string, error: unknown): string {
  try {
    scanJson(text)
  } catch (found) {
    if (found instanceof SyntaxError) return found.message
    throw found
  }
  return errorMessage(error)
}

/** YAML 1.1 as Kubernetes reads it: yes and on are booleans, but times and sexagesimal numbers are texts. */
const otherTags = /^tag:yaml.org,2002:(?:timestamp|binary|omap|pairs|set)$/

function customTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || (!otherTags.test(tag.tag) && !("format" in tag && tag.format === "TIME")),
  )
}

function parseYaml(bytes: Uint8Array, options: ParseOptions): Parsed {
  const json = bytes[0] === openBrace ? parseAsJson(bytes, options) : undefined
  if (json !== undefined) return json
  if (bytes.length > maxYamlBytes) throw yamlTooLong()
  const lines = new LineCounter()
  const text = decoder.decode(bytes)
  const unreadable = characterFault(bytes, text)
  if (unreadable !== undefined) throw unrecognized(bytes, options, `yaml: ${unreadable}`)
  if (text.length > maxDepth && nestsTooDeeply(text))
    throw unrecognized(bytes, options, `${typeError}exceeded max depth`)
  const [document] = parseAllDocuments(text, {
    version: "1.1",
    customTags,
    lineCounter: lines,
    stringKeys: false,
    prettyErrors: false,
    logLevel: "silent",
    // Its own search compares every key with every other.
    uniqueKeys: false,
  })
  if (document === undefined || !("errors" in document)) return { value: null, duplicates: [] }
  const [error] = (document as Document).errors
  if (error !== undefined) throw unrecognized(bytes, options, yamlWords(text, error))
  const value = yamlValue(document as Document, bytes, options)
  const faults = options.duplicates ? repeatedKeys(document as Document, lines) : []
  return {
    value,
    duplicates: faults.length === 0 ? [] : [`${unmarshalErrors}${faults.map((fault) => `\n  ${fault}`).join("")}`],
  }
}

/**
 * YAML is parsed by the whole, at about a megabyte per second, and meanwhile nothing else is done. What aliases stand for counts
 * as often as it stands there. Beyond: 413.
 */
const maxYamlBytes = 1024 * 1024
const openBrace = 0x7b

function yamlTooLong(): StatusError {
  return requestEntityTooLarge(`Request entity too large: limit is ${maxYamlBytes} for YAML that is no JSON`)
}

/** How all that is wrong with the keys of a YAML text is told as one error; each line of it is a warning. */
export const unmarshalErrors = "yaml: unmarshal errors:"

/** JSON is YAML, and read many times faster. Undefined: it is none, or something in it needs YAML's own words. */
function parseAsJson(bytes: Uint8Array, options: ParseOptions): Parsed | undefined {
  try {
    const { value, duplicates } = parseJson(bytes, options)
    return duplicates.length === 0 ? { value: asOfYaml(value), duplicates } : undefined
  } catch (error) {
    if (!(error instanceof StatusError) || error.message.includes("exceeded max depth")) throw error
    return undefined
  }
}

/** Before the parser, which takes long to find out: flow collections, and lists begun within one line. */
function nestsTooDeeply(text: string): boolean {
  let flow = 0
  let inLine = 0
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow++
    else if (token === "]" || token === "}") flow--
    else if (token === "-" || token === "?") inLine++
    else if (token === "\n" || token === "\r\n") inLine = 0
    if (flow > maxDepth || inLine > maxDepth) return true
  }
  return false
}

function repeatedKeys(document: Document, lines: LineCounter): string[] {
  const found: { line: number; key: unknown }[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) found.push({ line: lines.linePos(key.range?.[0] ?? 0).line, key: key.value })
        seen.add(key.value)
      }
    },
  })
  return found
    .sort((a, b) => a.line - b.line)
    .map(({ line, key }) => `line ${line}: key ${JSON.stringify(key)} already set in map`)
}

function yamlValue(document: Document, bytes: Uint8Array, options: ParseOptions): Json {
  let depth = 0
  let long = false
  const refuse = (detail: string) => unrecognized(bytes, options, `yaml: ${detail}`)
  const aliases = new Aliases(refuse)
  visit(document, (_, node, ancestors) => {
    depth = Math.max(depth, ancestors.length)
    if (isNode(node)) aliases.meet(node, ancestors)
    if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value)) {
      // What is too large for a double is a text.
      if (/\d/.test(node.source ?? "")) {
        node.value = node.source
        return
      }
      const shown = Number.isNaN(node.value) ? "NaN" : node.value > 0 ? "+Inf" : "-Inf"
      throw unrecognized(bytes, options, `json: unsupported value: ${shown}`)
    }
    if (isScalar(node) && typeof node.value === "number" && !Number.isSafeInteger(node.value)) {
      const exact = exactInteger(node.source ?? "") ?? unsignedInteger(node.source ?? "")
      long ||= typeof exact === "bigint"
      node.value = exact ?? node.value
    }
    const unusable = isMap(node) ? keyFault(node) : undefined
    if (unusable !== undefined) throw unrecognized(bytes, options, unusable)
  })
  const tooDeep = () => unrecognized(bytes, options, `${typeError}exceeded max depth`)
  // Each level of a map is a pair and a map among the ancestors.
  if (depth / 2 > maxDepth) throw tooDeep()
  const expanded = aliases.check(document)
  if (expanded.bytes > maxYamlBytes) throw yamlTooLong()
  if (expanded.depth > maxDepth) throw tooDeep()
  try {
    // The way over JSON text makes keys texts and gives aliases values of their own.
    const text = JSON.stringify(document.toJS({ maxAliasCount: -1, mapAsMap: false })) ?? "null"
    const value = parseExactly(text)
    if (long) noteOddNumbers(value, scanJson(text).oddNumbers)
    return value
  } catch (error) {
    const detail = errorMessage(error)
    const words = detail.startsWith("Merge sources")
      ? "map merge requires map or sequence of maps as the value"
      : detail
    throw unrecognized(bytes, options, `yaml: ${words}`)
  }
}
