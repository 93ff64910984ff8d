// What a verb works with: the registry of the resource asked for, the raw exchange, and the limits.

import type { ServerResponse } from "node:http"
import type { Exchange, SubresourceHandler } from "../registry/strategy.ts"
import type { RunCache } from "./run-cache.ts"
import type { Registry, ResourceDefinition, SubresourceDefinition } from "../registry/rest.ts"

export interface EndpointLimits {
  maxBodyBytes: number
  maxGatheredObjects: number
}

export interface Endpoint extends EndpointLimits {
  registry: Registry
  definition: ResourceDefinition
  /** What is asked for below the object: its definition, and the handler of all but "status". */
  subresource: SubresourceDefinition | undefined
  handler: SubresourceHandler | undefined
  exchange: Exchange
  response: ServerResponse
  /** What parts of lists became. */
  runs: RunCache
}
