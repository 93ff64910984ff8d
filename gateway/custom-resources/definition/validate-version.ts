// The versions of a CustomResourceDefinition. What is the same in all of them upstream keeps, and reports, once: its errors
// name spec.validation, spec.subresources, … as v1beta1 did. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/{v1/conversion.go,validation}.

import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  required,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label } from "../../../apimachinery/names.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { ruleErrors } from "../../../apimachinery/cel/rules/definition.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { compileStructural } from "../../../apimachinery/schema/structural.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import { messages } from "../../registry/validation/values.ts"
import { JsonPathError, parseJsonPath, plainFields } from "../json-path.ts"
import type { CustomResourceVersion, PrinterColumn } from "../types.ts"

const columnTypes = ["boolean", "date", "integer", "number", "string"]
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"]
const selectableTypes = ["boolean", "integer", "string"]
const maxSelectableFields = 8

type Part = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields"
const parts: readonly Part[] = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"]

/** `own`: errors of single versions; `common`: of what all versions have the same. */
export function validateVersions(
  at: FieldPath,
  versions: readonly CustomResourceVersion[],
): { own: FieldError[]; common: FieldError[] } {
  const [first] = versions
  const common = commonParts(versions)
  const single = parts.filter((part) => !common.includes(part))
  const own = versions.flatMap((version, index) => {
    const place = at.child("versions").index(index)
    const errors = messages(place.child("name"), version.name ?? "", validateDNS1035Label(version.name ?? ""))
    if (version.schema?.openAPIV3Schema === undefined) errors.push(required(place.child("schema", "openAPIV3Schema")))
    const { deprecated = false, deprecationWarning: warning } = version
    if (warning !== undefined) {
      errors.push(...messages(place.child("deprecationWarning"), warning, warningFaults(deprecated, warning)))
    }
    return [
      ...errors,
      ...single.flatMap((part) => validatePart({ at: place, isCommon: false, parts: single }, part, version)),
    ]
  })
  return {
    own,
    common:
      first === undefined
        ? []
        : common.flatMap((part) => validatePart({ at, isCommon: true, parts: common }, part, first)),
  }
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

/** As Go prints them in memory: what all versions have the same was taken out of them. */
export function printVersions(versions: readonly CustomResourceVersion[]): unknown[] {
  const common = commonParts(versions)
  const of = (version: CustomResourceVersion, part: Part): unknown =>
    common.includes(part) ? null : (version[part] ?? null)
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: of(version, "schema"),
    Subresources: of(version, "subresources") && printSubresources(version),
    AdditionalPrinterColumns:
      of(version, "additionalPrinterColumns") && version.additionalPrinterColumns?.map(printColumn),
    SelectableFields:
      of(version, "selectableFields") && version.selectableFields?.map(({ jsonPath = "" }) => ({ JSONPath: jsonPath })),
  }))
}

function printSubresources({ subresources }: CustomResourceVersion): unknown {
  const { status = null, scale } = subresources ?? {}
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = null } = scale ?? {}
  return {
    Status: status,
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: specReplicasPath,
            StatusReplicasPath: statusReplicasPath,
            LabelSelectorPath: labelSelectorPath,
          },
  }
}

function printColumn({
  name = "",
  type = "",
  format = "",
  description = "",
  priority = 0,
  jsonPath = "",
}: PrinterColumn): unknown {
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath }
}

function commonParts(versions: readonly CustomResourceVersion[]): readonly Part[] {
  const [first] = versions
  const isCommon = (part: Part): boolean =>
    first?.[part] !== undefined && versions.every((version) => semanticEqual(version[part], first[part]))
  return parts.filter(isCommon)
}

/** Where upstream keeps parts of a version: in it, or once for all. */
interface Place {
  at: FieldPath
  isCommon: boolean
  parts: readonly Part[]
}

