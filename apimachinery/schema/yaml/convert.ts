// From the bytes of a YAML text to JSON, as Kubernetes reads it: YAML 1.1 in which yes and on are booleans, but times and
// sexagesimal numbers are texts. By far the slowest way into an object: what is long is converted in a thread of its own.

import { isMap, isNode, isScalar, Lexer, LineCounter, parseAllDocuments, visit } from "yaml"
import type { Document, Tags } from "yaml"
import { errorMessage } from "../../error-message.ts"
import { exactInteger, unsignedInteger } from "../exact-integers.ts"
import { maxDepth, tooDeep } from "../json-scan.ts"
import { Aliases } from "./aliases.ts"
import { characterFault } from "./characters.ts"
import { keyFault } from "./keys.ts"
import { yamlWords } from "./words.ts"

/** Of the text, at about a megabyte per second. What aliases stand for counts as often as it stands there. */
export const maxYamlBytes = 1024 * 1024

export interface YamlAsJson {
  json: string
  /** Some of its integers are no doubles. */
  hasLongIntegers: boolean
  /** `line 3: key "a" already set in map`, in the order of the lines. */
  repeatedKeys: readonly string[]
}

/** Can be passed between threads. `fault`: in upstream's words. */
export type YamlOutcome = YamlAsJson | { fault: string } | { isTooLong: true }

export function convertYaml(bytes: Uint8Array): YamlOutcome {
  if (bytes.length > maxYamlBytes) return { isTooLong: true }
  try {
    return converted(bytes)
  } catch (error) {
    if (error instanceof YamlFault) return { fault: error.message }
    if (error instanceof YamlTooLong) return { isTooLong: true }
    throw error
  }
}

class YamlFault extends Error {}
class YamlTooLong extends Error {}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

function converted(bytes: Uint8Array): YamlAsJson {
  const text = decoder.decode(bytes)
  const unreadable = characterFault(bytes, text)
  if (unreadable !== undefined) throw new YamlFault(`yaml: ${unreadable}`)
  if (text.length > maxDepth && nestsTooDeeply(text)) throw new YamlFault(tooDeep)
  const lines = new LineCounter()
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
  if (document === undefined || !("errors" in document))
    return { json: "null", hasLongIntegers: false, repeatedKeys: [] }
  const [error] = (document as Document).errors
  if (error !== undefined) throw new YamlFault(yamlWords(text, error))
  return { ...toJson(document as Document), repeatedKeys: repeatedKeys(document as Document, lines) }
}

const otherTags = /^tag:yaml.org,2002:(?:timestamp|binary|omap|pairs|set)$/

function customTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || (!otherTags.test(tag.tag) && !("format" in tag && tag.format === "TIME")),
  )
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

function toJson(document: Document): Omit<YamlAsJson, "repeatedKeys"> {
  let depth = 0
  let hasLongIntegers = false
  const aliases = new Aliases((detail) => new YamlFault(`yaml: ${detail}`))
  visit(document, (_, node, ancestors) => {
    depth = Math.max(depth, ancestors.length)
    if (isNode(node)) aliases.meet(node, ancestors)
    if (isScalar(node) && typeof node.value === "number") {
      node.value = exactNumber(node.value, node.source ?? "")
      hasLongIntegers ||= typeof node.value === "bigint"
    }
    const unusable = isMap(node) ? keyFault(node) : undefined
    if (unusable !== undefined) throw new YamlFault(unusable)
  })
  // Each level of a map is a pair and a map among the ancestors.
  if (depth / 2 > maxDepth) throw new YamlFault(tooDeep)
  const expanded = aliases.check(document)
  if (expanded.bytes > maxYamlBytes) throw new YamlTooLong()
  if (expanded.depth > maxDepth) throw new YamlFault(tooDeep)
  try {
    // Text makes keys texts and gives aliases values of their own.
    return { json: JSON.stringify(document.toJS({ maxAliasCount: -1, mapAsMap: false })) ?? "null", hasLongIntegers }
  } catch (error) {
    const detail = errorMessage(error)
    const isMerge = detail.startsWith("Merge sources")
    throw new YamlFault(`yaml: ${isMerge ? "map merge requires map or sequence of maps as the value" : detail}`)
  }
}

/** What is too large for a double is a text. */
function exactNumber(value: number, source: string): unknown {
  if (Number.isSafeInteger(value)) return value
  if (Number.isFinite(value)) return exactInteger(source) ?? unsignedInteger(source) ?? value
  if (/\d/.test(source)) return source
  throw new YamlFault(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`)
}
