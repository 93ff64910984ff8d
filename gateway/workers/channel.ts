// Remote calls between the primary and its workers, over Node's pipe to child processes: each has a name, a value and one result.
// When the other side has ended, pending calls fail with ChannelClosed.

import type { Socket } from "node:net"
import { StatusError, type Status } from "../../apimachinery/status.ts"

/** The process on the other side: `process` in a worker, the ChildProcess in the primary. */
export interface Peer {
  send?(
    message: object,
    handle: Socket | undefined,
    options: { keepOpen: boolean },
    callback: (error: Error | null) => void,
  ): boolean
  on(event: "message", listener: (message: unknown, handle: unknown) => void): unknown
  once(event: "disconnect" | "exit", listener: () => void): unknown
}

export class ChannelClosed extends Error {
  override readonly name = "ChannelClosed"

  constructor() {
    super("the process has ended")
  }
}

/** An error that the other side threw. */
export class CallFailed extends Error {
  override readonly name = "CallFailed"
}

interface Failure {
  message: string
  /** Set for a StatusError, which is recreated on the other side. */
  status?: Status
}

type Message =
  | { type: "call"; id: number; name: string; value: unknown }
  | { type: "answer"; id: number; value?: unknown; error?: Failure }
  | { type: "connection"; id: number }
  | { type: "taken"; id: number }

/** Names of calls, each with the types of its value and its result. */
type Calls = Record<string, [value: unknown, answer: unknown]>

export type Handlers<C extends Calls> = { [K in keyof C]: (value: C[K][0]) => Promise<C[K][1]> | C[K][1] }

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

export class Channel<Out extends Calls, In extends Calls> {
  readonly #peer: Peer
  readonly #handlers: Handlers<In>
  readonly #connection: ((socket: Socket) => void) | undefined
  readonly #waiting = new Map<number, Waiting>()
  /** Connections that were sent but not yet received by the other side, by number. */
  readonly #given = new Map<number, Socket>()
  #last = 0
  #closed = false

  constructor(peer: Peer, handlers: Handlers<In>, connection?: (socket: Socket) => void) {
    this.#peer = peer
    this.#handlers = handlers
    this.#connection = connection
    peer.on("message", (message, handle) => this.#receive(message as Message, handle as Socket | undefined))
    peer.once("disconnect", () => this.#close())
    peer.once("exit", () => this.#close())
  }

  get isOpen(): boolean {
    return !this.#closed
  }

  async call<K extends keyof Out & string>(name: K, value: Out[K][0]): Promise<Out[K][1]> {
    if (this.#closed) throw new ChannelClosed()
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    this.#send({ type: "call", id, name, value })
    return promise
  }

  /**
   * Sends a connection. It is closed if the other side ends before it has received it: otherwise Node keeps the sent socket open
   * forever, and the client would wait for a response that never comes.
   */
  hand(socket: Socket): void {
    if (this.#closed) {
      socket.destroy()
      return
    }
    const id = ++this.#last
    this.#given.set(id, socket)
    this.#send({ type: "connection", id }, socket)
  }

  #send(message: Message, socket?: Socket): void {
    this.#peer.send?.(message, socket, { keepOpen: true }, (error) => {
      if (error === null) return
      // A pipe that cannot be written to has lost its other end.
      if (message.type === "connection") this.#release(message.id)
      if (message.type === "call") this.#settle(message.id)?.reject(new ChannelClosed())
    })
  }

  /** The other side has received the connection, or never will. */
  #release(id: number): void {
    this.#given.get(id)?.destroy()
    this.#given.delete(id)
  }

  #receive(message: Message, socket: Socket | undefined): void {
    if (message.type === "connection") {
      this.#send({ type: "taken", id: message.id })
      // The client may have disconnected during the transfer.
      if (socket !== undefined) this.#connection?.(socket)
    } else if (message.type === "taken") this.#release(message.id)
    else if (message.type === "call") void this.#answer(message)
    else {
      const waiting = this.#settle(message.id)
      const { error } = message
      if (error === undefined) waiting?.resolve(message.value)
      else waiting?.reject(error.status === undefined ? new CallFailed(error.message) : new StatusError(error.status))
    }
  }

  async #answer({ id, name, value }: Message & { type: "call" }): Promise<void> {
    try {
      const handler = this.#handlers[name as keyof In & string]
      if (handler === undefined) throw new Error(`there is no call "${name}"`)
      this.#send({ type: "answer", id, value: await handler(value) })
    } catch (error) {
      this.#send({ type: "answer", id, error: failureOf(error) })
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #close(): void {
    this.#closed = true
    for (const waiting of this.#waiting.values()) waiting.reject(new ChannelClosed())
    this.#waiting.clear()
    for (const id of this.#given.keys()) this.#release(id)
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof StatusError) return { message: error.message, status: error.status }
  return { message: error instanceof Error ? error.message : String(error) }
}
