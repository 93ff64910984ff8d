// Server-side printing: the output of `kubectl get` (meta.k8s.io/v1 Table). A kind's columns are data: header facts and a pure
// function from object to cell.

import type { KubeObject } from "../../../apimachinery/object.ts"

/** Of a row: clients may leave out those that have ended. */
export interface RowCondition {
  type: "Completed"
  status: "True"
  reason: string
  message: string
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
  /** `now` in ms, for ages. */
  cell(object: KubeObject, now: number): string | number | bigint | boolean | null
}
