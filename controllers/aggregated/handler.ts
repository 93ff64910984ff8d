// What a controller that follows the objects of aggregated APIs is told.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

/** Objects are reduced to what decides about their deletion (metadata.ts). */
export interface AggregatedHandler {
  /** All objects of the resource that are of interest. Others are in `uids` only. */
  replaced(
    tenant: string,
    resource: DiscoveredResource,
    objects: readonly KubeObject[],
    uids: ReadonlySet<string>,
  ): void
  changed(
    tenant: string,
    resource: DiscoveredResource,
    type: "ADDED" | "MODIFIED" | "DELETED",
    object: KubeObject,
  ): void
  /** It is not served any more; what has become of its objects is not known. */
  forgotten(tenant: string, resource: DiscoveredResource): void
  /** isComplete() has become true. */
  complete(tenant: string): void
}
