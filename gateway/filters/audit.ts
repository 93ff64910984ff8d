// Writes one structured entry per request when it has ended: who did what to which object of which tenant, with what result.

import type { Log } from "../../client/log.ts"
import { clientAddress } from "../connections/client-connection.ts"
import type { Filter } from "./chain.ts"
import { codeOf } from "./state.ts"

export function withAudit(audit: Log | undefined): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    if (audit !== undefined) {
      // A connection that has ended no longer knows it.
      const sourceIP = clientAddress(request)
      state.whenDone(() => {
        const { info, controlPlane, user } = state.summary
        audit.info(
          {
            auditID: state.id,
            tenant: controlPlane?.name,
            user: state.impersonator?.name ?? user?.name,
            impersonatedUser: state.impersonator === undefined ? undefined : user?.name,
            verb: info?.verb,
            group: info?.group,
            resource: info?.resource,
            subresource: info?.subresource,
            namespace: info?.namespace,
            name: info?.name,
            uri: request.url,
            userAgent: request.headers["user-agent"],
            sourceIP,
            code: codeOf(state, response),
            annotations: state.annotations,
            ms: Math.round(performance.now() - state.startedAt),
          },
          "audit",
        )
      })
    }
    next()
  }
}
