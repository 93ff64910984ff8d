// Filters on a real HTTP server, without a control plane or with one that has next to nothing.

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { silentLog, type Log } from "../../../client/log.ts"
import type { User } from "../../request/user.ts"
import type { ControlPlane } from "../../control-plane/control-plane.ts"
import { ThreadPlaces } from "../../request/thread-places.ts"
import { Turns } from "../../request/turns.ts"
import { Presence } from "../../tenancy/presence.ts"
import { chainOf, type Filter, GatewayResponse } from "../chain.ts"
import { statusErrors } from "../errors.ts"
import { withRequestState } from "../request-id.ts"
import { withRequestInfo } from "../request-info.ts"
import { Arrivals } from "../../request/arrivals.ts"

export async function serve(filters: Filter[], log: Log = silentLog): Promise<string> {
  const chain = [withRequestState(new WeakMap(), new Arrivals()), withRequestInfo(undefined), ...filters]
  const server = createServer({ ServerResponse: GatewayResponse }, chainOf(chain, statusErrors(log)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const throwing =
  (error: unknown): Filter =>
  () => {
    throw error
  }

export const controlPlane = (): ControlPlane =>
  ({ presence: new Presence(), turns: new Turns(), threadPlaces: new ThreadPlaces() }) as ControlPlane
export const plane = controlPlane()
export const inPlane =
  (controlPlane: ControlPlane, user?: User): Filter =>
  (_request, response, next) => {
    response.locals.state.controlPlane = controlPlane
    if (user !== undefined) response.locals.state.user = user
    next()
  }
