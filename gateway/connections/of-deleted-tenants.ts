// Ends what a deleted tenant's clients still have open: an exec, a log or the connection of a proxy would go on for as long as both
// sides like. Watches end with the store.

import type { Tenants } from "../../client/tenants.ts"
import type { RequestState } from "../filters/state.ts"
import type { Arrivals } from "../request/arrivals.ts"

const deleted = new Error("the tenant has been deleted")

/** Also for a tenant that another process takes over, which has none here. Returns a function that ends this. */
export function endStreamsOfDeleted(tenants: Pick<Tenants, "subscribe">, active: Arrivals<RequestState>): () => void {
  return tenants.subscribe({
    removed({ uid }) {
      for (const state of active.values)
        if (state.isLongRunning && state.summary.controlPlane?.tenant?.uid === uid) state.abort(deleted)
    },
  })
}
