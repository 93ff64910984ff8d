// Forwards requests to the admin surface, which is separate from the control planes and requires a certificate of the gateway's
// administrators. Express routes the admin surface, but not requests to control planes (decision 0011).

import { once } from "node:events"
import type { Request, Response, Router } from "express"
import { noSuchPath, unauthorized } from "../../apimachinery/status.ts"
import type { AdminSurfaceParts } from "../admin/surface.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import type { Filter, GatewayRequest, GatewayResponse } from "./chain.ts"

const prefix = "/polyplane/"

export const isForAdmin = ({ name, path }: NamedTenant): boolean => name === undefined && path.startsWith(prefix)

/** It is loaded with the first request, since express has a tenth of the modules of a process, and most processes do not need it. */
export function serveAdmin(parts: AdminSurfaceParts): Filter {
  let surface: Router | undefined
  const load = async (): Promise<Router> => {
    const { createAdminSurface } = await import("../admin/surface.ts")
    return (surface ??= createAdminSurface(parts)) // after a load that failed, the next request tries again
  }
  return (request, response, next) => {
    const { state } = response.locals
    if (!isForAdmin(state.named)) return next()
    if (!state.isAdministrator) throw unauthorized()
    if (surface !== undefined) return answered(surface, request, response)
    return load().then((router) => answered(router, request, response))
  }
}

async function answered(surface: Router, request: GatewayRequest, response: GatewayResponse): Promise<void> {
  const closed = once(response, "close")
  const refused = new Promise<never>((_, reject) => {
    surface(request as Request, response as unknown as Response, (error?: unknown) => reject(error ?? noSuchPath()))
  })
  await Promise.race([closed, refused])
}
