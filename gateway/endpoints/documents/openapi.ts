// /openapi/v2 and /openapi/v3, generated from the served schemas by apimachinery/schema/openapi, with what servers of aggregated APIs
// have. Every path in the index of version 3 contains a hash of its content, so clients may cache it forever.

import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { setImmediate as nextTurn } from "node:timers/promises"
import { pageNotFound } from "../../../apimachinery/text-errors.ts"
import { loadDescriptions } from "../../../apimachinery/schema/descriptions.ts"
import {
  openAPIHash,
  openAPIV2,
  openAPIV3,
  openAPIV3Path,
  openAPIV3Paths,
  type Pieces as OpenAPIPieces,
} from "../../../apimachinery/schema/openapi/documents.ts"
import { mergedWith } from "../../../apimachinery/schema/openapi/merge-v2.ts"
import { piecesOf, printPieces } from "../../../apimachinery/schema/openapi/pieces.ts"
import { encodeOpenAPIV2, openAPIV2ProtobufTypes } from "../../../apimachinery/schema/openapi/protobuf-v2.ts"
import { encodeOpenAPIV3, openAPIV3ProtobufTypes } from "../../../apimachinery/schema/openapi/protobuf-v3.ts"
import { builtInOpenAPIPaths } from "../../registry/definitions.ts"
import { levelHeaders } from "../../registry/flowcontrol/classification.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { parseAccept } from "../accept.ts"
import { document, Pieces } from "./documents.ts"
import { convertedElsewhere, convertedOf, documentsElsewhere, swaggerOf } from "./openapi-elsewhere.ts"
import { sendDocument, type SendOptions } from "./send-document.ts"

const json = "application/json"
const changing = "no-cache, private"
/** The key of the single version 2 document, next to the paths of version 3 documents. */
const v2 = "v2"
const yearMs = 365 * 24 * 60 * 60 * 1000

export async function serveOpenAPI(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const [, , version, ...rest] = ctx.info.path.split("/")
  const path = rest.join("/")
  if (version === "v2" && rest.length === 0) await serveV2(ctx, response)
  else if (version !== "v3") throw pageNotFound()
  else if (rest.length === 0) await serveIndex(ctx, response)
  else await serveV3(ctx, response, path)
}

async function serveIndex(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const definitions = ctx.controlPlane.resources.definitions()
  const converted = [...(await convertedElsewhere(ctx))].map(
    ([path, { etag }]) => [path, addressOf(path, etag)] as const,
  )
  const given = [...(await ctx.controlPlane.aggregator.openAPIPaths())].map(
    ([path, { address }]) => [path, address] as const,
  )
  const elsewhere = new Map([...converted, ...given])
  const builtIn = builtInOpenAPIPaths()
  const make = async () => {
    const paths = new Map(elsewhere)
    // A control plane may have thousands of groups.
    const byPath = Map.groupBy(definitions, openAPIV3Path)
    for (const path of openAPIV3Paths(definitions)) {
      // As in serve.ts of aggregation.
      if (builtIn.has(path) || !paths.has(path))
        paths.set(path, addressOf(path, await hashOf(path, byPath.get(path) ?? [])))
    }
    const all = [...paths].map(([path, serverRelativeURL]) => [path, { serverRelativeURL }] as const)
    return { paths: Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))) }
  }
  const about = elsewhere.size > 0 ? "passing" : definitions
  const index = await document(ctx, ctx.info.path, about, make)
  const contentType = "text/plain; charset=utf-8" // upstream does not set the type explicitly
  const options = { contentType, cacheControl: changing, vary: "", etag: false, asFile: true }
  // Always of now: a client that has one of this second must not be told that it has what changes later in it.
  await sendDocument(ctx, response, { ...index, madeAt: new Date() }, options)
}

function addressOf(path: string, hash: string): string {
  return `/openapi/v3/${path}?hash=${hash}`
}

const customContents = new WeakMap<ResourceDefinition, string>()

/**
 * The hash of a document with these definitions. It depends on the custom resources among them, and on those of other servers; built-in
 * kinds are fixed by the release.
 */
async function hashOf(
  path: string,
  definitions: readonly ResourceDefinition[],
  others: readonly string[] = [],
): Promise<string> {
  const found: string[] = []
  for (const definition of definitions) {
    if (definition.customResource === undefined) continue
    let content = customContents.get(definition)
    if (content === undefined) {
      const { group, version, resource, kind, listKind, namespaced, verbs, subresources, selectableFields } = definition
      const names = [group, version, resource, kind, listKind]
      const published = [names, namespaced, verbs, subresources, selectableFields, definition.schema.source]
      content = createHash("sha256").update(JSON.stringify(published)).digest("hex")
      customContents.set(definition, content)
      await nextTurn() // schemas may be large and numerous
    }
    found.push(content)
  }
  return openAPIHash(path, [...found.sort(), ...others].join())
}

