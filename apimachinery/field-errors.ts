// Errors of fields, with upstream's messages. Source: k8s.io/apimachinery/pkg/util/validation/field.

import { fitForHtml, printGoNumber } from "./go/print.ts"
import { goQuote } from "./go/quote.ts"
import { withoutBytes } from "./go/text.ts"
import { countFault, countPath } from "./validation-budget.ts"

type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "InternalError"
  | "FieldValueTypeInvalid"

const words: Record<FieldErrorType, string> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  InternalError: "Internal error",
  FieldValueTypeInvalid: "Invalid value",
}

/**
 * A path in an object: `spec.containers[0].name`, `metadata.labels[a/b]`. Immutable; methods return the children. Most paths are of valid
 * values and never printed, so the text is made on request.
 */
export class FieldPath {
  readonly #parent: FieldPath | undefined
  readonly #name: string | number
  /** An item of a list or an entry of a map. */
  readonly #inBrackets: boolean

  private constructor(parent: FieldPath | undefined, name: string | number, inBrackets: boolean) {
    countPath()
    this.#parent = parent
    this.#name = name
    this.#inBrackets = inBrackets
  }

  static root(...names: string[]): FieldPath {
    // Upstream's text for the whole object.
    return new FieldPath(undefined, names.length === 1 && names[0] === "" ? "[]" : names.join("."), false)
  }

  child(...names: string[]): FieldPath {
    return new FieldPath(this, names.length === 1 ? (names[0] ?? "") : names.join("."), false)
  }

  index(index: number): FieldPath {
    return new FieldPath(this, index, true)
  }

  key(key: string): FieldPath {
    return new FieldPath(this, key, true)
  }

  get parent(): FieldPath | undefined {
    return this.#parent
  }

  /** What it adds to its parent; names that were given together are one. */
  get step(): { readonly name: string; readonly inBrackets: boolean } {
    return { name: String(this.#name), inBrackets: this.#inBrackets }
  }

  toString(): string {
    return FieldPath.#textOf(this)
  }

  static #textOf(path: FieldPath): string {
    let text = ""
    let separator = ""
    for (let at: FieldPath | undefined = path; at !== undefined; at = at.#parent) {
      if (at.#parent === undefined && at.#name === "") break
      text = at.#inBrackets ? `[${at.#name}]${separator}${text}` : `${at.#name}${separator}${text}`
      separator = at.#inBrackets ? "" : "."
    }
    return text
  }
}

/** The value of an error whose value must not be shown. */
export const omitted: unique symbol = Symbol("omitted")

/** One error. `message()` is the whole message, `body()` the part after the field, as in Status.details.causes. */
export class FieldError {
  readonly type: FieldErrorType
  readonly field: string
  readonly value: unknown
  readonly detail: string
  readonly #path: FieldPath | undefined

  constructor(type: FieldErrorType, field: FieldPath | string, value: unknown, detail: string) {
    this.type = type
    this.#path = typeof field === "string" ? undefined : field
    this.field = field.toString()
    this.value = value
    this.detail = detail
    countFault(this)
  }

  /** Of `field`, if it was given. */
  get path(): FieldPath | undefined {
    return this.#path
  }

  body(): string {
    const word = words[this.type]
    const shown =
      this.value === omitted ||
      this.type === "FieldValueRequired" ||
      this.type === "FieldValueForbidden" ||
      this.type === "FieldValueTooLong" ||
      this.type === "InternalError"
        ? word
        : `${word}: ${printValue(this.value)}`
    return this.detail === "" ? shown : `${shown}: ${this.detail}`
  }

  message(): string {
    return `${this.field}: ${this.body()}`
  }
}

function printValue(value: unknown): string {
  if (value === undefined || value === null) return "null"
  return typeof value === "string"
    ? goQuote(value)
    : typeof value === "object"
      ? fitForHtml(withoutBytes(JSON.stringify(value)))
      : typeof value === "number"
        ? printGoNumber(value)
        : String(value as boolean)
}

/** A text whose Go type is not string is printed as JSON. */
export const asJson = (text: unknown): unknown => (typeof text === "string" ? { toJSON: () => text } : text)

export const required = (field: FieldPath, detail = ""): FieldError =>
  new FieldError("FieldValueRequired", field, "", detail)
export const invalidValue = (field: FieldPath, value: unknown, detail: string): FieldError =>
  new FieldError("FieldValueInvalid", field, value, detail)
export const typeInvalid = (field: FieldPath, value: unknown, detail: string): FieldError =>
  new FieldError("FieldValueTypeInvalid", field, value, detail)
export const notFoundValue = (field: FieldPath, value: unknown): FieldError =>
  new FieldError("FieldValueNotFound", field, value, "")
/** A missing value is printed as an empty string. */
export const duplicate = (field: FieldPath, value: unknown = ""): FieldError =>
  new FieldError("FieldValueDuplicate", field, value, "")
/** The values in the given order; upstream sorts some lists (sets) and not others. For enumerations that have a type in Go. */
export const notSupported = (field: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  notSupportedText(field, asJson(value), supported)
/** For a field whose type is string upstream. */
export const notSupportedText = (field: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  new FieldError("FieldValueNotSupported", field, value, supportedValues(supported))
export const forbiddenField = (field: FieldPath, detail: string): FieldError =>
  new FieldError("FieldValueForbidden", field, "", detail)
export const internalFieldError = (field: FieldPath, detail: string): FieldError =>
  new FieldError("InternalError", field, "", detail)
export const tooLong = (field: FieldPath, value: unknown, max: number): FieldError =>
  new FieldError("FieldValueTooLong", field, value, max < 0 ? "value is too long" : mayNotBeMore(max))
export const tooMany = (field: FieldPath, actual: number, max: number): FieldError =>
  new FieldError("FieldValueTooMany", field, actual, `must have at most ${max} item${max === 1 ? "" : "s"}`)

/** The last list, which is a constant: a list of a client may have a million values that are not in it. */
let printedLast: { supported: readonly string[]; printed: string } | undefined

function supportedValues(supported: readonly string[]): string {
  if (supported.length === 0) return ""
  if (printedLast?.supported !== supported)
    printedLast = { supported, printed: `supported values: ${supported.map(goQuote).join(", ")}` }
  return printedLast.printed
}

function mayNotBeMore(bytes: number): string {
  return `may not be more than ${bytes} byte${bytes === 1 ? "" : "s"}`
}
