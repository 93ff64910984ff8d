// The error for an apply that would change fields of other managers: 409, with one cause per field. Source:
// k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go.

import { applyConflict, type StatusCause, type StatusError } from "../status.ts"
import { mostAtOnce, type Steps } from "../steps.ts"
import { compareText } from "../go/text-order.ts"
import { type FieldSet, paths } from "./field-set.ts"
import type { Managers } from "./managers.ts"
import { printElement } from "./path-element.ts"

/** `conflicts` by managerKey of `managers`: there may be one for each field of an object. */
export function* describingConflicts(conflicts: ReadonlyMap<string, FieldSet>, managers: Managers): Steps<StatusError> {
  const keys = [...conflicts.keys()].sort(compareText)
  const causes: StatusCause[] = []
  const lines: string[] = []
  for (const key of keys) {
    const manager = printManager(managers, key)
    lines.push(`conflicts with ${manager}:`)
    for (const path of paths(conflicts.get(key) ?? {})) {
      const field = path.map(printElement).join("")
      lines.push(`- ${field}`)
      causes.push({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field })
      if (causes.length % mostAtOnce === 0) yield
    }
  }
  const [only] = causes
  return applyConflict(
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`,
    causes,
  )
}

function printManager(managers: Managers, key: string): string {
  const { manager = "", operation, apiVersion = "", subresource } = managers.get(key) ?? {}
  const through = subresource === undefined ? "" : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(manager)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`
}
