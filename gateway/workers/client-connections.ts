// Client connections that another process has accepted: a TLS server that does not listen. It implements what a listening server
// does itself (limit connections, close them).

import type { Server } from "node:https"
import type { Socket } from "node:net"
import { endConnections } from "../connections/listener.ts"
import type { RequestState } from "../filters/state.ts"
import type { Arrivals } from "../request/arrivals.ts"

export class ClientConnections implements AsyncDisposable {
  readonly #server: Server
  readonly #active: Arrivals<RequestState>
  readonly #shutdownMs: number
  readonly #open = new Set<Socket>()
  #ended: (() => void) | undefined

  constructor(server: Server, active: Arrivals<RequestState>, { shutdownMs }: { shutdownMs: number }) {
    this.#server = server
    this.#active = active
    this.#shutdownMs = shutdownMs
    // Node starts to enforce request timeouts when a server listens.
    server.emit("listening")
  }

  /** Closes the connection if the limit is reached. */
  accept(socket: Socket): void {
    if (this.#ended !== undefined || this.#open.size >= this.#server.maxConnections) {
      socket.destroy()
      return
    }
    this.#open.add(socket)
    socket.setNoDelay(true)
    socket.once("close", () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#ended?.()
    })
    this.#server.emit("connection", socket)
  }

  /** As in listener.ts. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#ended = resolve
      if (this.#open.size === 0) resolve()
    })
    // It does not listen, but this ends HTTP/2 sessions.
    this.#server.close()
    const ended = endConnections(this.#server, this.#active)
    const timer = setTimeout(() => {
      for (const socket of this.#open) socket.destroy()
    }, this.#shutdownMs)
    await closed
    clearTimeout(timer)
    ended()
  }
}
