// Servers of nodes that fall silent. For logs, which may be silent for hours: a process that is stopped, or hangs, is not noticed by its
// machine's kernel, which answers for it. kube-apiserver reads logs over HTTP/2 and sends a ping after 30 s, which must be answered within
// 15 s (SetTransportDefaults of k8s.io/apimachinery/pkg/util/net). HTTP/1.1 has none, so the server is sent another request, and any answer
// will do. Commands and port-forwards are not ended so, as upstream.

import type { ClientRequest } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import type { Socket } from "node:net"
import { onSocket } from "./time-limits.ts"

/** A server that is silent for two of these intervals is asked whether it is there, and is given up if it says nothing in a third. */
const silenceMs = 15_000

/** Shared by all requests of a process, so that a server is asked once for all of them. */
export class SilentServers {
  /** By host and port, those to which requests are open. */
  readonly #servers = new Map<string, Silence>()

  /** From now on the request is destroyed when the server is given up. */
  follow(request: ClientRequest, server: RequestOptions): void {
    onSocket(request, (socket) => {
      const id = `${server.host} ${server.port}`
      const silence = this.#servers.get(id) ?? new Silence(server)
      this.#servers.set(id, silence)
      silence.add(request, socket)
      request.once("close", () => {
        if (silence.remove(request)) this.#servers.delete(id)
      })
    })
  }
}

/** Of one server. What it says on one connection says that it is there for all. */
class Silence {
  readonly #server: RequestOptions
  /** With what was read of their connections until the last interval. */
  readonly #open = new Map<ClientRequest, { socket: Socket; read: number }>()
  readonly #timer: NodeJS.Timeout
  #intervals = 0
  #question: ClientRequest | undefined

  constructor(server: RequestOptions) {
    this.#server = server
    this.#timer = setInterval(() => this.#check(), silenceMs)
  }

  add(request: ClientRequest, socket: Socket): void {
    this.#open.set(request, { socket, read: socket.bytesRead })
  }

  /** Returns whether it was the last one. */
  remove(request: ClientRequest): boolean {
    this.#open.delete(request)
    if (this.#open.size > 0) return false
    clearInterval(this.#timer)
    this.#isThere()
    return true
  }

  #check(): void {
    if (this.#hasSpoken()) this.#isThere()
    else if (++this.#intervals === 2) this.#ask()
    else if (this.#intervals > 2) {
      const given = new Error("the server is silent, and does not answer others either")
      for (const request of this.#open.keys()) request.destroy(given)
    }
  }

  #hasSpoken(): boolean {
    let hasSpoken = false
    for (const one of this.#open.values()) {
      const { bytesRead } = one.socket
      hasSpoken ||= bytesRead > one.read
      one.read = bytesRead
    }
    return hasSpoken
  }

  #ask(): void {
    const asked = httpsRequest({ ...this.#server, method: "GET", path: "/healthz", headers: {} })
    const answered = (): void => void (this.#question === asked && this.#isThere())
    this.#question = asked
    // Where a connection is refused, its kernel has told the logs, too.
    asked.once("response", answered).on("error", answered).end()
  }

  #isThere(): void {
    this.#intervals = 0
    this.#question?.destroy()
    this.#question = undefined
  }
}
