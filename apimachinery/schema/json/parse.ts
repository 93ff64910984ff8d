// Parses the bytes of a request to a JSON value, with upstream's errors for invalid bytes. Next: decode.ts.

import { errorMessage } from "../../error-message.ts"
import type { Json } from "../../object.ts"
import { badRequest, requestEntityTooLarge, StatusError } from "../../status.ts"
import { atOnce, type Steps } from "../../steps.ts"
import { parseExactly, parseJson } from "../exact-integers.ts"
import { what } from "../decode/errors.ts"
import { type JsonObject, setOwn, ownValue } from "../json-object.ts"
import { isOtherInYaml } from "./other-in-yaml.ts"
import { parsingPieces } from "./pieces.ts"
import { scanJson } from "./scan.ts"
import { countKeys, maxDepth, openingAt, survey, tooDeep } from "./survey.ts"
import { asOfYaml } from "./number-literals.ts"
import { noteOddNumbers } from "./odd-numbers.ts"
import { convertYaml, maxYamlBytes, type YamlOutcome } from "../yaml/convert.ts"

/** Maximum number of bytes in which the first character of a text is looked for. */
const maxBlank = 1024
/** Maximum number of bytes quoted in an error message. */
const quotedBytes = 30

interface ParseOptions {
  /** Whether to report duplicate keys; the last one wins in any case. */
  duplicates: boolean
  /** Accepts any kind: the caller checks it. */
  anyKind?: boolean
  /** The kind expected by the path, for messages. */
  kind?: string
  /** The YAML parser's result for these bytes, if it has already run. */
  converted?: YamlOutcome | undefined
  /** The result of {@link yamlAsJson}, which is used. */
  json?: Parsed | undefined
}

export interface Parsed {
  value: Json
  /** Errors of strict decoding such as `duplicate field "metadata.name"`. */
  duplicates: string[]
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export const textOfJson = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Any JSON value. Throws a SyntaxError in Go's words. */
export function parseValue(bytes: Buffer): Json {
  if (survey(bytes).depth > maxDepth) throw new SyntaxError(depthFault(bytes))
  try {
    return parseJson(bytes)
  } catch (error) {
    throw new SyntaxError(explain(textOfJson(bytes), error), { cause: error })
  }
}

const depthFault = (bytes: Uint8Array): string => `invalid character '${openingAt(bytes, maxDepth + 1)}' ${tooDeep}`

/** {@link parsing}, at once. */
export function parseObject(bytes: Uint8Array, mediaType: "json" | "yaml", options: ParseOptions): Parsed {
  return atOnce(parsing(bytes, mediaType, options))
}

/** Invalid UTF-8 becomes U+FFFD, as in Go. null is taken for an empty object; anything else but an object is an error. */
export function* parsing(bytes: Uint8Array, mediaType: "json" | "yaml", options: ParseOptions): Steps<Parsed> {
  const parsed = mediaType === "json" ? yield* parsingJson(bytes, options) : yield* parsingYaml(bytes, options)
  const { value } = parsed
  if (value === null) return { ...parsed, value: {} }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw unrecognized(bytes, options, noObject(value))
  }
  const fault = options.anyKind === true ? undefined : typeFault(value)
  if (fault !== undefined) throw unrecognized(bytes, options, fault)
  return parsed
}

/**
 * Why the type of an object cannot be determined: apiVersion or kind is not a string, or apiVersion has more than a group and a
 * version.
 */
export function typeFault(value: { [key: string]: Json }): string | undefined {
  for (const field of ["apiVersion", "kind"]) {
    const given = ownValue(value, field)
    if (given === undefined || given === null || typeof given === "string") continue
    return `${typeError}json: cannot unmarshal ${what(given)} into Go struct field .${field} of type string`
  }
  const { apiVersion } = value
  if (typeof apiVersion !== "string" || apiVersion.split("/").length <= 2) return undefined
  return `unexpected GroupVersion string: ${apiVersion}`
}

const typeError = "couldn't get version/kind; json parse error: "
const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** The error for a value that is not an object. */
export function noObject(value: Json): string {
  return `${typeError}json: cannot unmarshal ${what(value)} into Go value of type ${typeMeta}`
}