/** A version 3 document, before it is made. */
interface Source {
  hash: string
  pieces: () => OpenAPIPieces | Promise<OpenAPIPieces>
  /** As for `document`. */
  about: readonly ResourceDefinition[] | "own"
}

async function serveV3(ctx: RequestContext, response: ServerResponse, path: string): Promise<void> {
  const source = (await sourceElsewhere(ctx, path)) ?? (await ownSource(ctx, path))
  if (source === undefined) {
    response.writeHead(404, { "cache-control": changing, "content-length": 0 }).end() // without a body, as upstream
    return
  }
  const contentType = chosen(ctx, openAPIV3ProtobufTypes)
  if (contentType === undefined) {
    const headers = { "cache-control": changing, "content-length": 0 }
    // As upstream, who asks for nothing gets it.
    if (parseAccept(ctx.headers.accept ?? "").length === 0) withoutLevel(response).writeHead(200, headers).end()
    else response.writeHead(406, { vary: "Accept", ...headers }).end()
    return
  }
  const { hash, pieces, about } = source
  const asked = ctx.query.get("hash") ?? ""
  if (asked !== "" && asked !== hash) {
    const [prefix = ""] = (response.req.url ?? "").split("/openapi/v3/", 1)
    const location = `${prefix}${addressOf(path, hash)}`
    const headers = { "content-type": contentType, etag: `"${hash}"`, vary: "Accept", "cache-control": changing }
    response.writeHead(301, { ...headers, location, "content-length": 0 }).end()
    return
  }
  const make = async () => {
    const given = await pieces()
    return new Pieces(contentType === json ? printPieces(given) : encodeOpenAPIV3(given), hash)
  }
  const key = [ctx.info.path, contentType, ...(about === "own" ? [hash] : [])].join("?")
  const found = await document(ctx, key, about, make)
  // A URL with the hash from the index has immutable content.
  const caching: Partial<SendOptions> =
    asked === "" ? { cacheControl: changing } : { cacheControl: "public, immutable", expires: inAYear() }
  await sendDocument(ctx, response, found, { contentType, asFile: true, ...caching })
}

async function ownSource({ controlPlane }: RequestContext, path: string): Promise<Source | undefined> {
  const definitions = controlPlane.resources.definitions()
  const pieces = openAPIV3(path, definitions, await loadDescriptions())
  if (pieces === undefined) return undefined
  const about = definitions.filter((definition) => openAPIV3Path(definition) === path)
  return { hash: await hashOf(path, about), pieces: () => pieces, about }
}

/** Documents that servers have themselves are theirs to serve. */
async function sourceElsewhere(ctx: RequestContext, path: string): Promise<Source | undefined> {
  if (builtInOpenAPIPaths().has(path)) return undefined
  const found = (await convertedElsewhere(ctx)).get(path)
  if (found === undefined) return undefined
  return { hash: found.etag, pieces: async () => piecesOf(await convertedOf(ctx, found)), about: "own" }
}

function inAYear(): Date {
  return new Date(Date.now() + yearMs)
}

async function serveV2(ctx: RequestContext, response: ServerResponse): Promise<void> {
  const definitions = ctx.controlPlane.resources.definitions()
  const vary = "Accept-Encoding, Accept"
  const contentType = chosen(ctx, openAPIV2ProtobufTypes)
  if (contentType === undefined) {
    response.writeHead(406, { vary, "cache-control": changing, "content-length": 0 }).end()
    return
  }
  const elsewhere = await documentsElsewhere(ctx)
  const etags = elsewhere.map(({ etag }) => etag)
  const make = async () => {
    const own = openAPIV2(definitions, await loadDescriptions())
    const others = await Promise.all(elsewhere.map((each) => swaggerOf(ctx, each)))
    const pieces = others.length === 0 ? own : mergedWith(others, own)
    return new Pieces(
      contentType === json ? printPieces(pieces, JSON.stringify) : encodeOpenAPIV2(pieces),
      await hashOf(v2, definitions, etags),
    )
  }
  const about = elsewhere.length > 0 ? "own" : definitions
  const found = await document(ctx, `/openapi/v2?${[contentType, ...etags].join("&")}`, about, make)
  await sendDocument(ctx, response, found, { contentType, vary, cacheControl: changing, asFile: true })
}

function withoutLevel(response: ServerResponse): ServerResponse {
  for (const name of levelHeaders) response.removeHeader(name)
  return response
}

/** JSON, or the protobuf type to answer with; `protobuf`: the type that old clients request, and the type of the response. */
function chosen({ headers: { accept } }: RequestContext, protobuf: readonly [string, string]): string | undefined {
  for (const { type } of parseAccept(accept === undefined || accept === "" ? "*/*" : accept)) {
    const [main = "", sub = ""] = type.split("/")
    if (main !== "application" && main !== "*") continue
    if (sub === "json" || sub === "*") return json
    if (protobuf.includes(`application/${sub}`)) return protobuf[1]
  }
  return undefined
}
