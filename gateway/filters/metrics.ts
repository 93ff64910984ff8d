// Counts requests and their durations, in total and per control plane, and serves /metrics. A tenant sees its own requests; only
// the super cluster sees the metrics of the whole process. Authorization has been checked before.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { IncomingHttpHeaders } from "node:http"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { methodNotAllowed } from "../../apimachinery/status.ts"
import { expositionTypeFor } from "../endpoints/exposition.ts"
import { acceptsGzipAtAll } from "../endpoints/responses/body-writer.ts"
import { plainText, sliPath } from "../endpoints/health.ts"
import { leave } from "../metrics/flow-counts.ts"
import type { Metrics } from "../metrics/metrics.ts"
import { type RequestKind, type RequestLabels, seriesKey } from "../metrics/request-counts.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Filter, GatewayResponse } from "./chain.ts"
import { codeOf, type RequestState } from "./state.ts"

const compressed = promisify(gzip)

export function withMetrics(metrics: Metrics): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    const kind = kindOf(state)
    metrics.all.requests.begin(kind)
    state.whenDone(() => {
      const code = codeOf(state, response)
      const seconds = (performance.now() - state.startedAt) / 1000
      const labels = labelsOf(state, code, request.headers)
      const { isTerminated } = state
      const waitedSeconds = state.waitedMs / 1000
      const key = seriesKey(labels)
      const counted = { kind, labels, key, code, seconds, waitedSeconds, isTerminated, bytes: response.sentBytes }
      leave(state, state.isLate)
      for (const counts of [metrics.all.requests, state.counts?.own.requests]) {
        // Whether an API is deprecated does not change: the first request is enough.
        if (counts?.end(counted) === true && isDeprecated(state, labels)) counts.askedForDeprecated(labels)
      }
    })
    next()
  }
}

/** Runs after the tenant of the request is known. */
export function withTenantMetrics(metrics: Metrics): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    // It ended before its tenant was known: it belongs to none.
    if (!state.isOver) {
      const kind = kindOf(state)
      const counts = (state.counts = metrics.of(state.controlPlane))
      const own = counts.own.requests
      own.begin(kind)
      if (kind === "longRunning") {
        // It may still be rejected, so its labels contain only public information.
        const { verb, subresource } = state.info
        const known = labelsOf(state, unknownYet, request.headers)
        const labels = verb === "watch" ? known : { ...known, subresource }
        for (const each of [metrics.all.requests, own]) state.whenDone(each.enter(labels, seriesKey(labels)))
      }
    }
    next()
  }
}

function kindOf({ info }: RequestState): RequestKind {
  if (isLongRunning(info)) return "longRunning"
  return info.verb === "get" || info.verb === "list" ? "readOnly" : "mutating"
}

/** Verbs as upstream counts them: the method, unless one method stands for several verbs. */
const verbNames: Readonly<Record<string, string>> = dictionary({
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
  proxy: "CONNECT",
})
const nothing = { component: "", dryRun: "", group: "", version: "", resource: "", subresource: "", scope: "" }
/** Counts it like a rejected request. */
const unknownYet = 403
const healthPath = /^\/(?:healthz|livez|readyz)\b/

function labelsOf(state: RequestState, code: number, headers: IncomingHttpHeaders): RequestLabels {
  const { info, controlPlane } = state.summary
  const isApply = info?.verb === "patch" && headers["content-type"]?.startsWith(applyMediaType) === true
  const verb = isApply ? "APPLY" : (verbNames[info?.verb ?? ""] ?? "other")
  if (info === undefined) return { ...nothing, verb }
  if (!info.isResourceRequest) return { ...nothing, verb, subresource: healthPath.exec(info.path)?.[0] ?? "" }
  const { group, version, resource, subresource, namespace, name } = info
  // Labels for resources that are not served would allow callers to create arbitrary labels.
  const refused = code === 401 || code === 403 || code === 404
  if (refused && controlPlane?.resources?.registry({ group, version, resource }) === undefined) {
    return { ...nothing, verb }
  }
  const isNamed = name !== "" && info.verb !== "list" && info.verb !== "watch"
  const scope = isNamed || info.verb === "create" ? "resource" : namespace !== "" ? "namespace" : "cluster"
  const place = { component: "apiserver", dryRun: dryRunOf(state.query), group, version, resource, scope }
  return { ...place, verb, subresource: refused ? "" : subresource }
}

const applyMediaType = "application/apply-patch+yaml"

function dryRunOf(query: URLSearchParams): string {
  if (query.size === 0) return ""
  const given = query.getAll("dryRun")
  if (given.every((word) => word === "")) return ""
  return given.every((word) => word === "All") ? "All" : "invalid"
}

/** Only built-in kinds: deprecations in a tenant's definitions are not counted. */
function isDeprecated(
  { summary: { controlPlane } }: RequestState,
  { group, version, resource }: RequestLabels,
): boolean {
  if (resource === "") return false
  const definition = controlPlane?.resources?.registry({ group, version, resource })?.definition
  return definition?.warning !== undefined && definition.customResource === undefined
}

export function serveMetrics(metrics: Metrics): Filter {
  return (request, response, next) => {
    const { info, controlPlane } = response.locals.state
    if (info.path !== "/metrics" && info.path !== sliPath) return next()
    if (request.method === "DELETE") return countReset(metrics, response)
    response.stand({ [startHeader]: String(Math.floor(metrics.startOf(controlPlane) / 1000)) })
    if (info.path === sliPath) return next()
    return print(metrics, response, expositionTypeFor(request), acceptsGzipAtAll(request))
  }
}

/** Reports to metrics collectors that counters have been reset. */
const startHeader = "process-start-time-unix"

/**
 * A tenant may reset its own counters. Counters of the process cannot be reset, since several clients may scrape them. The other
 * path has no counters: it reports the current state.
 */
function countReset(metrics: Metrics, response: GatewayResponse): void {
  const { info, controlPlane } = response.locals.state
  if (info.path === "/metrics") {
    if (controlPlane.tenant === undefined) throw methodNotAllowed()
    metrics.of(controlPlane).reset()
  }
  const text = "metrics reset\n"
  response.writeHead(200, { "content-type": plainText, "content-length": text.length }).end(text)
}

async function print(metrics: Metrics, response: GatewayResponse, type: string, asGzip: boolean): Promise<void> {
  const { controlPlane, aside } = response.locals.state
  const isTenant = controlPlane.tenant !== undefined
  const text = await (isTenant ? metrics.printOf(controlPlane) : metrics.printAll(controlPlane))
  const job = (): Promise<Buffer> => compressed(text, { level: 1 })
  const body = asGzip ? await (aside?.(job) ?? job()) : text
  response.setHeader("Content-Type", type)
  if (asGzip) response.setHeader("Content-Encoding", "gzip")
  response.end(body)
}
