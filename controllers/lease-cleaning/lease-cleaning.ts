// Deletes expired identity Leases of API servers.
// Source: k8s.io/kubernetes/pkg/controlplane/controller/apiserverleasegc.

import type { Lease } from "../../apimachinery/object.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { leases as leaseResource } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"

const label = "apiserver.kubernetes.io/identity"
const namespace = "kube-system"
/** Minimum interval between checks of a Lease. */
const periodMs = 3_600_000

const isIdentity = ({ metadata }: Lease): boolean =>
  metadata.namespace === namespace && metadata.labels?.[label] === "kube-apiserver"

export function runLeaseCleaning(ctx: ControllerContext): Promise<void> {
  const leases = ctx.informers.mentioning<Lease>(leaseResource, [label])
  const controller = new Controller<Lease>(ctx, {
    name: "apiserver-lease-cleaning",
    primary: leases,
    concerns: isIdentity,
    // Renewed Leases are checked at their next expiration.
    matters: () => false,
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const lease = leases.get(tenant, namespace, name)
    if (lease === undefined || !isIdentity(lease)) return
    const wait = expiresInMs(lease, ctx.clock.now())
    if (wait > 0) return { requeueAfterMs: Math.max(wait, periodMs) }
    const { uid, resourceVersion = "" } = lease.metadata
    try {
      const options = { resourceVersion, ...(uid === undefined ? {} : { uid }) }
      await actor.client.delete(leaseResource, namespace, name, options)
    } catch (error) {
      // Deleted or renewed in the meantime.
      if (!hasReason(error, "NotFound", "Conflict")) throw error
    }
  })
}

/** A Lease without renewTime or duration is expired. */
function expiresInMs({ spec }: Lease, now: number): number {
  const { renewTime, leaseDurationSeconds } = spec ?? {}
  if (renewTime === undefined || leaseDurationSeconds === undefined) return 0
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 - now
}
