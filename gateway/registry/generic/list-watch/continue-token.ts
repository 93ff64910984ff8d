// Continue tokens of paged lists: the revision of all pages, and the last key of the previous page. Opaque to clients; the text is
// in upstream's format (base64url of JSON) with one more field, so that its tools can read it. Source: k8s.io/apiserver/pkg/storage/continue.go.

import { textOfBytes } from "../../../../apimachinery/go/text.ts"
import { badRequest, type StatusError } from "../../../../apimachinery/status.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { exactInteger } from "../../../../apimachinery/schema/exact-integers.ts"
import { scanJson } from "../../../../apimachinery/schema/json/scan.ts"

export interface ContinueToken {
  /** Undefined: continue at the latest revision, with pages that are inconsistent (the token that a 410 offers). */
  revision: number | undefined
  /** The revision in the client's words: a number may be less exact. */
  written?: string
  /** Relative to the prefix of the list: a namespace, or a whole resource. */
  after: string
  /** The number of items after that key at that revision, so that they need not be counted for each page. Undefined: not counted. */
  remaining?: number | undefined
}

const version = "meta.k8s.io/v1"
const maxDepth = 10

export function encodeContinue({ revision, after, remaining }: ContinueToken): string {
  const fields = { v: version, rv: revision ?? -1, start: `/${after}\0`, remaining }
  return Buffer.from(JSON.stringify(fields)).toString("base64url")
}

/** Throws BadRequest for an invalid token, or one that refers to keys outside the list. */
export function decodeContinue(text: string): ContinueToken {
  const { v = "", rv = 0n, start = "", remaining } = fieldsOf(text)
  if (v !== version) throw invalidToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0n) throw invalidToken(`incorrect encoded start resourceVersion (version ${v})`)
  if (start === "") throw invalidToken(`encoded start key empty (version ${v})`)
  const key = start.startsWith("/") ? start.slice(1) : start
  if (!isClean(key, start)) throw invalidToken(start)
  const after = key.endsWith("\0") ? key.slice(0, -1) : key
  if (rv < 0n) return { revision: undefined, after }
  return {
    revision: Number(rv),
    written: String(rv),
    after,
    remaining: isCount(remaining) ? Number(remaining) : undefined,
  }
}

const isCount = (value: bigint | undefined): boolean => value !== undefined && value > 0n && value <= maxCount

const maxCount = BigInt(Number.MAX_SAFE_INTEGER)

interface Fields {
  v?: string
  rv?: bigint
  start?: string
  remaining?: bigint
}

/** As Go decodes a struct: names in any case, null is nothing, the first value of a wrong type is the error. */
function fieldsOf(text: string): Fields {
  const fields: Fields = {}
  let fault: StatusError | undefined
  for (const [given, value] of entriesOf(jsonOf(text))) {
    const name = given.toLowerCase()
    if (value === null) continue
    const number = numberTextOf(value)
    if (name === "v" || name === "start") {
      if (typeof value === "string") fields[name] = value
      else fault ??= wrongType(goTypeOf(value), name, "string")
    } else if (name === "rv" || name === "remaining") {
      const integer = number === undefined ? undefined : integerOf(number)
      if (integer !== undefined) fields[name] = integer
      else if (name === "rv")
        fault ??= wrongType(number === undefined ? goTypeOf(value) : `number ${number}`, name, "int64")
    }
  }
  if (fault !== undefined) throw fault
  return fields
}

/** Numbers are as they are written, in JSON.rawJSON. */
function entriesOf(json: string): [string, unknown][] {
  const token: unknown = JSON.parse(json, (_, value, { source }) =>
    typeof value === "number" ? (JSON.rawJSON(source ?? String(value)) as Json) : value,
  )
  if (token === null) return []
  if (typeof token !== "object" || Array.isArray(token) || JSON.isRawJSON(token)) {
    throw invalidToken(`json: cannot unmarshal ${goTypeOf(token)} into Go value of type storage.continueToken`)
  }
  return Object.entries(token)
}

function numberTextOf(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? (value as { rawJSON: string }).rawJSON : undefined
}

/** Undefined: it is none of 64 bits. */
function integerOf(text: string): bigint | undefined {
  const value = exactInteger(text)
  return value === undefined ? undefined : BigInt(value)
}

function jsonOf(text: string): string {
  // Go's decoder ignores line breaks.
  const illegal = /[^\w\n\r-]/.exec(text)
  if (illegal !== null) throw invalidToken(`illegal base64 data at input byte ${illegal.index}`)
  const bare = text.replaceAll(/[\n\r]/g, "")
  if (bare.length % 4 === 1) throw invalidToken(`illegal base64 data at input byte ${text.length - 1}`)
  const bytes = Buffer.from(bare, "base64url")
  const json = bytes.toString()
  if (json.split(/[[{]/).length > maxDepth) throw invalidToken("exceeded max depth")
  try {
    scanJson(textOfBytes(bytes))
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidToken(error.message)
    throw error
  }
  return json
}

/** The start "/" alone is the beginning of the list. */
function isClean(key: string, start: string): boolean {
  return start === "/" || key.split("/").every((step) => step !== "" && step !== "." && step !== "..")
}

function wrongType(found: string, field: string, type: string): StatusError {
  return invalidToken(`json: cannot unmarshal ${found} into Go struct field continueToken.${field} of type ${type}`)
}

function goTypeOf(value: unknown): string {
  if (JSON.isRawJSON(value)) return "number"
  if (Array.isArray(value)) return "array"
  return typeof value === "boolean" ? "bool" : typeof value
}

function invalidToken(detail: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${detail}`)
}
