// Validates the versions of a CustomResourceDefinition. Upstream stores and reports parts that all versions share only once: their
// errors have the field names of v1beta1, spec.validation, spec.subresources, …. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/{v1/conversion.go,validation}.

import { asJson, type FieldError, type FieldPath, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label } from "../../../apimachinery/names.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { checkingRules } from "../../../apimachinery/cel/rules/definition.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { formFault } from "../../../apimachinery/schema/structural/form-fault.ts"
import { givenFields, printSchema } from "../../../apimachinery/schema/structural/print-schema.ts"
import { compilingStructural } from "../../../apimachinery/schema/structural/structural.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import { messages, together } from "../../registry/validation/values.ts"
import type { CustomResourceVersion, PrinterColumn } from "../types.ts"
import { validateSelectable } from "./validate-selectable.ts"

const columnTypes = ["boolean", "date", "integer", "number", "string"]
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"]

export type Part = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields"
const parts: readonly Part[] = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"]

/** `lacking`: versions without a schema; `own`: errors of single versions; `common`: errors of parts that all versions share. */
export function* validatingVersions(
  at: FieldPath,
  versions: readonly CustomResourceVersion[],
): Steps<{ lacking: FieldError[]; own: FieldError[]; common: FieldError[] }> {
  const [first] = versions
  const common = commonParts(versions)
  const single = parts.filter((part) => !common.includes(part))
  const lacking = versions.flatMap((version, index) =>
    version.schema?.openAPIV3Schema === undefined
      ? [required(at.child("versions").index(index).child("schema", "openAPIV3Schema"))]
      : [],
  )
  const own: FieldError[] = []
  for (const [index, version] of versions.entries()) {
    const place = at.child("versions").index(index)
    own.push(...together(place.child("name"), version.name ?? "", validateDNS1035Label(version.name ?? "")))
    const { deprecated = false, deprecationWarning: warning } = version
    if (warning !== undefined)
      own.push(...messages(place.child("deprecationWarning"), asJson(warning), warningFaults(deprecated, warning)))
    own.push(...(yield* validatingParts({ at: place, isCommon: false, parts: single, versions }, version)))
  }
  const shared =
    first === undefined ? [] : yield* validatingParts({ at, isCommon: true, parts: common, versions }, first)
  return { lacking, own, common: shared }
}

const longestWarning = 256

function warningFaults(deprecated: boolean, warning: string): string[] {
  if (!deprecated) return ["can only be set for deprecated versions"]
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning)
  const at = Buffer.byteLength(warning.slice(0, odd?.index))
  const unprintable = `must only contain printable UTF-8 characters; non-printable character found at index ${at}`
  return [
    ...(Buffer.byteLength(warning) > longestWarning ? [`must be <= ${longestWarning} characters long`] : []),
    ...(warning === "" ? ["must not be an empty string"] : []),
    ...(odd === null ? [] : [unprintable]),
  ]
}

/** The parts that all versions share. */
export function commonParts(versions: readonly CustomResourceVersion[]): readonly Part[] {
  const [first] = versions
  const isCommon = (part: Part): boolean =>
    first?.[part] !== undefined && versions.every((version) => semanticEqual(version[part], first[part]))
  return parts.filter(isCommon)
}

/** Where upstream stores a part: in a version, or once for all. */
interface Place {
  at: FieldPath
  isCommon: boolean
  parts: readonly Part[]
  /** All of the definition. */
  versions: readonly CustomResourceVersion[]
}

function* validatingParts(place: Place, version: CustomResourceVersion): Steps<FieldError[]> {
  const errors: FieldError[] = []
  for (const part of place.parts) {
    errors.push(...(yield* validatingPart(place, part, version)))
    yield
  }
  return errors
}

