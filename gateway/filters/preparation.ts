// Prepares a tenant when it is first used (control-plane/prepare.ts). Most requests to most tenants only read bootstrap objects, which
// need no preparation.

import type { RequestInfo } from "../request/request-info.ts"
import type { Filter } from "./chain.ts"

const reads = new Set(["get", "list", "watch"])

/** Reads that need preparation: the first Service and its endpoints, and objects that the super cluster provides to tenants. */
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
