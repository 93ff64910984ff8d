// Encodes watch events: a line of JSON or a frame of protobuf each. All watches of a resource share the events and their encoded
// bytes; both are released when the store forgets the change.

import { errorMessage } from "../../../apimachinery/error-message.ts"
import { encodeWatchEvent } from "../../../apimachinery/schema/protobuf/encode.ts"
import { internalError, StatusError } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { RegistryEvent, ResourceDefinition } from "../../registry/rest.ts"
import { roomInChunk } from "./event-stream.ts"
import type { Negotiated } from "../negotiation.ts"
import { messageOf, printed } from "./print.ts"
import { metadataText, partialMetadata, table, tableOptions } from "./table-output.ts"

export type PrintEvent = (event: RegistryEvent) => Buffer

/** Returns undefined if no event has this form; the first event then ends the watch without an error. */
export function eventPrinter(
  ctx: RequestContext,
  definition: ResourceDefinition,
  wanted: Negotiated,
): PrintEvent | undefined {
  switch (wanted.as) {
    case "object":
      return wanted.format === "protobuf" ? frameOf(definition) : lineOf
    case "PartialObjectMetadata":
      return metadataPrinter(definition, wanted)
    case "PartialObjectMetadataList":
      return undefined
    case "Table":
      return tablePrinter(ctx, definition, wanted)
  }
}

/** The last event of a watch that cannot continue. */
export function errorEvent(error: unknown, { format }: Negotiated): Buffer {
  const { status } = error instanceof StatusError ? error : internalError(errorMessage(error), { cause: error })
  return wrapped("ERROR", status, format)
}

const lines = new WeakMap<RegistryEvent, Buffer>()
const frames = new WeakMap<RegistryEvent, Buffer>()
const metadataEvents = new Map<string, WeakMap<RegistryEvent, Buffer>>()
const ending = Buffer.from("}\n")

/** Whole objects in JSON are wrapped without parsing. */
const lineOf: PrintEvent = (event) => {
  let line = lines.get(event)
  if (line === undefined) {
    const { type, value } = event
    line = lineAround(type, value.length, (target, offset) => value.copyTo(target, offset))
    lines.set(event, line)
  }
  return line
}

function lineAround(type: string, length: number, copyTo: (target: Buffer, offset: number) => void): Buffer {
  const opening = Buffer.from(`{"type":"${type}","object":`, "latin1")
  const line = roomInChunk(opening.length + length + ending.length)
  opening.copy(line)
  copyTo(line, opening.length)
  ending.copy(line, opening.length + length)
  return line
}

function frameOf(definition: ResourceDefinition): PrintEvent {
  return (event) => {
    let frame = frames.get(event)
    if (frame === undefined) {
      frame = encodeWatchEvent(event.type, messageOf(definition, event.value.object()))
      frames.set(event, frame)
    }
    return frame
  }
}

/** There are four forms: two encodings, and two versions of the kind. */
function metadataPrinter(definition: ResourceDefinition, { format, metaVersion }: Negotiated): PrintEvent {
  const form = `${format} ${metaVersion}`
  const textOf = metadataText(definition, metaVersion)
  let made = metadataEvents.get(form)
  if (made === undefined) metadataEvents.set(form, (made = new WeakMap()))
  const frame = ({ type, value }: RegistryEvent): Buffer =>
    wrapped(type, partialMetadata(value.object(), metaVersion), format)
  const line = ({ type, value }: RegistryEvent): Buffer => {
    const text = textOf(value)
    return lineAround(type, text.length, (target, offset) => void text.copy(target, offset))
  }
  return (event) => {
    let bytes = made.get(event)
    if (bytes === undefined) {
      bytes = format === "protobuf" ? frame(event) : line(event)
      made.set(event, bytes)
    }
    return bytes
  }
}

function tablePrinter(ctx: RequestContext, definition: ResourceDefinition, wanted: Negotiated): PrintEvent {
  const options = tableOptions(ctx.query, wanted)
  let withColumns = true
  return ({ type, value }) => {
    const { resourceVersion } = value
    const object = table([value.object()], definition.columns, { resourceVersion }, options, withColumns, Date.now())
    // Each event for an aggregator's own object has column definitions.
    withColumns = definition.group === "apiregistration.k8s.io"
    return wrapped(type, object, wanted.format)
  }
}

function wrapped(type: string, object: unknown, format: Negotiated["format"]): Buffer {
  if (format !== "protobuf") return printed({ type, object }, { format, pretty: false })
  return encodeWatchEvent(type, printed(object, { format, pretty: false }))
}
