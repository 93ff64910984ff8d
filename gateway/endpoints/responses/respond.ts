// Writes responses in the negotiated form. Whole objects and their metadata are sent as their stored bytes; only protobuf, Table, YAML and
// indented JSON decode them. Large lists are written in pieces, with backpressure.

import type { ServerResponse } from "node:http"
import { printGroupVersion, type KubeObject } from "../../../apimachinery/object.ts"
import { notAcceptableForm, type StatusError, unexplained } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { ListResult, ListStream, ResourceDefinition } from "../../registry/rest.ts"
import type { SubresourceHandler } from "../../registry/strategy.ts"
import type { KubeValue } from "../../registry/generic/storage/value.ts"
import { sendBytes } from "./body-writer.ts"
import type { Endpoint } from "../endpoint.ts"
import { listBody, type Part, protobufListBody, wholeMessages, wholeTexts } from "./list-body.ts"
import { type Answering, negotiate, type Negotiated } from "../negotiation.ts"
import { messageOf, printing } from "./print.ts"
import { type PrintableList, printedInPieces } from "./print-list.ts"
import { sendParts } from "./send-parts.ts"
import { tableBody } from "./table-body.ts"
import {
  goTypeOf,
  type ListMeta,
  metadataMessages,
  metadataTexts,
  partialMetadata,
  partialMetadataList,
  table,
  tableOptions,
  type TypeOfGo,
} from "./table-output.ts"

const newline = Buffer.from("\n")

/** `handler`: that of a subresource, whose kind is built in even if its resource is custom. */
export function answeringOf(definition: ResourceDefinition, handler?: SubresourceHandler, subresource = ""): Answering {
  if (subresource === "status" && definition.plainStatus === true) return "unlisted"
  if (handler !== undefined && handler.columns === undefined) return "unlisted"
  if (definition.answer !== undefined) return "unlisted"
  return definition.customResource === undefined ? "built-in" : "custom"
}

/** A promise only if the answer has to be printed first. */
type Sent = void | Promise<void>

export function sendValue(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  code: number,
  value: KubeValue,
): Sent {
  const wanted = negotiate(ctx, answeringOf(definition, undefined, ctx.info.subresource))
  if (wanted.as !== "object") return sendObject(ctx, response, code, reduce(ctx, definition, wanted, value), wanted)
  if (wanted.format === "json" && !wanted.pretty)
    return sendBytes(ctx, response, code, wanted.contentType, [value.bytes(), newline])
  if (wanted.format === "protobuf")
    return sendBytes(ctx, response, code, wanted.contentType, [messageOf(definition, value.peek())])
  return sendObject(ctx, response, code, value.object(), wanted)
}

function reduce(ctx: RequestContext, definition: ResourceDefinition, wanted: Negotiated, value: KubeValue): unknown {
  const object = value.object()
  if (wanted.as !== "Table") return reduceToMetadata(definition, wanted, object)
  const { resourceVersion } = object.metadata
  return table([object], definition.columns, { resourceVersion }, tableOptions(ctx.query, wanted), true, Date.now())
}

function reduceToMetadata(definition: TypeOfGo, wanted: Negotiated, object: KubeObject): unknown {
  if (wanted.as !== "PartialObjectMetadataList") return partialMetadata(object, wanted.metaVersion)
  // Upstream's type of any custom resource could be a list.
  if (definition.customResource !== undefined) throw unexplained("content is not a list")
  throw notAcceptableForm(
    `you requested ${wanted.as}, but the requested object is not a list (${goTypeOf(definition, false)})`,
  )
}

/** Of a stream, which has no metadata. */
export function refusedForm({ as }: Negotiated): StatusError | undefined {
  if (as === "object") return undefined
  if (as !== "PartialObjectMetadataList") return unexplained("object does not implement the Object interfaces")
  return notAcceptableForm(`you requested ${as}, but the requested object is not a list (*rest.LocationStreamer)`)
}

/** The response for a kind that is never stored: an object of its own kind, or a Status, which has only one form. */
export function sendReview(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  object: KubeObject,
): Sent {
  const wanted = negotiate(ctx, answeringOf(definition))
  if (wanted.as === "object" || object.kind === "Status")
    return sendObject(ctx, response, 201, object, whole(ctx, wanted))
  return sendObject(ctx, response, 201, reduceToMetadata(definition, wanted, object), wanted)
}

/** The same for a subresource. */
export function sendSubresource(
  ctx: RequestContext,
  { response, definition, subresource, handler }: Endpoint,
  code: number,
  object: KubeObject,
): Sent {
  const wanted = negotiate(ctx, answeringOf(definition, handler))
  if (wanted.as === "object" || object.kind === "Status")
    return sendObject(ctx, response, code, object, whole(ctx, wanted))
  const { resourceVersion = "" } = object.metadata
  // Upstream computes the scale of a custom resource in the version of its answer.
  const isVersioned = definition.customResource !== undefined
  const body =
    wanted.as === "Table"
      ? table([object], handler?.columns ?? [], { resourceVersion }, tableOptions(ctx.query, wanted), true, Date.now())
      : reduceToMetadata({ listKind: "", ...(subresource ?? definition), isVersioned }, wanted, object)
  return sendObject(ctx, response, code, body, wanted)
}

/** Objects that were never stored: reviews, Status. */
export function sendObject(
  ctx: RequestContext,
  response: ServerResponse,
  code: number,
  object: unknown,
  wanted: Negotiated = wholeObject(ctx),
): Sent {
  const send = (bytes: Uint8Array): void => sendBytes(ctx, response, code, wanted.contentType, [bytes])
  const bytes = printing(object, wanted, ctx.aside)
  return bytes instanceof Promise ? bytes.then(send) : send(bytes)
}

