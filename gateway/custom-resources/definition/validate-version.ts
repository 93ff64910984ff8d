// One version of a CustomResourceDefinition, but for its schema.

import { type FieldError, type FieldPath, invalidValue, required, tooMany } from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label } from "../../../apimachinery/names.ts"
import { messages } from "../../registry/validation/values.ts"
import { JsonPathError, parseJsonPath, plainFields } from "../json-path.ts"
import type { CustomResourceVersion, PrinterColumn } from "../types.ts"

const columnTypes = ["boolean", "date", "integer", "number", "string"]
const maxSelectableFields = 8

export function validateVersion(at: FieldPath, version: CustomResourceVersion): FieldError[] {
  const errors = messages(at.child("name"), version.name ?? "", validateDNS1035Label(version.name ?? ""))
  const scale = version.subresources?.scale
  if (scale !== undefined) {
    const place = at.child("subresources", "scale")
    errors.push(...fieldPath(place.child("specReplicasPath"), scale.specReplicasPath, "spec", true))
    errors.push(...fieldPath(place.child("statusReplicasPath"), scale.statusReplicasPath, "status", true))
    errors.push(...fieldPath(place.child("labelSelectorPath"), scale.labelSelectorPath, undefined, false))
  }
  for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
    errors.push(...validateColumn(at.child("additionalPrinterColumns").index(index), column))
  }
  const selectable = version.selectableFields ?? []
  const place = at.child("selectableFields")
  if (selectable.length > maxSelectableFields) errors.push(tooMany(place, selectable.length, maxSelectableFields))
  for (const [index, { jsonPath }] of selectable.entries()) {
    errors.push(...fieldPath(place.index(index).child("jsonPath"), jsonPath, undefined, true))
  }
  return errors
}

/** A path of plain fields, under `.spec` or `.status` when `root` says so. */
function fieldPath(at: FieldPath, path: string | undefined, root: string | undefined, needed: boolean): FieldError[] {
  if (path === undefined || path === "") return needed ? [required(at)] : []
  if (!path.startsWith(".")) return [invalidValue(at, path, "must be a simple json path starting with .")]
  const fault = pathFault(path)
  if (fault !== undefined) return [invalidValue(at, path, fault)]
  const fields = plainFields(parseJsonPath(path))
  if (fields === undefined) return [invalidValue(at, path, "must be a simple json path of fields")]
  if (root !== undefined && fields[0] !== root) {
    return [invalidValue(at, path, `should be a json path under .${root}`)]
  }
  if (fields[0] === "metadata") return [invalidValue(at, path, "must not point to fields in metadata")]
  return []
}

function validateColumn(at: FieldPath, column: PrinterColumn): FieldError[] {
  const errors: FieldError[] = []
  if (!column.name) errors.push(required(at.child("name")))
  if (!column.type) errors.push(required(at.child("type"), `must be one of ${columnTypes.join(",")}`))
  else if (!columnTypes.includes(column.type)) {
    errors.push(invalidValue(at.child("type"), column.type, `must be one of ${columnTypes.join(",")}`))
  }
  // Upstream's validation names the field as Go does.
  const place = at.child("JSONPath")
  const path = column.jsonPath
  if (!path) return [...errors, required(place)]
  if (!path.startsWith(".")) return [...errors, invalidValue(place, path, "must be a simple json path starting with .")]
  const fault = pathFault(path)
  return fault === undefined ? errors : [...errors, invalidValue(place, path, fault)]
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