/** Whether upstream takes the text for JSON, rather than for YAML. */
export function isJsonText(bytes: Buffer): boolean {
  return /^[\t\n\v\f\r \u0085\u00a0]*\{/.test(bytes.subarray(0, maxBlank).toString())
}

/** 400 with upstream's message for bytes that are not an object. The detail alone is the message of the cause. */
export function unrecognized(bytes: Uint8Array, { kind }: Pick<ParseOptions, "kind">, detail: string): Error {
  const expected = kind === undefined ? "" : ` (must be of type ${kind})`
  const message = `the object provided is unrecognized${expected}: ${detail} (${quoteBytes(bytes)})`
  return badRequest(message, { cause: new SyntaxError(detail) })
}

/** The beginning of the body as shown by upstream: text if it looks like JSON, hexadecimal otherwise. */
function quoteBytes(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>"
  const start = Buffer.from(bytes.subarray(0, quotedBytes))
  const shown = start.toString(start[0] === openBrace ? "utf8" : "hex")
  return bytes.length > quotedBytes ? `${shown} ...` : shown
}

function* parsingJson(bytes: Uint8Array, options: ParseOptions): Steps<Parsed> {
  const { depth, keys, oddNumbers: mayBeOdd } = survey(bytes)
  if (depth > maxDepth) throw unrecognized(bytes, options, typeError + depthFault(bytes))
  const text = textOfJson(bytes)
  yield
  let value: Json
  let found: number | undefined
  try {
    if (mayBeOdd) value = parseExactly(text)
    else ({ value, keys: found } = yield* parsingPieces(text))
  } catch (error) {
    throw unrecognized(bytes, options, typeError + explain(text, error))
  }
  if (text.includes("\\ud") || text.includes("\\uD")) value = wellFormed(value)
  yield
  const mayRepeat = options.duplicates && keys !== (found ?? countKeys(value))
  if (!mayRepeat && !mayBeOdd) return { value, duplicates: [] }
  yield
  const scan = scanJson(text)
  noteOddNumbers(value, scan.oddNumbers)
  return { value, duplicates: options.duplicates ? scan.duplicates : [] }
}

/** An unpaired surrogate can only be written as an escape, and becomes U+FFFD as in Go. */
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

function* parsingYaml(bytes: Uint8Array, options: ParseOptions): Steps<Parsed> {
  const json = options.json ?? (yield* yamlAsJson(bytes, options))
  if (json !== undefined) return json
  const outcome = options.converted ?? convertYaml(bytes)
  if ("isTooLong" in outcome) throw yamlTooLong()
  if ("fault" in outcome) {
    const isJsons = outcome.fault === tooDeep
    throw unrecognized(bytes, options, `${isJsons ? typeError : ""}${outcome.fault}`)
  }
  const value = parseExactly(outcome.json)
  if (outcome.hasLongIntegers) noteOddNumbers(value, scanJson(outcome.json).oddNumbers)
  const faults = options.duplicates ? outcome.repeatedKeys : []
  return {
    value,
    duplicates: faults.length === 0 ? [] : [`${unmarshalErrors}${faults.map((fault) => `\n  ${fault}`).join("")}`],
  }
}

const openBrace = 0x7b

function yamlTooLong(): StatusError {
  return requestEntityTooLarge(`Request entity too large: limit is ${maxYamlBytes} for YAML that is no JSON`)
}

/** The first line of the error that combines all problems with the keys of a YAML text; each following line is a warning. */
export const unmarshalErrors = "yaml: unmarshal errors:"

/** JSON is YAML, and is parsed many times faster. Undefined if it is not JSON, or if it needs the YAML parser's errors. */
export function* yamlAsJson(bytes: Uint8Array, options: ParseOptions): Steps<Parsed | undefined> {
  if (bytes[0] !== openBrace || isOtherInYaml(bytes)) return undefined
  try {
    const { value, duplicates } = yield* parsingJson(bytes, options)
    return duplicates.length === 0 ? { value: asOfYaml(value), duplicates } : undefined
  } catch (error) {
    if (!(error instanceof StatusError) || error.message.includes(tooDeep)) throw error
    return undefined
  }
}
