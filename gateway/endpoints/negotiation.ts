// What the client sends and what it wants back. JSON and YAML; objects whole, as Table, or as metadata only. Protobuf is
// read (body.ts) but not written: a client that accepts nothing else gets 406.

import { StatusError, unsupportedMediaType } from "../../apimachinery/status.ts"

export type TextFormat = "json" | "yaml"

export interface Negotiated {
  format: TextFormat
  as: "object" | "table" | "metadata"
  /** Of the answer. */
  contentType: string
}

const formats: Readonly<Record<string, TextFormat>> = { "application/json": "json", "application/yaml": "yaml" }
const mediaTypes = Object.keys(formats)
const metaGroup = "meta.k8s.io"

/** The first form in the client's list that is served. */
export function negotiate(accept: string | undefined): Negotiated {
  if (accept === undefined || accept.trim() === "") return plain("json")
  for (const clause of accept.split(",")) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim())
    const format = formats[type] ?? (type === "*/*" || type === "application/*" ? "json" : undefined)
    if (format === undefined) continue
    const found = reduced(format, new Map(parameters.map((parameter) => splitParameter(parameter))))
    if (found !== undefined) return found
  }
  throw notAcceptable()
}

function splitParameter(text: string): [string, string] {
  const equals = text.indexOf("=")
  return equals < 0 ? [text, ""] : [text.slice(0, equals), text.slice(equals + 1)]
}

function plain(format: TextFormat): Negotiated {
  return { format, as: "object", contentType: `application/${format}` }
}

/** Undefined: a form that is not known, so the client's next choice is tried. */
function reduced(format: TextFormat, parameters: ReadonlyMap<string, string>): Negotiated | undefined {
  const as = parameters.get("as")
  if (as === undefined) return plain(format)
  if (parameters.get("g") !== metaGroup || parameters.get("v") !== "v1") return undefined
  const contentType = `application/${format}`
  if (as === "Table") return { format, as: "table", contentType }
  if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList")
    return { format, as: "metadata", contentType }
  return undefined
}

function notAcceptable(): StatusError {
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `406: Not Acceptable\n\nAvailable representations: ${[...mediaTypes, "application/json;stream=watch"].join(", ")}`,
    reason: "NotAcceptable",
    details: {},
    code: 406,
  })
}

/** Of a request's body; JSON when the client does not say. */
export function bodyFormat(contentType: string | undefined): TextFormat {
  if (contentType === undefined || contentType === "") return "json"
  const format = formats[mediaType(contentType)]
  if (format === undefined) throw unsupportedMediaType([...mediaTypes, "application/vnd.kubernetes.protobuf"])
  return format
}

export function mediaType(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase()
}
