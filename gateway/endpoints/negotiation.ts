// Content negotiation for requests and responses: JSON, YAML or Kubernetes' protobuf; whole objects, Table, or metadata only.
// Source of the rules: k8s.io/apiserver/pkg/endpoints/handlers/negotiation, and go-restful for built-in paths.

import { parseGoBool } from "../../apimachinery/go/booleans.ts"
import { parseMediaType } from "../../apimachinery/go/media-type.ts"
import { noSuchRoute, notAcceptable, type StatusError, unsupportedMediaType } from "../../apimachinery/status.ts"
import { protobufMediaType } from "../../apimachinery/schema/protobuf/parse.ts"
import type { RequestContext } from "../request/context.ts"
import { acceptsOneOf, type Clause, parseAccept, remembering, trimSpaces } from "./accept.ts"

export type TextFormat = "json" | "yaml"
type Format = TextFormat | "protobuf"

type Form = "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList"

export interface Negotiated {
  readonly format: Format
  readonly as: Form
  /** The version of a reduced form: "meta.k8s.io/v1", or v1beta1 for old clients. */
  readonly metaVersion: string
  /** Indented JSON. */
  readonly pretty: boolean
  /** Of the response. */
  readonly contentType: string
}

const contentTypes: Readonly<Record<Format, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: protobufMediaType,
}
const formats = Object.keys(contentTypes) as Format[]
const mediaTypes: readonly string[] = Object.values(contentTypes)
const streamTypes: readonly string[] = [contentTypes.json, contentTypes.protobuf].map((type) => `${type};stream=watch`)

/**
 * The kind of responder, which determines the available forms. "unlisted": kinds that are never stored have no table. "aggregated": the
 * document of discovery that must be asked for by its kind.
 */
export type Answering = "built-in" | "custom" | "unlisted" | "plain" | "aggregated"

/** Chooses the form of the response. Throws NotAcceptable. "plain": errors and documents, which have no reduced forms. */
export function negotiate(ctx: RequestContext, answering: Answering): Negotiated {
  return chosen(ctx, answering) ?? refuse()
}

/** undefined: none of the accepted forms is available. */
export function chosen(ctx: RequestContext, answering: Answering): Negotiated | undefined {
  return choose(ctx.headers, ctx.query.get("pretty"), answering)
}

function refuse(): never {
  throw notAcceptable([...mediaTypes])
}

/** A watch does not support YAML. Throws NotAcceptable. */
export function checkStream({ format }: Negotiated): void {
  if (format === "yaml") throw notAcceptable([...streamTypes])
}

const acceptsPlain = remembering((accept) => acceptsOneOf(accept, mediaTypes))

/** The first check of a request to a built-in path. `own`: types of its route besides those of objects. Throws NotAcceptable. */
export function checkAccept(accept: string | undefined, isCollection: boolean, own: readonly string[] = []): void {
  if (accept === undefined || accept === "" || acceptsPlain(accept)) return
  checkAcceptOf(accept, [...own, ...mediaTypes, ...(isCollection ? streamTypes : [])])
}

