// Parses the body of a PATCH: the type of the patch and its contents. patch.ts applies it.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import { errorMessage } from "../../../apimachinery/error-message.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { parseObject } from "../../../apimachinery/schema/decode/decode.ts"
import { parseJson } from "../../../apimachinery/schema/exact-integers.ts"
import { scanJson, strictFaults } from "../../../apimachinery/schema/json/scan.ts"
import { maxDepth, survey } from "../../../apimachinery/schema/json/survey.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { firstOverflow, markOddNumbers, withoutMarks } from "../../../apimachinery/schema/json/number-literals.ts"
import { badRequest, StatusError, unsupportedMediaType } from "../../../apimachinery/status.ts"
import { between } from "../../../apimachinery/texts.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { trimSpaces } from "../accept.ts"
import { unroutedBody } from "../negotiation.ts"
import type { FieldValidation } from "../request-options.ts"

export type PatchType = "json" | "merge" | "strategic"

const patchTypes: Readonly<Record<string, PatchType | "apply">> = dictionary({
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
})

/** Strategic merge depends on metadata that only built-in kinds have. */
export function patchType(
  contentType: string | undefined,
  { customResource }: ResourceDefinition,
): PatchType | "apply" {
  const given = typeIn(contentType)
  const type = patchTypes[given]
  if ((type === "strategic" || type === undefined) && customResource !== undefined) {
    throw unsupportedMediaType(Object.keys(patchTypes).filter((name) => patchTypes[name] !== "strategic"))
  }
  if (type === undefined && isRouted(given)) throw unsupportedMediaType(Object.keys(patchTypes))
  if (type === undefined) throw unroutedBody()
  return type
}

/** Upstream's router has a look before it looks at what is accepted. */
export function checkPatchRoute(contentType: string | undefined): void {
  if (!isRouted(typeIn(contentType))) throw unroutedBody()
}

const typeIn = (contentType = ""): string => contentType.split(";")[0] ?? ""

/** The router accepts lists of types, although the handler does not. */
const isRouted = (given: string): boolean => given.split(",").some((one) => Object.hasOwn(patchTypes, trimSpaces(one)))

export interface PatchDocument {
  value: Json
  /** In a merge or JSON patch, odd numbers are marked (see number-literals.ts). */
  isMarked: boolean
  /** `duplicate field "metadata.labels.a"`; of a JSON patch also fields that operations do not have. */
  duplicates: readonly string[]
}

export function readPatch(bytes: Buffer, type: PatchType, validation: FieldValidation): PatchDocument {
  // The functions that traverse values are recursive.
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

/** `bytes`: the original text, for error messages. */
function parsePatch(
  text: Buffer,
  bytes: Buffer,
  type: PatchType,
  validation: FieldValidation,
): Omit<PatchDocument, "isMarked"> {
  try {
    // Other values are rejected when the patch is applied.
    if (type === "json" || bytes[0] !== 0x7b) {
      const value = operationsOf(parseJson(text), type)
      const isChecked = type === "json" && validation !== "Ignore" && Array.isArray(value)
      return { value, duplicates: isChecked ? faultsOfOperations(bytes.toString(), value) : [] }
    }
    return parseObject(text, "json", { duplicates: validation !== "Ignore", anyKind: true })
  } catch (error) {
    // Upstream has not parsed it before merging, and that error has no details.
    if (type === "merge" && validation === "Ignore") throw badRequest("Invalid JSON Patch", { cause: error })
    const detail = type === "json" && bytes[0] === 0x5b ? faultIn(bytes) : refusalOf(bytes)
    const shown = detail ?? errorMessage(error)
    throw badRequest(type === "strategic" ? shown : `error decoding patch: ${shown}`, { cause: error })
  }
}

/** Values that are not patches or operations are rejected later, by their type; they must then be numbers, not marks. */
function operationsOf(value: Json, type: PatchType): Json {
  if (!Array.isArray(value)) return withoutMarks(value)
  return type === "json" ? value.map((item) => (isObject(item) ? item : withoutMarks(item))) : value
}

const operationFields: ReadonlySet<string> = new Set(["op", "path", "from", "value"])

function faultsOfOperations(text: string, operations: readonly Json[]): string[] {
  const unknown = operations.flatMap((operation, index) =>
    isObject(operation)
      ? Object.keys(operation)
          .filter((name) => !operationFields.has(name))
          .map((name) => [index, name])
      : [],
  )
  return strictFaults(text, unknown).map((fault) => `json patch ${fault}`)
}

/** The error of Go's scanner, or undefined. */
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
