// Puts the caller's control plane into the request: its own handle and the only one that can be reached from here on.
// A tenant that does not exist is a control plane like any other, whose trust roots nobody holds: whoever asks for it gets
// the answers, and causes the work, of a caller with another tenant's credential.

import { noSuchPath, notFound } from "../../apimachinery/status.ts"
import { credentialsOf } from "../authentication/credentials.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import type { TenantResolver } from "../tenancy/tenant-resolver.ts"
import type { Filter, RequestState } from "./state.ts"

export function withTenant(resolver: TenantResolver): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    const place = (found: ControlPlane | undefined): void => {
      enter(resolver, state, found)
      next()
    }
    state.credentials = state.presented ?? credentialsOf(request)
    state.isAdministrator = resolver.isAdministrator(state.credentials)
    const found = resolver.resolve(state.named, state)
    return found instanceof Promise ? found.then(place) : place(found)
  }
}

function enter(resolver: TenantResolver, state: RequestState, found: ControlPlane | undefined): void {
  if (found !== undefined) {
    state.controlPlane = found
    // A watch outlives its tenant's sleep; everything else keeps it awake.
    if (state.info.verb === "watch") found.presence.touch()
    else state.whenDone(found.presence.enter())
  } else if (state.isAdministrator && state.named.name !== undefined) {
    // The gateway's administrators may know who is there.
    throw notFound({ group: "", resource: "tenants" }, state.named.name)
  } else {
    // They would be masters of a control plane that is none.
    if (state.isAdministrator && state.info.isResourceRequest) throw noSuchPath()
    state.controlPlane = resolver.nobody
  }
}
