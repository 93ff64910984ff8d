// When a request is given up that gets no connection, no answer, or nothing more of it.

import type { ClientRequest } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
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

/** A node's server that is silent for two of these intervals is asked whether it is there, and is given up if it says nothing in a third. */
const silenceMs = 15_000

/**
 * For logs, which may be silent for hours: a process that is stopped, or hangs, is not noticed by its machine's kernel, which answers
 * for it. kube-apiserver reads them over HTTP/2 and sends a ping after 30 s, which must be answered within 15 s (SetTransportDefaults of
 * k8s.io/apimachinery/pkg/util/net). HTTP/1.1 has none, so another request is sent to `server`, and any answer will do. Commands and
 * port-forwards are not ended so, as upstream.
 */
export function endIfDead(request: ClientRequest, server: RequestOptions): void {
  onSocket(request, (socket) => {
    let read = socket.bytesRead
    let silent = 0
    let probe: ClientRequest | undefined
    const isThere = (): void => {
      silent = 0
      probe?.destroy()
      probe = undefined
    }
    const timer = setInterval(() => {
      if (socket.bytesRead > read) isThere()
      else if (++silent === 2) {
        const asked = httpsRequest({ ...server, method: "GET", path: "/healthz", headers: {} })
        const answered = (): void => void (probe === asked && isThere())
        probe = asked
        // Where a connection is refused, its kernel has told the log, too.
        asked.once("response", answered).on("error", answered).end()
      } else if (silent > 2) request.destroy(new Error("the server is silent, and does not answer others either"))
      read = socket.bytesRead
    }, silenceMs)
    request.once("close", () => {
      clearInterval(timer)
      isThere()
    })
  })
}

/** Of a request to a node's server: a kubelet, or a vn-agent. */
export function limitNode(request: ClientRequest, server: RequestOptions): void {
  limitConnecting(request, nodeConnectTimeoutMs)
  endIfDead(request, server)
}

function onSocket(request: ClientRequest, call: (socket: Socket) => void): void {
  if (request.socket === null) request.once("socket", call)
  else call(request.socket)
}
