// Checks an object that a conversion webhook has returned: it must be the same object in the wanted version. In metadata a webhook
// can change only labels and annotations. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go.

import { aggregateMessage } from "../../../apimachinery/error-message.ts"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { goTypeOf } from "../../../apimachinery/go/print.ts"
import { validateAnnotations, validateLabels } from "../../../apimachinery/object-meta.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { unexplained } from "../../../apimachinery/status.ts"

/**
 * Returns the object with the server's part of the metadata, and its labels and annotations even if there are none in them. Takes
 * ownership of `given`. `about`: the conversion. Error messages are those of a single object: upstream converts the objects of a list one
 * by one.
 */
export function checkConverted(original: KubeObject, given: Json, wanted: string, about: string): KubeObject {
  const invalid = `${about} returned invalid`
  const fault = formFault(given)
  if (fault !== undefined) throw unexplained(fault)
  const converted = given as JsonObject
  const version = typeof converted["apiVersion"] === "string" ? converted["apiVersion"] : ""
  if (version !== wanted) {
    const received = version.split("/").length > 2 ? "" : version
    throw unexplained(`${invalid} object at index 0: invalid groupVersion (expected ${wanted}, received ${received})`)
  }
  if (converted["kind"] !== original.kind) {
    const received = converted["kind"] as string
    throw unexplained(`${invalid} object at index 0: invalid kind (expected ${original.kind}, received ${received})`)
  }
  const [own, kept] = [converted["metadata"], original.metadata as Json | undefined].map((metadata) =>
    isObject(metadata) ? metadata : {},
  ) as [JsonObject, JsonObject]
  for (const [field, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [before, after] = [kept[field], own[field]].map((text) => (typeof text === "string" ? text : ""))
    if (before !== after) throw unexplained(`${invalid} object: must have the same ${name}: ${before} != ${after}`)
  }
  checkMetadata(converted["metadata"], `${invalid} metadata: `)
  return {
    ...converted,
    metadata: restored(original.metadata as Json | undefined, own, `${invalid} metadata: `),
  } as unknown as KubeObject
}

/** Why it is not an object with a kind. */
function formFault(given: Json): string | undefined {
  if (given === null) return "unexpected end of JSON input"
  if (!isObject(given)) {
    const type = Array.isArray(given) ? "array" : typeof given === "boolean" ? "bool" : typeof given
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`
  }
  const { kind } = given
  return typeof kind === "string" && kind !== "" ? undefined : `Object 'Kind' is missing in '${JSON.stringify(given)}'`
}

function checkMetadata(metadata: Json | undefined, at: string): void {
  if (metadata === undefined) throw unexplained(`${at}missing metadata in converted object`)
  if (!isObject(metadata)) throw unexplained(`${at}invalid metadata of type ${goTypeOf(metadata)} in converted object`)
}

/** `original`: of any type if admission has patched it. */
function restored(original: Json | undefined = {}, given: JsonObject, at: string): JsonObject {
  if (!isObject(original)) throw unexplained(`${at}invalid metadata of type ${goTypeOf(original)} in input object`)
  const { labels = null, annotations = null, ...kept } = original
  const metadata: JsonObject = structuredClone(kept)
  for (const [field, before] of [
    ["labels", labels],
    ["annotations", annotations],
  ] as const) {
    const texts = given[field] ?? null
    if (texts === null) continue
    const fault =
      faultOfType(field, texts) ??
      faultOfOriginal(field, before) ??
      faultOfTexts(field, texts as JsonObject) ??
      faultOfChange(field, texts as Record<string, string>, (before ?? {}) as Record<string, string>)
    if (fault !== undefined) throw unexplained(`${at}${fault}`)
    metadata[field] = texts
  }
  return metadata
}

function faultOfType(field: "labels" | "annotations", texts: Json): string | undefined {
  return isObject(texts) ? undefined : `invalid metadata.${field} of type ${goTypeOf(texts)} in converted object`
}

function faultOfTexts(field: "labels" | "annotations", texts: JsonObject): string | undefined {
  const odd = Object.entries(texts).find(([, value]) => typeof value !== "string")
  if (odd === undefined) return undefined
  return `metadata.${field}[${odd[0]}] must be a string, but is ${goTypeOf(odd[1])} in converted object`
}

function faultOfOriginal(field: "labels" | "annotations", texts: Json): string | undefined {
  const isFit = texts === null || isObject(texts)
  return isFit ? undefined : `invalid metadata.${field} of type ${goTypeOf(texts)} in original object`
}

/** Unchanged ones may have been valid before. */
function faultOfChange(
  field: "labels" | "annotations",
  texts: Record<string, string>,
  before: Record<string, string>,
): string | undefined {
  const names = Object.keys(texts)
  const isSame = names.length === Object.keys(before).length && names.every((name) => texts[name] === before[name])
  if (isSame) return undefined
  const errors =
    field === "labels"
      ? validateLabels(texts, FieldPath.root("metadata", "labels"))
      : validateAnnotations(texts, FieldPath.root("metadata", "annotation")) // upstream's name of the field
  return errors.length === 0 ? undefined : aggregateMessage(errors.map((error) => error.message()))
}
