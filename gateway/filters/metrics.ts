// Counts requests and their time, for all control planes together and for each, and answers /metrics: a tenant sees its own
// requests; what the whole process does is the super cluster's to see. Authorization was asked before.

import type { Metrics } from "../metrics.ts"
import { type RequestKind, type RequestLabels, seriesKey } from "../request-counts.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Filter, GatewayResponse, RequestState } from "./state.ts"

export function withMetrics(metrics: Metrics): Filter {
  return (_request, response, next) => {
    const { state } = response.locals
    const kind = kindOf(state)
    metrics.requests.begin(kind)
    state.whenDone(() => {
      const { statusCode: code } = response
      const seconds = kind === "longRunning" ? undefined : (performance.now() - state.startedAt) / 1000
      const labels = labelsOf(state, code)
      const counted = { kind, labels, key: seriesKey(labels), code, seconds }
      metrics.requests.end(counted)
      state.tenantCounts?.end(counted)
    })
    next()
  }
}

/** After it is known whose request it is. */
export function withTenantMetrics(metrics: Metrics): Filter {
  return (_request, response, next) => {
    const { state } = response.locals
    // Over before that was known: it is nobody's.
    if (!state.isOver) {
      state.tenantCounts = metrics.requestsOf(state.controlPlane)
      state.tenantCounts.begin(kindOf(state))
    }
    next()
  }
}

function kindOf({ info }: RequestState): RequestKind {
  if (isLongRunning(info)) return "longRunning"
  return info.verb === "get" || info.verb === "list" ? "readOnly" : "mutating"
}

/** Verbs as upstream counts them: the method, but where a method is several things. */
const verbNames: Readonly<Record<string, string>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
  proxy: "CONNECT",
}
const nothing = { group: "", version: "", resource: "", subresource: "", scope: "" }
const healthPath = /^\/(?:healthz|livez|readyz)\b/

function labelsOf(state: RequestState, code: number): RequestLabels {
  const { info, controlPlane } = state.summary
  const verb = verbNames[info?.verb ?? ""] ?? "other"
  if (info === undefined) return { ...nothing, verb }
  if (!info.isResourceRequest) return { ...nothing, verb, subresource: healthPath.exec(info.path)?.[0] ?? "" }
  const { group, version, resource, subresource, namespace, name } = info
  // A resource that is not served would let callers make up labels.
  const refused = code === 401 || code === 403 || code === 404
  if (refused && controlPlane?.resources?.registry({ group, version, resource }) === undefined) {
    return { ...nothing, verb }
  }
  const isNamed = name !== "" && info.verb !== "list" && info.verb !== "watch"
  const scope = isNamed || info.verb === "create" ? "resource" : namespace !== "" ? "namespace" : "cluster"
  return { verb, group, version, resource, subresource: refused ? "" : subresource, scope }
}

export function serveMetrics(metrics: Metrics): Filter {
  return (request, response, next) => {
    if (response.locals.state.info.path !== "/metrics" || request.method !== "GET") return next()
    return print(metrics, response)
  }
}

async function print(metrics: Metrics, response: GatewayResponse): Promise<void> {
  const { controlPlane } = response.locals.state
  response.setHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
  response.end(await (controlPlane.tenant === undefined ? metrics.print() : metrics.printOf(controlPlane)))
}
