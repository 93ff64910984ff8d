// When a request is given up that gets no connection, no answer, or nothing more of it.

import type { ClientRequest } from "node:http"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"

/** A stream that does not start in time is as useless as one that falls silent. */
export function limitStream(request: ClientRequest, idleMs: number, beginMs: number): void {
  request.setTimeout(idleMs, () => request.destroy(new Error(`nothing received for ${idleMs} ms`)))
  const late = setTimeout(() => request.destroy(new Error(`no answer within ${beginMs} ms`)), beginMs)
  const clear = (): void => clearTimeout(late)
  request.once("response", clear)
  request.once("close", clear)
}

/** Of connections to kubelets and vn-agents, as upstream. A log may be silent for as long as it likes, but only once there is one. */
export const nodeConnectTimeoutMs = 30_000
/** Of a vn-agent to its kubelet: what it says of a silent one reaches the gateway before that gives up the vn-agent. */
export const kubeletConnectTimeoutMs = 25_000

export function limitConnecting(request: ClientRequest, timeoutMs: number): void {
  onSocket(request, (socket) => {
    if (!socket.connecting) return
    const late = setTimeout(() => request.destroy(new Error(`no connection within ${timeoutMs} ms`)), timeoutMs)
    const clear = (): void => clearTimeout(late)
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", clear)
    request.once("close", clear)
  })
}

export function onSocket(request: ClientRequest, call: (socket: Socket) => void): void {
  if (request.socket === null) request.once("socket", call)
  else call(request.socket)
}
