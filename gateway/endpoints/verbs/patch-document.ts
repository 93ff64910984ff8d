// The body of a PATCH: which type of patch it is, and what it holds. What is done with it: patch.ts.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import { errorMessage } from "../../../apimachinery/error-message.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { parseObject } from "../../../apimachinery/schema/decode.ts"
import { parseJson } from "../../../apimachinery/schema/exact-integers.ts"
import { scanJson } from "../../../apimachinery/schema/json-scan.ts"
import { maxDepth, survey } from "../../../apimachinery/schema/json-survey.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { firstOverflow, markOddNumbers, withoutMarks } from "../../../apimachinery/schema/number-literals.ts"
import { badRequest, StatusError, unsupportedMediaType } from "../../../apimachinery/status.ts"
import { between } from "../../../apimachinery/texts.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { FieldValidation } from "../request-options.ts"

export type PatchType = "json" | "merge" | "strategic"

const patchTypes: Readonly<Record<string, PatchType | "apply">> = dictionary({
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
})

/** Strategic merge needs what only built-in kinds have. */
export function patchType(
  contentType: string | undefined,
  { customResource }: ResourceDefinition,
): PatchType | "apply" {
  const [given = ""] = (contentType ?? "").split(";")
  const type = patchTypes[given]
  if ((type === "strategic" || type === undefined) && customResource !== undefined) {
    throw unsupportedMediaType(Object.keys(patchTypes).filter((name) => patchTypes[name] !== "strategic"))
  }
  // The router knows it, in what it takes for a list of types.
  const isRouted = type === undefined && given.split(",").some((one) => Object.hasOwn(patchTypes, one.trim()))
  if (isRouted) throw unsupportedMediaType(Object.keys(patchTypes))
  if (type === undefined) {
    throw new StatusError({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "415: Unsupported Media Type",
      reason: "UnsupportedMediaType",
      details: {},
      code: 415,
    })
  }
  return type
}

export interface PatchDocument {
  value: Json
  /** Of a merge or a JSON patch: numbers are (see number-literals.ts). */
  isMarked: boolean
  /** `duplicate field "metadata.labels.a"` */
  duplicates: readonly string[]
}

export function readPatch(bytes: Buffer, type: PatchType, validation: FieldValidation): PatchDocument {
  // What walks values is recursive.
  const { depth, oddNumbers } = survey(bytes)
  if (depth > maxDepth) throw badRequest("error decoding patch: exceeded max depth")
  const isMarked = oddNumbers && type !== "strategic"
  const text = isMarked ? Buffer.from(markOddNumbers(bytes.toString())) : bytes
  const document = { ...parsePatch(text, bytes, type, validation), isMarked }
  const overflow = oddNumbers ? firstOverflow(bytes.toString()) : undefined
  if (overflow === undefined) return document
  const at = type === "json" ? "struct field jsonPatchOp.value" : "value"
  const fault = `json: cannot unmarshal number ${overflow} into Go ${at} of type float64`
  throw badRequest(type === "strategic" ? fault : `error decoding patch: ${fault}`)
}

/** `bytes`: as they came, for what is said of them. */
function parsePatch(
  text: Buffer,
  bytes: Buffer,
  type: PatchType,
  validation: FieldValidation,
): Omit<PatchDocument, "isMarked"> {
  try {
    // Only an object is looked at for keys given twice; what is none is said by whoever applies it.
    if (type === "json" || bytes[0] !== 0x7b) return { value: operationsOf(parseJson(text), type), duplicates: [] }
    return parseObject(text, "json", { duplicates: validation !== "Ignore", anyKind: true })
  } catch (error) {
    // Nobody has read it before it is merged, and that says no more.
    if (type === "merge" && validation === "Ignore") throw badRequest("Invalid JSON Patch", { cause: error })
    const detail = type === "json" && bytes[0] === 0x5b ? faultIn(bytes) : refusalOf(bytes)
    const shown = detail ?? errorMessage(error)
    throw badRequest(type === "strategic" ? shown : `error decoding patch: ${shown}`, { cause: error })
  }
}

/** What is no patch is said to be of its type by whoever applies it, and so is what is no operation: a number, not its mark. */
function operationsOf(value: Json, type: PatchType): Json {
  if (!Array.isArray(value)) return withoutMarks(value)
  return type === "json" ? value.map((item) => (isObject(item) ? item : withoutMarks(item))) : value
}

/** What Go's scanner says of it; undefined: nothing. */
function faultIn(bytes: Buffer): string | undefined {
  try {
    scanJson(bytes.toString())
    return undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message
  }
}

function refusalOf(bytes: Buffer): string | undefined {
  try {
    parseObject(bytes, "json", { duplicates: false })
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return between(error.message, "json parse error: ", " (")
  }
}
