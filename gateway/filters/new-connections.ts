// Delays the first requests of a tenant's connections while others wait for their handshake (connections/new-connections.ts).

import type { NewConnections } from "../connections/new-connections.ts"
import { queue } from "../metrics/flow-counts.ts"
import type { Filter } from "./chain.ts"

export function withNewConnections(connections: NewConnections): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    // An HTTP/2 stream whose client has left has no socket.
    const socket = request.socket as typeof request.socket | undefined
    if (state.isAdministrator || socket === undefined) return next()
    const waiting = connections.take(state.controlPlane.presence, socket, (callback) => state.whenDone(callback))
    if (waiting === undefined) return next()
    queue(state)
    return waiting.then(() => {
      if (!state.isAborted) next()
    })
  }
}