function* validatingPart(
  { at, isCommon, parts: together, versions }: Place,
  part: Part,
  version: CustomResourceVersion,
): Steps<FieldError[]> {
  const schema = version.schema?.openAPIV3Schema
  switch (part) {
    case "schema":
      return schema === undefined
        ? []
        : yield* checkingSchema(
            schema,
            at.child(isCommon ? "validation" : "schema", "openAPIV3Schema"),
            isCommon ? versions.some(hasStatus) : hasStatus(versions.find(({ name }) => name === version.name)),
          )
    case "subresources":
      return validateScale(at.child("subresources", "scale"), version)
    case "additionalPrinterColumns":
      return (version.additionalPrinterColumns ?? []).flatMap((column, index) =>
        validateColumn(at.child(part).index(index), column),
      )
    case "selectableFields":
      const hasNone = !together.includes("schema") || (!isCommon && schema === undefined)
      if (hasNone && (version.selectableFields ?? []).length > 0) {
        const where = isCommon ? "validations.schema is included" : "`version.schema.openAPIV3Schema` is not included"
        return [invalidValue(at.child(part), "", `may only be set when ${where}`)]
      }
      return schema === undefined ? [] : selectableErrors(at, version.selectableFields ?? [], schema)
  }
}

function selectableErrors(at: FieldPath, selected: readonly { jsonPath?: string }[], schema: Json): FieldError[] {
  const fault = selected.length > 0 && isObject(schema) ? formFault(schema) : undefined
  return [
    ...(fault === undefined ? [] : [invalidValue(at.child("schema", "openAPIV3Schema"), "", fault)]),
    ...validateSelectable(at.child("selectableFields"), selected, schema),
  ]
}

const hasStatus = (version: CustomResourceVersion | undefined): boolean => version?.subresources?.status !== undefined

function* checkingSchema(schema: Json, path: FieldPath, isStatusServed: boolean): Steps<FieldError[]> {
  const ofRoot = isStatusServed && isObject(schema) ? rootErrors(schema, path) : []
  const structural = yield* compilingStructural(schema, path, ofRoot)
  const { errors } = structural
  yield
  if (!isObject(schema)) return errors
  return [...errors, ...(yield* checkingRules(schema, path, structural))]
}

/** In Go's order and with Go's names: keywords that do not affect status. */
const allowedAtRoot =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems " +
  "MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations"

/**
 * Status updates are validated only by the schema of the status, so the root must not contain keywords that affect it. Only the
 * first error in Go's order is reported.
 */
function rootErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  for (const [name, value] of givenFields(schema)) {
    if (name === "Type") {
      if (value === "object") continue
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [invalidValue(path.child("type"), value, detail)]
    }
    if (allowedAtRoot.split(" ").includes(name)) continue
    const detail = `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`
    return [invalidValue(path, printSchema(schema), detail)]
  }
  return []
}

function validateScale(at: FieldPath, { subresources }: CustomResourceVersion): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return [
    ...fieldPath(at.child("specReplicasPath"), specReplicasPath, ["spec"]),
    ...fieldPath(at.child("statusReplicasPath"), statusReplicasPath, ["status"]),
    ...(labelSelectorPath ? fieldPath(at.child("labelSelectorPath"), labelSelectorPath, ["spec", "status"]) : []),
  ]
}

/** A path below one of the roots. */
function fieldPath(at: FieldPath, path: string | undefined, roots: readonly string[]): FieldError[] {
  if (path === undefined || path === "") return [required(at)]
  if (!path.startsWith(".")) return [invalidValue(at, path, "must be a simple json path starting with .")]
  if (roots.some((root) => path.startsWith(`.${root}.`))) return []
  const where = roots.map((root) => `.${root}`).join(" or ")
  return [invalidValue(at, path, `should be a json path under ${roots.length > 1 ? "either " : ""}${where}`)]
}

function validateColumn(at: FieldPath, column: PrinterColumn): FieldError[] {
  const errors: FieldError[] = []
  if (!column.name) errors.push(required(at.child("name")))
  if (!column.type) errors.push(required(at.child("type"), `must be one of ${columnTypes.join(",")}`))
  else if (!columnTypes.includes(column.type)) {
    errors.push(invalidValue(at.child("type"), column.type, `must be one of ${columnTypes.join(",")}`))
  }
  if (column.format && !columnFormats.includes(column.format)) {
    errors.push(invalidValue(at.child("format"), column.format, `must be one of ${columnFormats.join(",")}`))
  }
  // Upstream's validation uses Go's name of the field.
  const place = at.child("JSONPath")
  const path = column.jsonPath
  if (!path) return [...errors, required(place)]
  if (!path.startsWith(".")) return [...errors, invalidValue(place, path, "must be a simple json path starting with .")]
  // Unparsable paths are accepted; tables then end before that column.
  return errors
}
