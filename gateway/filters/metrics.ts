// Counts requests and their time, and answers /metrics, which tells of all tenants and so is no tenant's to see.

import type { Metrics } from "../metrics.ts"
import type { RequestInfo } from "../request/context.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Filter } from "./state.ts"

export function withMetrics(metrics: Metrics): Filter {
  return (_request, response, next) => {
    const { state } = response.locals
    const { info } = state
    const request_kind = isLongRunning(info) ? "longRunning" : isReadOnly(info) ? "readOnly" : "mutating"
    metrics.inFlight.inc({ request_kind })
    state.whenDone(() => {
      metrics.inFlight.dec({ request_kind })
      // A resource that is not served would let callers make up labels.
      const served = response.statusCode !== 404 && response.statusCode !== 401 && response.statusCode !== 403
      const labels = labelsOf(info, served)
      metrics.requests.inc({ ...labels, code: String(response.statusCode) })
      if (request_kind !== "longRunning")
        metrics.durations.observe(labels, (performance.now() - state.startedAt) / 1000)
    })
    next()
  }
}

const knownVerbs = new Set(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"])

function labelsOf(info: RequestInfo, served: boolean) {
  const { group, version, resource, subresource, namespace, name } = info
  const verb = (knownVerbs.has(info.verb) ? info.verb : "other").toUpperCase()
  if (!info.isResourceRequest || !served)
    return { verb, group: "", version: "", resource: "", subresource: "", scope: "" }
  const scope = name !== "" ? "resource" : namespace !== "" ? "namespace" : "cluster"
  return { verb, group, version, resource, subresource, scope }
}

function isReadOnly({ verb }: RequestInfo): boolean {
  return verb === "get" || verb === "list"
}

export function serveMetrics(metrics: Metrics): Filter {
  return async (request, response, next) => {
    const { info, controlPlane } = response.locals.state
    if (info.path !== "/metrics" || controlPlane.tenant !== undefined || request.method !== "GET") return next()
    const text = await metrics.registry.metrics()
    response.setHeader("Content-Type", metrics.registry.contentType)
    response.end(text)
  }
}
