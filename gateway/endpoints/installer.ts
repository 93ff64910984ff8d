// The chain's end: everything a control plane answers after the filters have said who asks and that he may.

import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"

export interface APIHandlerOptions {
  /** Body bytes of a request; beyond: 413. Default 3 MiB, as kube-apiserver. */
  maxBodyBytes?: number
}

export type APIHandler = (ctx: RequestContext, exchange: Exchange) => Promise<void>

/** Shared by all control planes. Throws StatusError; who calls writes the Status body. */
export function createAPIHandler(options: APIHandlerOptions = {}): APIHandler {
  return (ctx) => Promise.reject(new Error(`not yet: ${ctx.info.path} ${options.maxBodyBytes}`))
}