/** Throws NotAcceptable if a route that has only these types does not match. */
export function checkAcceptOf(accept: string | undefined, available: readonly string[]): void {
  if (accept === undefined || accept === "" || acceptsOneOf(accept, available)) return
  throw noSuchRoute("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`)
}

/** The routes of documents have types for bodies, too, although none is read: a body of another type matches none of them. */
export function checkBodyType(contentType: string | undefined, consumed: readonly string[] = mediaTypes): void {
  if (contentType === undefined || contentType === "") return
  const given = contentType.split(",").map((one) => trimSpaces(one.split(";")[0] ?? ""))
  if (!given.some((type) => consumed.includes(type))) throw unroutedBody()
}

export const unroutedBody = (): StatusError => noSuchRoute("UnsupportedMediaType", "415: Unsupported Media Type")

/** Returns undefined if no accepted form is available. The result is shared and must not be modified. */
export function choose(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  prettyParameter: string | null,
  answering: Answering,
): Negotiated | undefined {
  const { accept } = headers
  const indented = forPeople(headers, prettyParameter)
  if (typeof accept !== "string" || accept === "")
    return answering === "aggregated" ? undefined : whole("json", indented)
  const forms = formsOf(accept)
  const key = indented ? `pretty ${answering}` : answering
  return (forms[key] ??= firstOffer(accept, answering, indented))
}

/** JSON is indented on request, and for programs whose output people read. */
export function forPeople(
  { "user-agent": agent }: Readonly<Record<string, string | string[] | undefined>>,
  prettyParameter: string | null,
): boolean {
  return isPretty(prettyParameter, typeof agent === "string" ? agent : "")
}

/** Cached choices by header, keyed by responder and client. */
const formsOf = remembering((): Record<string, Negotiated | undefined> => ({}))

function firstOffer(accept: string, answering: Answering, forPeople: boolean): Negotiated | undefined {
  for (const clause of parseAccept(accept)) {
    for (const format of formats) {
      const found = takes(clause, format) ? offer(format, clause.parameters, answering, forPeople) : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}

function takes({ type }: Clause, format: Format): boolean {
  return type === contentTypes[format] || type === "application/*" || type === "*/*"
}

function isPretty(parameter: string | null, agent: string): boolean {
  if (parameter !== null && parameter !== "") return parseGoBool(parameter) === true
  return /^(curl|Wget|Mozilla\/5\.0)/.test(agent)
}

function whole(format: Format, pretty: boolean): Negotiated {
  return { format, as: "object", metaVersion: "", pretty, contentType: contentTypes[format] }
}

/** Returns undefined if the form is not available, so that the client's next choice is tried. */
function offer(
  format: Format,
  parameters: ReadonlyMap<string, string>,
  answering: Answering,
  forPeople: boolean,
): Negotiated | undefined {
  const stream = parameters.get("stream") ?? ""
  if (stream !== "" && (stream !== "watch" || format === "yaml")) return undefined
  // The server's version of meta kinds, which only exists for resources.
  const serverVersion = parameters.get("sv") ?? ""
  if (serverVersion !== "" && (isDocument(answering) || serverVersion !== "v1")) return undefined
  const plain = whole(format, format === "json" && (forPeople || parameters.get("pretty") === "1"))
  const [as, group, version] = ["as", "g", "v"].map((name) => parameters.get(name))
  if (answering === "aggregated") {
    const isAsked = group === "apidiscovery.k8s.io" && version === "v2" && as === "APIGroupDiscoveryList"
    return isAsked ? { ...plain, contentType: `${plain.contentType};g=${group};v=${version};as=${as}` } : undefined
  }
  if (as === undefined && group === undefined && version === undefined) {
    // Custom resources have no protobuf form; only their reduced forms do.
    return answering === "custom" && format === "protobuf" ? undefined : plain
  }
  if (answering === "plain" || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined
  if (!isReduced(as) || (as === "Table" && (format === "protobuf" || answering === "unlisted"))) return undefined
  return { ...plain, as, metaVersion: `${group}/${version}` }
}

/** Documents and errors belong to no version of the meta kinds. */
const isDocument = (answering: Answering): boolean => answering === "plain" || answering === "aggregated"

function isReduced(as: string | undefined): as is Exclude<Form, "object"> {
  return as === "Table" || as === "PartialObjectMetadata" || as === "PartialObjectMetadataList"
}

/** The format of a request body; JSON by default. */
export function bodyFormat(contentType: string | undefined): TextFormat {
  if (contentType === undefined || contentType === "") return "json"
  const type = mediaType(contentType)
  if (type === contentTypes.json) return "json"
  if (type === contentTypes.yaml) return "yaml"
  throw unsupportedMediaType([...mediaTypes])
}

/** Empty if it cannot be read, or if its parameters cannot. */
export const mediaType = remembering((contentType) => parseMediaType(contentType).type ?? "")
