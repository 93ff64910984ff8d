// The admin surface lies beside the control planes, not in one: only a certificate of the gateway's administrators opens it.

import { unauthorized } from "../../apimachinery/status.ts"
import type { AdminSurface } from "../admin/surface.ts"
import type { Filter } from "./state.ts"

const prefix = "/polyplane/"

export function serveAdmin(surface: AdminSurface): Filter {
  return async (request, response, next) => {
    const { state } = response.locals
    if (state.named.name !== undefined || !state.named.path.startsWith(prefix)) return next()
    if (!state.isAdministrator) throw unauthorized()
    await surface({
      request,
      response,
      path: state.named.path.slice(prefix.length),
      query: state.query,
      signal: state.signal,
    })
  }
}
