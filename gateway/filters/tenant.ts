// Sets the control plane of the request: the tenant's own handle, and the only one that later code can reach.
// A tenant that does not exist is a control plane like any other, whose trust roots nobody holds. A request for it gets the same
// responses, and causes the same work, as a request with another tenant's credential.

import { noSuchPath } from "../../apimachinery/status.ts"
import { credentialsOf } from "../authentication/credentials.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { meantUID, useOf } from "../request/named-tenant.ts"
import { noSuchTenant } from "../tenancy/tenant-errors.ts"
import type { TenantResolver } from "../tenancy/tenant-resolver.ts"
import type { Filter } from "./chain.ts"
import type { RequestState } from "./state.ts"

export function withTenant(resolver: TenantResolver): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    state.credentials = state.presented ?? credentialsOf(request)
    state.isAdministrator = resolver.isAdministrator(state.credentials)
    const intent = state.isAdministrator ? { uid: meantUID(request), ...useOf(request) } : undefined
    const place = (found: ControlPlane | undefined): void => {
      enter(resolver, state, found, intent?.isUse)
      next()
    }
    const found = resolver.resolve(state.named, state, intent)
    return found instanceof Promise ? found.then(place) : place(found)
  }
}

function enter(resolver: TenantResolver, state: RequestState, found: ControlPlane | undefined, isUse = true): void {
  if (found !== undefined) {
    state.controlPlane = found
    // Watches continue while the tenant sleeps; all other requests keep it awake.
    if (state.info.verb !== "watch") state.whenDone(found.presence.enter(isUse))
    else if (isUse) found.presence.touch()
  } else if (state.isAdministrator && state.named.name !== undefined) {
    // Only the gateway's administrators may find out whether a tenant exists.
    throw noSuchTenant(state.named.name)
  } else {
    // Otherwise they would be administrators of a nonexistent control plane.
    if (state.isAdministrator && state.info.isResourceRequest) throw noSuchPath()
    state.controlPlane = resolver.nobody
  }
}
