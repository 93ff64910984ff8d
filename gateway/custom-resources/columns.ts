// Table columns of custom resources: a definition's additionalPrinterColumns, or name and age. Source:
// k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor.

import { goJson, printGo } from "../../apimachinery/go/print.ts"
import type { Json } from "../../apimachinery/object.ts"
import { canonicalScalar, ScalarError } from "../../apimachinery/schema/scalars.ts"
import type { Cell, TableColumn } from "../registry/columns/table-column.ts"
import { ageOf } from "../registry/columns/age.ts"
import { age, name } from "../registry/columns/column.ts"
import { firstValue, maxWorkOfObject, type Work } from "./json-path/evaluate.ts"
import { JsonPathError, OwnNumber, parseJsonPath, type Path } from "./json-path/parse.ts"
import type { PrinterColumn } from "./types.ts"

// The text of ObjectMeta's documentation.
const customName: TableColumn = {
  ...name,
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
}
/** As if it had a path: nothing for the object of a bookmark, which has no such time. */
export const customAge: TableColumn = {
  ...age,
  type: "date",
  cell: (object) => (object.metadata.creationTimestamp === undefined ? null : age.cell(object)),
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
}

/** A definition has room for 60,000, which would make a table thousands of times as large as its objects. More are not shown. */
const maxColumns = 100

export function customColumns(columns: readonly PrinterColumn[] | undefined): TableColumn[] {
  if (columns === undefined || columns.length === 0) return [customName, customAge]
  const shown: TableColumn[] = [customName]
  const work: Work = { left: 0 }
  try {
    for (const column of columns.slice(0, maxColumns)) shown.push(customColumn(column, work, shown.length === 1))
  } catch (error) {
    // As upstream, a column with an invalid path is not shown, nor are the columns after it.
    if (!(error instanceof JsonPathError)) throw error
  }
  return shown
}

/** The columns of an object share its work, which begins with the first of them. */
function customColumn(column: PrinterColumn, work: Work, isFirst: boolean): TableColumn {
  const paths = parseJsonPath(column.jsonPath ?? "")
  const type = column.type ?? "string"
  return {
    name: column.name ?? "",
    type: type as TableColumn["type"],
    format: column.format ?? "",
    description:
      column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath ?? ""}`,
    priority: column.priority ?? 0,
    cell(object) {
      if (isFirst) work.left = maxWorkOfObject
      return cellOf(type, paths, object, work)
    },
  }
}

function cellOf(type: string, paths: readonly Path[], object: object, work: Work): Cell {
  const found = firstValue(paths, object, work)
  if (found === undefined) return null
  const value = found.value instanceof OwnNumber && found.value.type === "float" ? found.value.value : found.value
  if (type === "string") return printCell(value)
  switch (type) {
    case "integer":
      if (typeof value === "bigint") return value
      return typeof value === "number" ? toInt64(value) : null
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? Number(value) : null
    case "boolean":
      return typeof value === "boolean" ? value : null
    case "date":
      return typeof value === "string" ? ageOfText(value) : null
    default:
      return null
  }
}

/** Go's time that is not set. Old clients wrote null as a text. */
const unsetTime = "0001-01-01T00:00:00Z"

function ageOfText(text: string): Cell {
  try {
    const time = text === "" || text === "null" ? unsetTime : canonicalScalar("time", text)
    return ageOf(time === unsetTime ? undefined : time)
  } catch (error) {
    if (error instanceof ScalarError) return "<invalid>"
    throw error
  }
}

function printCell(value: unknown): string {
  if (value === null) return "<no value>"
  if (value instanceof OwnNumber) return String(value.value)
  return typeof value === "object" ? goJson(value as Json) : printGo(value as Json)
}

/** As on upstream's processor: a value out of range becomes the smallest integer. */
function toInt64(value: number): number | bigint {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2n ** 63n)
}
