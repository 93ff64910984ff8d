// The two reduced forms of objects a client can ask for: Table (what kubectl prints) and PartialObjectMetadata. Source:
// k8s.io/apimachinery/pkg/apis/meta/v1.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { TableColumn } from "./table.ts"

const metaV1 = "meta.k8s.io/v1"

export interface ListMeta {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** `includeObject` of the request: None, Metadata (default) or Object. */
export type IncludeObject = "None" | "Metadata" | "Object"

export function columnDefinitions(columns: readonly TableColumn[]): unknown[] {
  return columns.map(({ name, type, format, description, priority }) => ({
    name,
    type: type === "date" ? "date" : type,
    format,
    description,
    priority,
  }))
}

/** A Table; a watch's rows after the first come without column definitions. */
export function table(
  objects: readonly KubeObject[],
  columns: readonly TableColumn[],
  meta: ListMeta,
  include: IncludeObject,
  withColumns: boolean,
  now: number,
): unknown {
  return {
    kind: "Table",
    apiVersion: metaV1,
    metadata: meta,
    columnDefinitions: withColumns ? columnDefinitions(columns) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, now)),
      ...rowObject(object, include),
    })),
  }
}

function rowObject(object: KubeObject, include: IncludeObject): { object?: unknown } {
  switch (include) {
    case "None":
      return { object: null }
    case "Object":
      return { object }
    case "Metadata":
      return { object: partialMetadata(object) }
  }
}

export function partialMetadata(object: KubeObject): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: metaV1, metadata: object.metadata }
}

export function partialMetadataList(objects: readonly KubeObject[], meta: ListMeta): unknown {
  return { kind: "PartialObjectMetadataList", apiVersion: metaV1, metadata: meta, items: objects.map(partialMetadata) }
}
