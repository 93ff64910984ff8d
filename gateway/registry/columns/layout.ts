// Cells of several kinds: containers, selectors, labels.

import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { KubeObject, PodTemplateSpec } from "../../../apimachinery/object.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import type { TableColumn } from "./table-column.ts"
import type { LabelSelector } from "../validation/selectors.ts"
import { wideText } from "./column.ts"

/** "a=b,c=d": sorted by pair, not by key, which differs if one key is a prefix of another. */
export function printLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? "<none>" : pairs.sort().join(",")
}

/** An invalid selector must not fail the whole list, so it is shown as an error. The blank object of a bookmark has null. */
export function printLabelSelector(selector: LabelSelector | undefined | null): string {
  if (selector === undefined || selector === null) return "<none>"
  try {
    return printSelector(selectorFromLabelSelector(selector)) || "<none>"
  } catch (error) {
    if (error instanceof StatusError) return "<error>"
    throw error
  }
}

/** The wide columns of kinds with a pod template. */
export function containerColumns<T extends KubeObject>(
  template: (object: T) => PodTemplateSpec | undefined,
): TableColumn[] {
  const containers = (object: T) => template(object)?.spec?.containers ?? []
  return [
    wideText<T>("Containers", (object) =>
      containers(object)
        .map((container) => container.name)
        .join(","),
    ),
    wideText<T>("Images", (object) =>
      containers(object)
        .map((container) => container.image ?? "")
        .join(","),
    ),
  ]
}
