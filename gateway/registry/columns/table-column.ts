// Server-side printing: the output of `kubectl get` (meta.k8s.io/v1 Table). A kind's columns are data: header facts and a pure
// function from object to cell.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { Age } from "./age.ts"

/** Of a row: clients may leave out those that have ended. */
export interface RowCondition {
  type: "Completed"
  status: "True"
  reason: string
  message: string
}

/** Depends on the object only, except for what an {@link Age} becomes. */
export type Cell = string | number | bigint | boolean | null | Age

/** `now` in ms. */
export function shownCell(cell: Cell, now: number): Exclude<Cell, Age> {
  return cell instanceof Age ? cell.text(now) : cell
}

export interface TableColumn {
  name: string
  type: "string" | "integer" | "number" | "boolean" | "date"
  format: string
  description: string
  /** 0: always shown; 1: with -o wide. */
  priority: number
  /** Set for a cell without a column definition, as upstream has some. */
  untitled?: true
  /** What the column says of the row as a whole. */
  condition?: (object: KubeObject) => RowCondition | undefined
  cell(object: KubeObject): Cell
}
