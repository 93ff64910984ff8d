// Building blocks of table columns: the two columns of all kinds, and the format of ages and lists.

import { longestMs } from "../../../apimachinery/go/duration.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { millisecondsOf } from "../../../apimachinery/schema/scalars.ts"
import type { TableColumn } from "./table-column.ts"

type Cell = string | number | boolean | null

/** A column of a kind; `priority` 1 is only shown with -o wide. */
export function column<T extends KubeObject>(
  name: string,
  type: TableColumn["type"],
  cell: (object: T, now: number) => Cell,
  options: { priority?: number; format?: string; description?: string } = {},
): TableColumn {
  return {
    name,
    type,
    format: options.format ?? "",
    description: options.description ?? "",
    priority: options.priority ?? 0,
    cell: (object, now) => cell(object as T, now),
  }
}

/** Text, number and boolean columns; `wide…` are only shown with -o wide. */
export const text = <T extends KubeObject>(head: string, cell: (object: T, now: number) => Cell): TableColumn =>
  column(head, "string", cell)
export const wideText = <T extends KubeObject>(head: string, cell: (object: T, now: number) => Cell): TableColumn =>
  column(head, "string", cell, { priority: 1 })
export const integer = <T extends KubeObject>(head: string, cell: (object: T) => number): TableColumn =>
  column(head, "integer", cell)
export const truth = <T extends KubeObject>(head: string, cell: (object: T) => boolean): TableColumn =>
  column(head, "boolean", cell)

export const name: TableColumn = column("Name", "string", (object) => object.metadata.name ?? "", {
  format: "name",
  description: "Name must be unique within a namespace.",
})

export const age: TableColumn = column(
  "Age",
  "string",
  (object, now) => ageOf(object.metadata.creationTimestamp, now),
  {
    description: "Time since the object was created.",
  },
)

/** For kinds without columns of their own: the timestamp. Source: k8s.io/apiserver/pkg/registry/rest/table.go. */
export const createdAt: TableColumn = column(
  "Created At",
  "date",
  (object) => object.metadata.creationTimestamp ?? "0001-01-01T00:00:00Z",
  { description: "When the object was created." },
)

/** The age, or "<unknown>" if the time is not set. */
export function ageOf(time: string | null | undefined, now: number): string {
  if (time === undefined || time === null || time === "") return "<unknown>"
  const at = millisecondsOf(time)
  return Number.isNaN(at) ? "<unknown>" : humanDuration(now - at)
}

/** Source: k8s.io/apimachinery/pkg/util/duration HumanDuration: at most two units, finer for shorter durations. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(Math.min(milliseconds, longestMs) / 1000)
  // Allows for two seconds of clock skew; beyond that the time is invalid.
  if (seconds < -1) return "<invalid>"
  if (seconds < 0) return "0s"
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s")
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m")
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 24 * 8) return withRest(days, "d", hours % 24, "h")
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  if (hours < 24 * 365 * 8) return withRest(years, "y", days % 365, "d")
  return `${years}y`
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`
}
