// ConfigMaps. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { type FieldError, FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { ConfigMap } from "../../../../apimachinery/object.ts"
import { hasGivenNullBytes, isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { atOnce, mostAtOnce, type Steps } from "../../../../apimachinery/steps.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { configKeyRule } from "../../validation/values.ts"
import { tooMuch, validatingDataKeys } from "./data.ts"

const immutableSet = "field is immutable when `immutable` is set"

const strategy: Strategy<ConfigMap> = {
  generation: false,

  validating: (_ctx, map) => validatingConfigMap(map),

  validateUpdate(_ctx, map, current) {
    const errors: FieldError[] = []
    if (current.immutable === true) {
      if (map.immutable !== true) errors.push(forbiddenField(FieldPath.root("immutable"), immutableSet))
      for (const field of ["data", "binaryData"] as const) {
        // To upstream, bytes that are given as none are others than none, and null other bytes than empty ones, as which it has been read.
        const isGiven = field === "binaryData" && (isGivenEmpty(map, field) || hasGivenNullBytes(map[field]))
        if (isGiven || !semanticEqual(map[field], current[field]))
          errors.push(forbiddenField(FieldPath.root(field), immutableSet))
      }
    }
    return [...errors, ...atOnce(validatingConfigMap(map))]
  },
}

export const configMaps: KindExtension = { strategy }

function* validatingConfigMap(map: ConfigMap): Steps<FieldError[]> {
  const texts = (map.data ?? {}) as Record<string, string>
  const binaries = (map.binaryData ?? {}) as Record<string, string>
  const [textKeys, binaryKeys] = [Object.keys(texts), Object.keys(binaries)]
  const ruleBesideBinaries = (key: string): readonly string[] =>
    Object.hasOwn(binaries, key)
      ? [...configKeyRule(key), "duplicate of key present in binaryData"]
      : configKeyRule(key)
  const ruleOfText = binaryKeys.length > 0 ? ruleBesideBinaries : configKeyRule
  let bytes = 0
  for (const [index, key] of textKeys.entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    bytes += Buffer.byteLength(texts[key] ?? "")
  }
  for (const key of binaryKeys) bytes += Buffer.byteLength(binaries[key] ?? "", "base64")
  return [
    ...(yield* validatingDataKeys(FieldPath.root("data"), textKeys, ruleOfText)),
    ...(yield* validatingDataKeys(FieldPath.root("binaryData"), binaryKeys)),
    ...tooMuch(FieldPath.root(""), bytes), // the field is the object as a whole
  ]
}
