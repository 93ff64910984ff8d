// What one control plane serves: built-in resources (shared by all) and those its CustomResourceDefinitions add.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import type { Registry, ResourceDefinition } from "./rest.ts"

export interface ResourceTable {
  /** Undefined: not served. */
  registry(resource: GroupVersionResource): Registry | undefined
  registryOfKind(kind: { group: string; version: string; kind: string }): Registry | undefined
  /** In discovery's order. */
  definitions(): readonly ResourceDefinition[]
  /** Grows with every change of what is served: keys caches of discovery and OpenAPI. */
  readonly generation: number
}
