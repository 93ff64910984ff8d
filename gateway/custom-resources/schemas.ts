// The compiled schemas of a definition's versions, and what they make of objects that were written under another one.

import { copyJson } from "../../apimachinery/copy.ts"
import { equalJson } from "../../apimachinery/equality.ts"
import { type Json, type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts"
import { isObject, ownValue } from "../../apimachinery/schema/json-object.ts"
import { repairEmbedded } from "../../apimachinery/schema/decode/custom.ts"
import { applyDefaults, dropNulls } from "../../apimachinery/schema/defaults.ts"
import { prune } from "../../apimachinery/schema/prune.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { pruneDefaults } from "../../apimachinery/schema/structural/prune-defaults.ts"
import { compileValid } from "../../apimachinery/schema/structural/structural.ts"
import type { CustomResourceVersion, Definition } from "./types.ts"

/** Compiled on first use: a control plane that wakes up need not compile schemas that are not used. */
export function schemaOf(version: CustomResourceVersion): () => Schema {
  let compiled: Schema | undefined
  return () => (compiled ??= compileSchema(version))
}

export function compileSchema(version: CustomResourceVersion): Schema {
  const schema = compileValid(version.schema?.openAPIV3Schema ?? { type: "object" })
  pruneDefaults(schema)
  return schema
}

/** Whether two schemas differ in no more than descriptions. */
export function haveSameTypes(a: Json = null, b: Json = null): boolean {
  if (!isObject(a) || !isObject(b)) return equalJson(a, b)
  return Object.keys({ ...a, ...b }).every((name) => {
    const [left, right] = [ownValue(a, name), ownValue(b, name)]
    // A field of that name is an object.
    return (name === "description" && !isObject(left) && !isObject(right)) || haveSameTypes(left, right)
  })
}

/**
 * Objects that were written under an earlier schema get the defaults of their stored version and lose unknown fields when they are
 * read. Source: crConversionRESTOptionsGetter in k8s.io/apiextensions-apiserver/pkg/apiserver.
 */
export function agedReader(
  { spec }: Definition,
  version: CustomResourceVersion,
  schema: () => Schema,
): (object: KubeObject) => KubeObject {
  const schemas = new Map<string, Schema>()
  const schemaOf = (name: string): Schema => {
    const source = spec?.versions?.find((each) => each.name === name)
    const found =
      name === version.name || source === undefined ? schema() : (schemas.get(name) ?? compileSchema(source))
    schemas.set(name, found)
    return found
  }
  return (object) => {
    const written = parseGroupVersion(object.apiVersion ?? "").version
    const from = schemaOf(written)
    const copy = copyJson(object)
    const whole = copy as unknown as Json
    prune(from, whole)
    repairEmbedded(from, whole)
    applyDefaults(from, whole)
    if (written !== version.name) {
      prune(schema(), whole)
      dropNulls(schema(), whole)
    }
    return equalJson(copy, object) ? object : copy
  }
}

/**
 * Versions differ in apiVersion only, but stored objects contain only fields of the stored version's schema. Source:
 * schemaCoercingConverter in k8s.io/apiextensions-apiserver/pkg/apiserver.
 */
export function pruneTo(stored: Schema, object: KubeObject): KubeObject {
  prune(stored, object as unknown as Json)
  dropNulls(stored, object as unknown as Json)
  return object
}
