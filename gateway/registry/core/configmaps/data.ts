// Keys and size of what ConfigMaps and Secrets carry.

import { type FieldError, type FieldPath, tooLong } from "../../../../apimachinery/field-errors.ts"
import { configKeyRule, messages } from "../../validation/values.ts"

/** Bytes, all values together. */
const maxBytes = 1024 * 1024

/** `rule`: what is wrong with a key. */
export function validateDataKeys(path: FieldPath, keys: readonly string[], rule = configKeyRule): FieldError[] {
  const faulty = keys.filter((key) => rule(key).length > 0)
  return faulty.sort().flatMap((key) => messages(path.key(key), key, rule(key)))
}

export function tooMuch(path: FieldPath, bytes: number): FieldError[] {
  return bytes > maxBytes ? [tooLong(path, "", maxBytes)] : []
}
