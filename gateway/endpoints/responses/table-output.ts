// The two reduced forms of objects: Table (what kubectl prints) and PartialObjectMetadata. Source:
// k8s.io/apimachinery/pkg/apis/meta/v1.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import { goJson, printJson } from "../../../apimachinery/go/print.ts"
import {
  type Json,
  type KubeObject,
  type ObjectMeta,
  parseGroupVersion,
  printGroupVersion,
} from "../../../apimachinery/object.ts"
import { parseJson } from "../../../apimachinery/schema/exact-integers.ts"
import { encodeMessage } from "../../../apimachinery/schema/protobuf/encode.ts"
import { badRequest } from "../../../apimachinery/status.ts"
import { defaultColumns } from "../../registry/columns.ts"
import { specAnnotations, statusAnnotations } from "../../registry/conversion/autoscaling.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import { type Empty, type ItemMessages, type ItemTexts, joinInto } from "./list-body.ts"
import type { Negotiated } from "../negotiation.ts"
import { metadataSchema } from "./print.ts"
import { type RowCondition, shownCell, type TableColumn } from "../../registry/columns/table-column.ts"

export interface ListMeta {
  /** Missing for a single object that was not written. */
  resourceVersion?: string | undefined
  continue?: string
  remainingItemCount?: number
}

export interface TableOptions {
  /** `includeObject` of the request. */
  include: "None" | "Metadata" | "Object"
  metaVersion: string
}

/** Throws BadRequest for an invalid includeObject. */
export function tableOptions(query: URLSearchParams, { metaVersion }: Pick<Negotiated, "metaVersion">): TableOptions {
  const asked = query.get("includeObject") || "Metadata"
  if (asked === "None" || asked === "Object" || asked === "Metadata") return { include: asked, metaVersion }
  const fault = `includeObject: Invalid value: ${goJson(asked)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: ${fault}`)
}

function columnDefinitions(columns: readonly TableColumn[]): unknown[] {
  return columns
    .filter(({ untitled }) => untitled !== true)
    .map(({ name, type, format, description, priority }) => ({
      name,
      type: type === "date" ? "date" : type,
      format,
      description,
      priority,
    }))
}

/** A Table without rows; in a watch only the first one has column definitions. */
export function tableHead(
  columns: readonly TableColumn[],
  metadata: ListMeta,
  { metaVersion }: Pick<TableOptions, "metaVersion">,
  withColumns = true,
): Readonly<Record<string, unknown>> {
  return {
    kind: "Table",
    apiVersion: metaVersion,
    metadata,
    columnDefinitions: withColumns ? columnDefinitions(columns) : null,
  }
}

export function table(
  objects: readonly KubeObject[],
  columns: readonly TableColumn[],
  meta: ListMeta,
  options: TableOptions,
  withColumns: boolean,
  now: number,
): Readonly<Record<string, unknown>> {
  const rows = objects.map((object) => {
    const cells = columns.map((column) => shownCell(column.cell(object), now))
    const conditions = conditionsOf(object, columns)
    return { cells, ...(conditions === undefined ? {} : { conditions }), ...rowObject(object, options) }
  })
  return {
    ...tableHead(columns, meta, options, withColumns),
    rows: rows.length === 0 && emptyRows(columns) === "null" ? null : rows,
  }
}

/** Without objects and with the default columns, Go's rows are null. */
export function emptyRows(columns: readonly TableColumn[]): Empty {
  return columns === defaultColumns ? "null" : "[]"
}

/** Of an object's row. */
export function conditionsOf(object: KubeObject, columns: readonly TableColumn[]): readonly RowCondition[] | undefined {
  const condition = columns.find((column) => column.condition !== undefined)?.condition?.(object)
  return condition === undefined ? undefined : [condition]
}

/** The annotation of the bookmark that ends initial events, which whoever waits for it must see; any object may have it. */
export function endsInitialEvents({ metadata }: KubeObject): boolean {
  return metadata.annotations?.["k8s.io/initial-events-end"] === "true"
}

function rowObject(object: KubeObject, { include, metaVersion }: TableOptions): { object?: unknown } {
  switch (include) {
    case "None":
      return { object: endsInitialEvents(object) ? partialMetadata(object, metaVersion) : null }
    case "Object":
      return { object }
    case "Metadata":
      return { object: partialMetadata(object, metaVersion) }
  }
}

