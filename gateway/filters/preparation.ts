// A tenant that somebody begins to use is prepared for it first (tenancy/prepare.ts). Most requests to most tenants read
// what every control plane is born with, which is nothing to wait for.

import type { RequestInfo } from "../request/request-info.ts"
import type { Filter } from "./state.ts"

const reads = new Set(["get", "list", "watch"])

/** What reads must not find missing: the first Service and where it leads, and what the super cluster lends to tenants. */
const fromSuper = new Set([
  "services",
  "endpoints",
  "endpointslices",
  "nodes",
  "persistentvolumes",
  "storageclasses",
  "priorityclasses",
  "runtimeclasses",
])

export const withPreparation: Filter = (_request, response, next) => {
  const { state } = response.locals
  const waiting = isUse(state.info) ? state.controlPlane.begin() : undefined
  if (waiting === undefined) return next()
  return waiting.then(() => {
    if (!state.isOver) next()
  })
}

function isUse({ isResourceRequest, verb, resource }: RequestInfo): boolean {
  return isResourceRequest && (!reads.has(verb) || fromSuper.has(resource))
}
