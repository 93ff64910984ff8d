// The source of Service addresses. A tenant's addresses must work on the super cluster's nodes, so they are claimed there before
// the tenant's write is answered (syncer/service-addresses.ts); the simulated super cluster allocates from its own range
// (gateway/registry/core/services).

import type { Service } from "../../apimachinery/object.ts"
import type { Claim } from "../registry/claim.ts"

export interface ServiceAddresses {
  /**
   * Called when `service` (metadata.uid set) is created or an update changes its requirements. Sets spec.clusterIP(s), ipFamilies,
   * ipFamilyPolicy and nodePorts in place. Throws StatusError Invalid (taken, out of range) or ServiceUnavailable.
   */
  claim(service: Service, current: Service | undefined): Promise<Claim>
  /** The same for a dry run: takes nothing, so another request may be given what it tells. Without it dry runs show no addresses. */
  preview?(service: Service, current: Service | undefined): Promise<void>
  /** Called after the service was deleted. */
  release(service: Service): Promise<void>
}
