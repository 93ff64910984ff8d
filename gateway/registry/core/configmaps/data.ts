// Keys and size of what ConfigMaps and Secrets carry.

import { type FieldError, type FieldPath, tooLong } from "../../../../apimachinery/field-errors.ts"
import { atOnce, mostAtOnce, type Steps } from "../../../../apimachinery/steps.ts"
import { configKeyRule, messages } from "../../validation/values.ts"

/** Bytes, all values together. */
const maxBytes = 1024 * 1024

export function validateDataKeys(path: FieldPath, keys: readonly string[]): FieldError[] {
  return atOnce(validatingDataKeys(path, keys))
}

/** The same in steps. `rule`: what is wrong with a key. */
export function* validatingDataKeys(
  path: FieldPath,
  keys: readonly string[],
  rule = configKeyRule,
): Steps<FieldError[]> {
  const faulty: string[] = []
  for (const [index, key] of keys.entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    if (rule(key).length > 0) faulty.push(key)
  }
  return faulty.sort().flatMap((key) => messages(path.key(key), key, rule(key)))
}

export function tooMuch(path: FieldPath, bytes: number): FieldError[] {
  return bytes > maxBytes ? [tooLong(path, "", maxBytes)] : []
}
