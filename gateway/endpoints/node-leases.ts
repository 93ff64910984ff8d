// Reads of the leases of nodes, which the syncer renews for tenants with a controller manager of their own while it knows their nodes: it
// need not have seen them since the tenant has woken. While the leases are watched, such a tenant does not sleep
// (../tenancy/known-tenants.ts).

import { leases } from "../../client/resources.ts"
import type { RequestContext } from "../request/context.ts"

/** The namespace of the leases of nodes. */
const nodeLeases = "kube-node-lease"

export const isOfNodeLeases = ({ info: { group, resource, namespace } }: RequestContext): boolean =>
  group === leases.group && resource === leases.resource && (namespace === "" || namespace === nodeLeases)

/** Call when such leases are read. */
export function expectRenewals({ controlPlane }: RequestContext): void {
  if (controlPlane.tenant?.controllers === false) controlPlane.introduce()
}