function validatePart(
  { at, isCommon, parts: together }: Place,
  part: Part,
  version: CustomResourceVersion,
): FieldError[] {
  const schema = version.schema?.openAPIV3Schema
  switch (part) {
    case "schema":
      return schema === undefined
        ? []
        : schemaErrors(schema, at.child(isCommon ? "validation" : "schema", "openAPIV3Schema"), version)
    case "subresources":
      return validateScale(at.child("subresources", "scale"), version)
    case "additionalPrinterColumns":
      return (version.additionalPrinterColumns ?? []).flatMap((column, index) =>
        validateColumn(at.child(part).index(index), column),
      )
    case "selectableFields":
      if (!together.includes("schema") && (version.selectableFields ?? []).length > 0) {
        const where = isCommon ? "validations.schema is included" : "`version.schema.openAPIV3Schema` is not included"
        return [invalidValue(at.child(part), "", `may only be set when ${where}`)]
      }
      return validateSelectable(at.child(part), version)
  }
}

function schemaErrors(schema: Json, path: FieldPath, { subresources }: CustomResourceVersion): FieldError[] {
  const structural = compileStructural(schema, path)
  const { errors } = structural
  if (!isObject(schema)) return errors
  const { type } = schema
  if (subresources?.status !== undefined && typeof type === "string" && type !== "" && type !== "object") {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    errors.unshift(invalidValue(path.child("type"), type, detail))
  }
  return [...errors, ...ruleErrors(schema, path, structural)]
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

/** A path of plain fields below one of these. */
function fieldPath(at: FieldPath, path: string | undefined, roots: readonly string[]): FieldError[] {
  if (path === undefined || path === "") return [required(at)]
  if (!path.startsWith(".")) return [invalidValue(at, path, "must be a simple json path starting with .")]
  const fault = pathFault(path)
  if (fault !== undefined) return [invalidValue(at, path, fault)]
  const fields = plainFields(parseJsonPath(path))
  if (fields === undefined) return [invalidValue(at, path, "must be a simple json path of fields")]
  if (fields.length > 1 && roots.includes(fields[0] ?? "")) return []
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
  // Upstream's validation names the field as Go does.
  const place = at.child("JSONPath")
  const path = column.jsonPath
  if (!path) return [...errors, required(place)]
  if (!path.startsWith(".")) return [...errors, invalidValue(place, path, "must be a simple json path starting with .")]
  const fault = pathFault(path)
  return fault === undefined ? errors : [...errors, invalidValue(place, path, fault)]
}

function validateSelectable(at: FieldPath, version: CustomResourceVersion): FieldError[] {
  const fields = version.selectableFields ?? []
  if (fields.length === 0) return []
  const schema = version.schema?.openAPIV3Schema
  if (schema === undefined) return []
  const errors = fields.length > maxSelectableFields ? [tooMany(at, fields.length, maxSelectableFields)] : []
  const seen = new Set<string>()
  for (const [index, { jsonPath = "" }] of fields.entries()) {
    const place = at.index(index).child("jsonPath")
    const fault = selectableFault(jsonPath, schema)
    if (fault !== undefined) errors.push(fault === "" ? required(place) : invalidValue(place, jsonPath, fault))
    else if (seen.has(jsonPath)) errors.push(duplicate(place, jsonPath))
    seen.add(jsonPath)
  }
  return errors
}

function selectableFault(path: string, schema: Json): string | undefined {
  if (path === "") return ""
  if (!path.startsWith(".")) return `is an invalid path: expected [ or . but got: ${/^[^.[]*/.exec(path)?.[0] ?? ""}`
  const fault = pathFault(path)
  if (fault !== undefined) return fault
  const found = fieldSchema(schema, plainFields(parseJsonPath(path)) ?? [])
  if (found === undefined) return "is an invalid path: does not refer to a valid field"
  return selectableTypes.includes(found.type ?? "")
    ? undefined
    : "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
}

interface PropertySchema {
  type?: string
  properties?: Record<string, PropertySchema>
}

/** Metadata is every object's, and no field of the schema. */
function fieldSchema(schema: Json, fields: readonly string[]): PropertySchema | undefined {
  if (fields.length === 0 || fields[0] === "metadata") return undefined
  let at: PropertySchema | undefined = schema as PropertySchema
  for (const field of fields) at = at?.properties?.[field]
  return at
}

function pathFault(path: string): string | undefined {
  try {
    parseJsonPath(path)
    return undefined
  } catch (error) {
    if (error instanceof JsonPathError) return `is an invalid path: ${error.message}`
    throw error
  }
}
