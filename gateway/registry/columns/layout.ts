// Cells that several kinds have: containers, selectors, labels.

import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { KubeObject, PodTemplateSpec } from "../../../apimachinery/object.ts"
import type { TableColumn } from "../../endpoints/table.ts"
import type { LabelSelector } from "../validation/selectors.ts"
import { wideText } from "./column.ts"

/** "a=b,c=d", in the order of keys. */
export function printLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? "<none>" : entries.map(([key, value]) => `${key}=${value}`).join(",")
}

export function printLabelSelector(selector: LabelSelector | undefined): string {
  return printSelector(selectorFromLabelSelector(selector)) || "<none>"
}

/** The wide columns of what runs pods from a template. */
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
