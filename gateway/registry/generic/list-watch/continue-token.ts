// Continue tokens of paged lists: the revision of all pages, and the last key of the previous page. Opaque to clients; the text is
// in upstream's format (base64url of JSON) with one more field, so that its tools can read it. Source: k8s.io/apiserver/pkg/storage/continue.go.

import { textOfBytes } from "../../../../apimachinery/go/text.ts"
import { badRequest, type StatusError } from "../../../../apimachinery/status.ts"
import { scanJson } from "../../../../apimachinery/schema/json/scan.ts"

export interface ContinueToken {
  /** Undefined: continue at the latest revision, with pages that are inconsistent (the token that a 410 offers). */
  revision: number | undefined
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
  const { v = "", rv = 0, start = "", remaining } = fieldsOf(text)
  if (typeof v !== "string") throw wrongType(v, "v", "string")
  if (typeof rv !== "number" || !Number.isSafeInteger(rv)) throw wrongType(rv, "rv", "int64")
  if (typeof start !== "string") throw wrongType(start, "start", "string")
  if (v !== version) throw invalidToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw invalidToken(`incorrect encoded start resourceVersion (version ${v})`)
  if (start === "") throw invalidToken(`encoded start key empty (version ${v})`)
  const key = start.startsWith("/") ? start.slice(1) : start
  if (!isClean(key)) throw invalidToken(start)
  const after = key.endsWith("\0") ? key.slice(0, -1) : key
  if (rv < 0) return { revision: undefined, after }
  return { revision: rv, after, remaining: isCount(remaining) ? remaining : undefined }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function fieldsOf(text: string): { v?: unknown; rv?: unknown; start?: unknown; remaining?: unknown } {
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
  const token: unknown = JSON.parse(json)
  if (token === null) return {}
  if (typeof token !== "object" || Array.isArray(token)) {
    throw invalidToken(`json: cannot unmarshal ${goTypeOf(token)} into Go value of type storage.continueToken`)
  }
  return token
}

function isClean(key: string): boolean {
  return key.split("/").every((step) => step !== "" && step !== "." && step !== "..")
}

function wrongType(value: unknown, field: string, type: string): StatusError {
  return invalidToken(
    `json: cannot unmarshal ${goTypeOf(value)} into Go struct field continueToken.${field} of type ${type}`,
  )
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "array"
  return typeof value === "boolean" ? "bool" : typeof value
}

function invalidToken(detail: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${detail}`)
}
