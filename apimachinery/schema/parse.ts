// From the bytes of a request to a JSON value, with the errors a client gets for bytes that are none. Next: decode.ts.

import { isAlias, isScalar, LineCounter, parseAllDocuments, visit } from "yaml"
import type { Document, Tags } from "yaml"
import type { Json } from "../object.ts"
import { badRequest } from "../status.ts"
import { countKeys, scanJson, survey } from "./json-scan.ts"

/**
 * Nesting of a value. Go's decoder allows 10000; what walks values here is recursive and shares one stack, so it is less,
 * yet far beyond any real object.
 */
export const maxDepth = 1000
/** Aliases of one YAML text may be followed this often: a small text must not become a large object. */
const maxAliases = 100
/** Bytes that an error message quotes. */
const quotedBytes = 30

export interface ParseOptions {
  /** Look for keys given twice; the last one wins in any case. */
  duplicates: boolean
  /** The kind the path expects: for messages. */
  kind?: string
}

export interface Parsed {
  value: Json
  /** `duplicate field "metadata.name"`: what strict decoding complains of. */
  duplicates: string[]
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Literals of numbers that are not exact as doubles, by parsed root; gone with it. decodeObject asks for them. */
const oddNumbers = new WeakMap<object, ReadonlyMap<string, string>>()

export function oddNumbersOf(value: Json): ReadonlyMap<string, string> | undefined {
  return typeof value === "object" && value !== null ? oddNumbers.get(value) : undefined
}

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
  for (const field of ["apiVersion", "kind"]) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined
    if (given === undefined || given === null || typeof given === "string") continue
    const what = Array.isArray(given) ? "array" : typeof given === "boolean" ? "bool" : typeof given
    const detail = `json: cannot unmarshal ${what} into Go struct field .${field} of type string`
    throw unrecognized(bytes, options, typeError + detail)
  }
  return parsed
}

const typeError = "couldn't get version/kind; json parse error: "

function unrecognized(bytes: Uint8Array, { kind }: ParseOptions, detail: string): Error {
  const expected = kind === undefined ? "" : ` (must be of type ${kind})`
  return badRequest(`the object provided is unrecognized${expected}: ${detail} (${quoteBytes(bytes)})`)
}

/** The beginning of the body as upstream shows it: text when it looks like JSON, hexadecimal otherwise. */
function quoteBytes(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>"
  const start = Buffer.from(bytes.subarray(0, quotedBytes))
  const shown = start.toString(/^\s*\{/.test(start.toString()) ? "utf8" : "hex")
  return bytes.length > quotedBytes ? `${shown} ...` : shown
}

function parseJson(bytes: Uint8Array, options: ParseOptions): Parsed {
  const { depth, keys, oddNumbers: mayBeOdd } = survey(bytes)
  if (depth > maxDepth) throw unrecognized(bytes, options, `${typeError}exceeded max depth`)
  const text = decoder.decode(bytes)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (error) {
    throw unrecognized(bytes, options, typeError + explain(text, error))
  }
  const mayRepeat = options.duplicates && keys !== countKeys(value)
  if (!mayRepeat && !mayBeOdd) return { value, duplicates: [] }
  const scan = scanJson(text)
  if (scan.oddNumbers.size > 0 && typeof value === "object" && value !== null) oddNumbers.set(value, scan.oddNumbers)
  return { value, duplicates: options.duplicates ? scan.duplicates : [] }
}

function explain(text: string, error: unknown): string {
  try {
    scanJson(text)
  } catch (found) {
    if (found instanceof SyntaxError) return found.message
    throw found
  }
  return error instanceof Error ? error.message : String(error)
}

/** YAML 1.1 as Kubernetes reads it: yes and on are booleans, but times and sexagesimal numbers are texts. */
const otherTags = /^tag:yaml.org,2002:(?:timestamp|binary|omap|pairs|set)$/

function customTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || (!otherTags.test(tag.tag) && !("format" in tag && tag.format === "TIME")),
  )
}

function parseYaml(bytes: Uint8Array, options: ParseOptions): Parsed {
  const lines = new LineCounter()
  const text = decoder.decode(bytes)
  const [document] = parseAllDocuments(text, {
    version: "1.1",
    customTags,
    lineCounter: lines,
    stringKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  })
  if (document === undefined || !("errors" in document)) return { value: null, duplicates: [] }
  const duplicates: string[] = []
  for (const error of (document as Document).errors) {
    const { line } = lines.linePos(error.pos[0])
    if (error.code !== "DUPLICATE_KEY") throw unrecognized(bytes, options, `yaml: line ${line}: ${error.message}`)
    if (options.duplicates)
      duplicates.push(`  line ${line}: key ${JSON.stringify(keyAt(text, error.pos[0]))} already set in map`)
  }
  const value = yamlValue(document as Document, bytes, options)
  return {
    value,
    duplicates: duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n${duplicates.join("\n")}`],
  }
}

function keyAt(text: string, at: number): string {
  return (
    /^(?:"([^"]*)"|'([^']*)'|([^:\n]*))/
      .exec(text.slice(at))
      ?.slice(1)
      .find((part) => part !== undefined)
      ?.trim() ?? ""
  )
}

function yamlValue(document: Document, bytes: Uint8Array, options: ParseOptions): Json {
  let depth = 0
  visit(document, (_, node, ancestors) => {
    depth = Math.max(depth, ancestors.length)
    if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value)) {
      throw unrecognized(bytes, options, `${typeError}json: unsupported value: ${String(node.source)}`)
    }
    if (!isAlias(node)) return
    const anchored = node.resolve(document)
    if (anchored === undefined) throw unrecognized(bytes, options, `yaml: unknown anchor '${node.source}' referenced`)
    if (ancestors.includes(anchored)) {
      throw unrecognized(bytes, options, `yaml: anchor '${node.source}' value contains itself`)
    }
  })
  // Each level of a map is a pair and a map among the ancestors.
  if (depth / 2 > maxDepth) throw unrecognized(bytes, options, `${typeError}exceeded max depth`)
  try {
    // The way over JSON text makes keys texts and gives aliases values of their own.
    return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: maxAliases, mapAsMap: false })) ?? "null") as Json
  } catch (error) {
    throw unrecognized(bytes, options, `yaml: ${error instanceof Error ? error.message : String(error)}`)
  }
}
