// The version 2 OpenAPI documents of a control plane's aggregated APIs. A server is asked when a client wants the document, not by
// the clock; what it last said is kept compressed, for as long as the control plane is open, and counts while it is down. Source:
// k8s.io/kube-aggregator/pkg/controllers/openapi.

import { swaggerBelow, type Swagger } from "../../../apimachinery/schema/openapi/merge-v2.ts"
import { type APIService, isAvailable } from "../../../client/api-services.ts"
import type { Aggregator } from "../../aggregation/aggregator.ts"
import type { RequestContext } from "../../request/context.ts"
import { bytesOfDocument, type Document, makeDocument } from "./documents.ts"

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
}

/** By the name of the APIService. */
const keptOf = new WeakMap<Aggregator, Map<string, Kept>>()

/** Those of all aggregated APIs that have one, preferred ones first. */
export async function documentsElsewhere(ctx: RequestContext): Promise<readonly Document[]> {
  const { aggregator } = ctx.controlPlane
  const services = byPriority(await aggregator.remote())
  if (services.length === 0) return []
  const kept = keptOf.get(aggregator) ?? new Map<string, Kept>()
  keptOf.set(aggregator, kept)
  const names = services.map(({ metadata }) => metadata.name ?? "")
  for (const name of kept.keys()) if (!names.includes(name)) kept.delete(name)
  await Promise.all(services.map((service) => ask(ctx, kept, service)))
  return names.flatMap((name) => kept.get(name)?.document ?? [])
}

export async function swaggerOf(ctx: RequestContext, document: Document): Promise<Swagger> {
  return JSON.parse((await bytesOfDocument(ctx, document)).toString()) as Swagger
}

/** Within a group, versions have no order but that of their names. */
function byPriority(services: readonly APIService[]): APIService[] {
  const groups = new Map<string, number>()
  for (const { spec: { group = "", groupPriorityMinimum = 0 } = {} } of services) {
    groups.set(group, Math.max(groups.get(group) ?? 0, groupPriorityMinimum))
  }
  const priority = ({ spec }: APIService): number => groups.get(spec?.group ?? "") ?? 0
  const name = ({ metadata }: APIService): string => metadata.name ?? ""
  return services.toSorted((a, b) => priority(b) - priority(a) || (name(a) < name(b) ? -1 : 1))
}

async function ask(ctx: RequestContext, all: Map<string, Kept>, service: APIService): Promise<void> {
  if (!isAvailable(service)) return
  const name = service.metadata.name ?? ""
  const kept = all.get(name) ?? { askedAt: -Infinity }
  all.set(name, kept)
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
  const size = (of: Document | undefined): number => (of?.bytes ?? of?.compressed)?.length ?? 0
  const others = [...all.values()].filter((other) => other !== kept)
  const total = others.reduce((sum, other) => sum + size(other.document), size(document))
  kept.etag = answer.etag
  kept.document = total > maxKeptBytes ? undefined : document
}
