// The input of a verb: the registry of the requested resource, the raw exchange, and the limits.

import type { SubresourceFacts } from "../../apimachinery/schema/facts.ts"
import type { ServerResponse } from "node:http"
import type { Exchange, SubresourceHandler } from "../registry/strategy.ts"
import type { RunCache } from "./responses/run-cache.ts"
import type { Registry, ResourceDefinition } from "../registry/rest.ts"

export interface EndpointLimits {
  maxBodyBytes: number
  maxGatheredObjects: number
  maxGatheredBytes: number
}

export interface Endpoint extends EndpointLimits {
  registry: Registry
  definition: ResourceDefinition
  /** The requested subresource, and its handler, which exists for all but "status". */
  subresource: SubresourceFacts | undefined
  handler: SubresourceHandler | undefined
  exchange: Exchange
  response: ServerResponse
  /** The cache of encoded list parts. */
  runs: RunCache
}
