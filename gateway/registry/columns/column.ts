// Building blocks of table columns, and the columns of all kinds.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { ageOf } from "./age.ts"
import type { Cell, TableColumn } from "./table-column.ts"

/** A column of a kind; `priority` 1 is only shown with -o wide. */
export function column<T extends KubeObject>(
  name: string,
  type: TableColumn["type"],
  cell: (object: T) => Cell,
  options: { priority?: number; format?: string; description?: string } = {},
): TableColumn {
  return {
    name,
    type,
    format: options.format ?? "",
    description: options.description ?? "",
    priority: options.priority ?? 0,
    cell: (object) => cell(object as T),
  }
}

/** Text, number and boolean columns; `wide…` are only shown with -o wide. */
export const text = <T extends KubeObject>(head: string, cell: (object: T) => Cell): TableColumn =>
  column(head, "string", cell)
export const wideText = <T extends KubeObject>(head: string, cell: (object: T) => Cell): TableColumn =>
  column(head, "string", cell, { priority: 1 })
export const integer = <T extends KubeObject>(head: string, cell: (object: T) => number): TableColumn =>
  column(head, "integer", cell)
export const truth = <T extends KubeObject>(head: string, cell: (object: T) => boolean): TableColumn =>
  column(head, "boolean", cell)

export const name: TableColumn = column("Name", "string", (object) => object.metadata.name ?? "", {
  format: "name",
  description: "Name must be unique within a namespace.",
})

export const age: TableColumn = column("Age", "string", (object) => ageOf(object.metadata.creationTimestamp), {
  description: "Time since the object was created.",
})

/** For kinds without columns of their own: the timestamp. Source: k8s.io/apiserver/pkg/registry/rest/table.go. */
export const createdAt: TableColumn = column(
  "Created At",
  "date",
  (object) => object.metadata.creationTimestamp ?? "0001-01-01T00:00:00Z",
  { description: "When the object was created." },
)