/** Annotations that upstream derives from fields when it writes whole objects; partial objects do not have them. */
const annotationsOfWhole: Readonly<Record<string, readonly string[]>> = dictionary({
  "apps/v1 DaemonSet": ["deprecated.daemonset.template.generation"],
  "apps/v1 Deployment": ["deprecated.deployment.rollback.to"],
  "autoscaling/v1 HorizontalPodAutoscaler": [...specAnnotations, ...statusAnnotations],
})

export function partialMetadata({ kind, apiVersion: from, metadata }: KubeObject, apiVersion: string): unknown {
  const names = annotationsOfWhole[`${from} ${kind}`]
  const shown = names === undefined ? metadata : withoutAnnotations(metadata, names)
  return { kind: "PartialObjectMetadata", apiVersion, metadata: shown }
}

function withoutAnnotations({ annotations, ...metadata }: ObjectMeta, names: readonly string[]): ObjectMeta {
  const others = Object.entries(annotations ?? {}).filter(([name]) => !names.includes(name))
  return others.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(others) }
}

const metadataEnd = Buffer.from("}")

/** {@link partialMetadata} in JSON. The metadata are copied from the object's text, unless annotations have to be left out. */
export function metadataText(
  { kind, ...version }: Pick<ResourceDefinition, "group" | "version" | "kind">,
  apiVersion: string,
): (value: KubeValue) => Buffer {
  const left = annotationsOfWhole[`${printGroupVersion(version)} ${kind}`] ?? []
  const mentioned = left.map((name) => Buffer.from(name))
  const beginning = Buffer.from(
    `{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},"metadata":`,
  )
  return (value) => {
    const metadata = value.metadataBytes()
    if (!mentioned.some((name) => metadata.includes(name))) return Buffer.concat([beginning, metadata, metadataEnd])
    const others = withoutAnnotations(parseJson(metadata) as unknown as ObjectMeta, left)
    return Buffer.concat([beginning, Buffer.from(printJson(others)), metadataEnd])
  }
}

/** PartialObjectMetadata of list items in JSON. */
export function metadataTexts(definition: ResourceDefinition, apiVersion: string): ItemTexts {
  const textOf = metadataText(definition, apiVersion)
  const join: ItemTexts["join"] = (run, allocate) => {
    const texts = run.map(textOf)
    const bytes = allocate(texts.reduce((sum, { length }) => sum + length + 1, -1))
    return joinInto(bytes, texts, (text, target, at) => text.copy(target, at))
  }
  return { form: `metadata ${apiVersion}`, join }
}

/** The same in protobuf. */
export function metadataMessages(apiVersion: string): ItemMessages {
  const schema = metadataSchema()
  const messageOf: ItemMessages["messageOf"] = (value) =>
    encodeMessage(schema, partialMetadata(value.peek(), apiVersion) as Json)
  const numbers = parseGroupVersion(apiVersion).version === "v1beta1" ? { metadata: 2, items: 1 } : undefined
  return { form: `protobuf ${apiVersion}`, messageOf, ...(numbers === undefined ? {} : { numbers }) }
}

/** Items omit kind and version, as in built-in lists; without items they are null, unlike in lists of whole objects. */
export function partialMetadataList(
  objects: readonly KubeObject[],
  metadata: ListMeta,
  apiVersion: string,
): Readonly<Record<string, unknown>> {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion,
    metadata,
    items: objects.length === 0 ? null : objects.map((object) => partialMetadata(object, apiVersion)),
  }
}

export interface TypeOfGo extends Pick<
  ResourceDefinition,
  "group" | "version" | "kind" | "listKind" | "customResource"
> {
  /** Not the type that all versions have in memory. */
  isVersioned?: boolean
}

/** Go's name of the type, for error messages. */
export function goTypeOf(definition: TypeOfGo, isList: boolean): string {
  const { kind, listKind, version, customResource, isVersioned } = definition
  if (customResource !== undefined) return isList ? "*unstructured.UnstructuredList" : "*unstructured.Unstructured"
  const group = definition.group === "events.k8s.io" ? "" : definition.group
  const [name] = group === "" ? ["core"] : group.split(".", 1)
  return `*${isVersioned === true ? version : name}.${isList ? listKind : kind}`
}
