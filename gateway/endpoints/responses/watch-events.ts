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
import { partialMetadata, table, tableOptions } from "./table-output.ts"

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
      return metadataPrinter(wanted)
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
    const opening = Buffer.from(`{"type":"${type}","object":`, "latin1")
    line = roomInChunk(opening.length + value.length + ending.length)
    opening.copy(line)
    value.copyTo(line, opening.length)
    ending.copy(line, opening.length + value.length)
    lines.set(event, line)
  }
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
function metadataPrinter({ format, metaVersion }: Negotiated): PrintEvent {
  const form = `${format} ${metaVersion}`
  let made = metadataEvents.get(form)
  if (made === undefined) metadataEvents.set(form, (made = new WeakMap()))
  return (event) => {
    let bytes = made.get(event)
    if (bytes === undefined) {
      bytes = wrapped(event.type, partialMetadata(event.value.object(), metaVersion), format)
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