/** Objects without reduced forms are sent whole, regardless of the requested form. */
function wholeObject(ctx: RequestContext): Negotiated {
  return whole(ctx, negotiate(ctx, "built-in"))
}

/** The options of a form are checked all the same. */
function whole({ query }: RequestContext, wanted: Negotiated): Negotiated {
  if (wanted.as === "object") return wanted
  if (wanted.as === "Table") tableOptions(query, wanted)
  return { ...wanted, as: "object" }
}

interface ListAnswer extends Pick<Endpoint, "response" | "definition" | "runs"> {
  ctx: RequestContext
}

/** A list in runs is sent while it is read. */
export async function sendStream(answer: ListAnswer, stream: ListStream): Promise<void> {
  const wanted = negotiate(answer.ctx, answeringOf(answer.definition))
  await sendInRuns(answer, wanted, metaOf(stream.resourceVersion), stream)
}

/** A list that was not stored has no resource version. */
function metaOf(resourceVersion: string): ListMeta {
  return resourceVersion === "" ? {} : { resourceVersion }
}

/** Whether the list can be written without collecting it first. */
export function wantsStream(ctx: RequestContext, definition: ResourceDefinition): boolean {
  const wanted = negotiate(ctx, answeringOf(definition))
  return isInRuns(wanted) && (wanted.as !== "Table" || definition.rowOrder === undefined)
}

/** Other forms are printed as a whole. */
function isInRuns({ as, format, pretty }: Negotiated): boolean {
  return as !== "PartialObjectMetadata" && format !== "yaml" && !pretty
}

export async function sendList(answer: ListAnswer, result: ListResult): Promise<void> {
  const { ctx, response, definition } = answer
  const wanted = negotiate(ctx, answeringOf(definition))
  const meta: ListMeta = {
    ...metaOf(result.resourceVersion),
    ...(result.continue === undefined ? {} : { continue: result.continue }),
    ...(result.remainingItemCount === undefined ? {} : { remainingItemCount: result.remainingItemCount }),
  }
  const items = wanted.as === "Table" ? inRowOrder(definition, result.items) : result.items
  if (isInRuns(wanted)) {
    await sendInRuns(answer, wanted, meta, { pieces: [items] })
    return
  }
  if (items.length === 0) {
    await sendObject(ctx, response, 200, reduceList(ctx, definition, wanted, [], meta), wanted)
    return
  }
  const make = (from: number, to: number): PrintableList => {
    const objects = items.slice(from, to).map((item) => item.peek())
    return reduceList(ctx, definition, wanted, objects, meta)
  }
  const { format, pretty, contentType } = wanted
  const form = { format: format === "yaml" ? format : "json", pretty } as const
  const key = wanted.as === "Table" ? "rows" : "items"
  sendBytes(ctx, response, 200, contentType, await printedInPieces(ctx, key, items, make, form))
}

function inRowOrder(definition: ResourceDefinition, items: readonly KubeValue[]): readonly KubeValue[] {
  if (definition.rowOrder === undefined) return items
  return items.toSorted((a, b) => definition.rowOrder?.(a.peek(), b.peek()) ?? 0)
}

function reduceList(
  ctx: RequestContext,
  definition: ResourceDefinition,
  wanted: Negotiated,
  objects: readonly KubeObject[],
  meta: ListMeta,
): PrintableList {
  switch (wanted.as) {
    case "object":
      return { ...listHead(definition, meta), items: objects.map((object) => asItem(definition, object)) }
    case "Table":
      return table(objects, definition.columns, meta, tableOptions(ctx.query, wanted), true, Date.now())
    case "PartialObjectMetadataList":
      return partialMetadataList(objects, meta, wanted.metaVersion)
    case "PartialObjectMetadata":
      throw notAcceptableForm(
        `you requested ${wanted.as}, but the requested object is a list (${goTypeOf(definition, true)})`,
      )
  }
}

/** Items of built-in lists omit kind and apiVersion. */
function asItem({ customResource }: ResourceDefinition, object: KubeObject): unknown {
  if (customResource !== undefined) return object
  const { kind: _kind, apiVersion: _version, ...item } = object
  return item
}

async function sendInRuns(
  answer: ListAnswer,
  wanted: Negotiated,
  meta: ListMeta,
  items: Pick<ListStream, "pieces" | "again">,
): Promise<void> {
  await sendParts(answer.ctx, answer.response, wanted.contentType, bodyInRuns(answer, wanted, meta, items))
}

function bodyInRuns(
  { ctx, definition, runs }: ListAnswer,
  wanted: Negotiated,
  metadata: ListMeta,
  items: Pick<ListStream, "pieces" | "again">,
): AsyncGenerator<Part> {
  const { as, format, metaVersion } = wanted
  if (as === "Table") return tableBody(ctx, definition, metadata, tableOptions(ctx.query, wanted), items.pieces, runs)
  if (as === "object") {
    const head = listHead(definition, metadata)
    return format === "protobuf"
      ? protobufListBody(ctx, head, wholeMessages(definition), items, runs)
      : listBody(head, wholeTexts(definition), items.pieces, runs)
  }
  const head = { kind: "PartialObjectMetadataList", apiVersion: metaVersion, metadata }
  return format === "protobuf"
    ? protobufListBody(ctx, head, metadataMessages(metaVersion), items, runs)
    : listBody(head, metadataTexts(definition, metaVersion), items.pieces, runs, "null")
}

function listHead({ listKind, group, version, customResource }: ResourceDefinition, meta: ListMeta) {
  // Custom lists always contain `continue`.
  const metadata = customResource === undefined ? meta : { continue: "", ...meta }
  return { kind: listKind, apiVersion: printGroupVersion({ group, version }), metadata }
}
