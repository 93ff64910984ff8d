// The version 2 OpenAPI documents of a control plane's aggregated APIs, and what is made of them for servers without version 3. A
// server is asked when a client wants the document, not by the clock; what it last said is kept compressed, for as long as the control
// plane is open, and counts while it is down. Source: k8s.io/kube-aggregator/pkg/controllers/{openapi,openapiv3}.

import type { Json } from "../../../apimachinery/object.ts"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { convertedToV3 } from "../../../apimachinery/schema/openapi/convert-v2.ts"
import { swaggerBelow, type Swagger } from "../../../apimachinery/schema/openapi/merge-v2.ts"
import { piecesOf, printPieces } from "../../../apimachinery/schema/openapi/pieces.ts"
import { encodeOpenAPIV3 } from "../../../apimachinery/schema/openapi/protobuf-v3.ts"
import { type APIService, isAvailable } from "../../../client/api-services.ts"
import type { Aggregator } from "../../aggregation/aggregator.ts"
import type { RequestContext } from "../../request/context.ts"
import { bytesOf, bytesOfDocument, type Document, makeDocument, Pieces } from "./documents.ts"

const limits = {
  /** A server is not asked again for so long, whatever it said. */
  askEveryMs: 60_000,
  /** Maximum size of a server's document. Beyond: as if it had none. */
  maxBytes: 4 * 1024 * 1024,
  /** The same for what is kept of all servers of a control plane. */
  maxKeptBytes: 1024 * 1024,
} as const

interface Kept {
  askedAt: number
  /** Those who want the document meanwhile wait for the same answer. */
  asking?: Promise<void> | undefined
  etag?: string | undefined
  document?: Document | undefined
  /** Its version 3, if the server has none. */
  converted?: Document | undefined
}

/** By the uid of the APIService. */
const keptOf = new WeakMap<Aggregator, Map<string, Kept>>()

/** Those of all aggregated APIs that have one, preferred ones first. */
export async function documentsElsewhere(ctx: RequestContext): Promise<readonly Document[]> {
  const { aggregator } = ctx.controlPlane
  const services = byPriority(await aggregator.remote())
  if (services.length === 0) return []
  const kept = keptBy(aggregator, services)
  await Promise.all(services.map((service) => ask(ctx, kept, service)))
  return services.flatMap((service) => kept.get(idOf(service))?.document ?? [])
}

/** What is made of them for servers without version 3, by path. */
export async function convertedElsewhere(ctx: RequestContext): Promise<ReadonlyMap<string, Document>> {
  const { aggregator } = ctx.controlPlane
  const services = await aggregator.withoutOpenAPIV3()
  const kept = keptBy(aggregator, await aggregator.remote())
  await Promise.all(services.map((service) => ask(ctx, kept, service)))
  const found = new Map<string, Document>()
  for (const service of services) {
    const converted = kept.get(idOf(service))?.converted
    const { group = "", version = "" } = service.spec ?? {}
    if (converted !== undefined) found.set(`apis/${group}/${version}`, converted)
  }
  return found
}

/** Without what was kept of those that are not there any more. */
function keptBy(aggregator: Aggregator, services: readonly APIService[]): Map<string, Kept> {
  const kept = keptOf.get(aggregator) ?? new Map<string, Kept>()
  keptOf.set(aggregator, kept)
  const ids = new Set(services.map(idOf))
  for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id)
  return kept
}

const idOf = ({ metadata }: APIService): string => metadata.uid ?? ""
const nameOf = ({ metadata }: APIService): string => metadata.name ?? ""

export async function swaggerOf(ctx: RequestContext, document: Document): Promise<Swagger> {
  return JSON.parse((await bytesOfDocument(ctx, document)).toString()) as Swagger
}

/** The content of one that was made for a server without version 3. */
export async function convertedOf(ctx: RequestContext, document: Document): Promise<JsonObject> {
  return JSON.parse((await bytesOfDocument(ctx, document)).toString()) as JsonObject
}

/** Within a group, versions have no order but that of their names. */
function byPriority(services: readonly APIService[]): APIService[] {
  const groups = new Map<string, number>()
  for (const { spec: { group = "", groupPriorityMinimum = 0 } = {} } of services) {
    groups.set(group, Math.max(groups.get(group) ?? 0, groupPriorityMinimum))
  }
  const priority = ({ spec }: APIService): number => groups.get(spec?.group ?? "") ?? 0
  return services.toSorted((a, b) => priority(b) - priority(a) || (nameOf(a) < nameOf(b) ? -1 : 1))
}

async function ask(ctx: RequestContext, all: Map<string, Kept>, service: APIService): Promise<void> {
  if (!isAvailable(service)) return
  const id = idOf(service)
  const kept = all.get(id) ?? { askedAt: -Infinity }
  all.set(id, kept)
  if (kept.asking === undefined && performance.now() - kept.askedAt >= limits.askEveryMs) {
    kept.askedAt = performance.now()
    kept.asking = load(ctx, all, service, kept).finally(() => (kept.asking = undefined))
  }
  await kept.asking
}

async function load(
  ctx: RequestContext,
  all: ReadonlyMap<string, Kept>,
  service: APIService,
  kept: Kept,
): Promise<void> {
  const { maxBytes, maxKeptBytes } = limits
  const headers: Record<string, string> = kept.etag === undefined ? {} : { "if-none-match": kept.etag }
  const request = { path: "/openapi/v2", maxBytes, headers }
  // The document is optional: without a new one the last one counts, and it is asked for again.
  const answer = await ctx.controlPlane.aggregator.getOpenAPI(service, request).catch(() => undefined)
  if (answer?.code !== 200) return
  const { group = "", version = "" } = service.spec ?? {}
  const swagger = swaggerBelow(`/apis/${group}/${version}/`, answer.document)
  if (swagger === undefined) return
  const document = await makeDocument(() => swagger, ctx.aside)
  const converted = await convert(ctx, service, answer.document)
  const size = (of: Document | undefined): number => (of?.bytes ?? of?.compressed)?.length ?? 0
  const sizes = (of: Pick<Kept, "document" | "converted">): number => size(of.document) + size(of.converted)
  const others = [...all.values()].filter((other) => other !== kept)
  const total = others.reduce((sum, other) => sum + sizes(other), sizes({ document, converted }))
  kept.etag = answer.etag
  kept.document = total > maxKeptBytes ? undefined : document
  kept.converted = total > maxKeptBytes ? undefined : converted
}

/** Undefined if the server has a version 3 of its own, or if none can be made. */
async function convert(
  ctx: RequestContext,
  service: APIService,
  given: Json | undefined,
): Promise<Document | undefined> {
  const without = await ctx.controlPlane.aggregator.withoutOpenAPIV3()
  if (!without.some((one) => idOf(one) === idOf(service))) return undefined
  const converted = convertedToV3(given)
  if (converted === undefined || !(await isEncodable(converted))) return undefined
  return makeDocument(() => new Pieces(printPieces(piecesOf(converted))), ctx.aside)
}

/** Whether its values have the types that a document's have. */
async function isEncodable(document: JsonObject): Promise<boolean> {
  try {
    await bytesOf(new Pieces(encodeOpenAPIV3(piecesOf(document))))
    return true
  } catch {
    return false
  }
}
