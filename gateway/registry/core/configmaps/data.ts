// Keys and size of what ConfigMaps and Secrets carry.

import { type FieldError, type FieldPath, tooLong } from "../../../../apimachinery/field-errors.ts"
import { configKeyRule, messages } from "../../validation/values.ts"

/** Bytes, all values together. */
const maxBytes = 1024 * 1024

/** `rule`: what is wrong with a key. */
export function validateDataKeys(path: FieldPath, keys: readonly string[], rule = configKeyRule): FieldError[] {
  const errors: FieldError[] = []
  for (const key of keys.toSorted()) {
    const faults = rule(key)
    if (faults.length > 0) errors.push(...messages(path.key(key), key, faults))
  }
  return errors
}

export function tooMuch(path: FieldPath, bytes: number): FieldError[] {
  return bytes > maxBytes ? [tooLong(path, "", maxBytes)] : []
}
