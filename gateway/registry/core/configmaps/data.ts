// Keys and size of what ConfigMaps and Secrets carry.

import { type FieldError, type FieldPath, tooLong } from "../../../../apimachinery/field-errors.ts"
import { configKeyRule, messages } from "../../validation/values.ts"

/** Bytes, all values together. */
const maxBytes = 1024 * 1024

export function validateDataKeys(path: FieldPath, values: object): FieldError[] {
  return Object.keys(values)
    .sort()
    .flatMap((key) => messages(path.key(key), key, configKeyRule(key)))
}

export function tooMuch(path: FieldPath, bytes: number): FieldError[] {
  return bytes > maxBytes ? [tooLong(path, "", maxBytes)] : []
}
