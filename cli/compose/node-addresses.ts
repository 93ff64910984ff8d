// The addresses of the super cluster's nodes, for calls to them: a command, a log, each connection of a port-forward or proxy. A node keeps
// its address for long; it may have another one after it has been restarted, and then connections to the old one fail.

import { Agent, type AgentOptions } from "node:https"
import type { Duplex } from "node:stream"
import type { Clock } from "../../client/clock.ts"

/** So long an address is taken to be that of its node, unless a connection fails. */
const knownMs = 10_000

interface Known {
  readonly address: Promise<string | undefined>
  readonly agent: Agent
  /** By the clock's elapsed(). */
  readonly askedAt: number
}

export class NodeAddresses {
  readonly #ask: (node: string) => Promise<string | undefined>
  readonly #clock: Clock
  /** What was asked for first is first. */
  readonly #known = new Map<string, Known>()

  /** `ask`: undefined if there is no such node. Tenants may ask for any name, so that only what exists is remembered. */
  constructor(ask: (node: string) => Promise<string | undefined>, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  /** With an agent for connections to it, of which none is kept for another request. Fails as `ask` does. */
  async of(node: string): Promise<{ address: string; agent: Agent } | undefined> {
    this.#forgetOld()
    const known = this.#known.get(node) ?? this.#add(node)
    const address = await known.address
    return address === undefined ? undefined : { address, agent: known.agent }
  }

  #add(node: string): Known {
    const forget = (): void => {
      if (this.#known.get(node) === known) this.#known.delete(node)
    }
    const address = this.#ask(node)
    const known = { address, agent: new ObservedAgent(forget), askedAt: this.#clock.elapsed() }
    this.#known.set(node, known)
    address.then((found) => (found === undefined ? forget() : undefined), forget)
    return known
  }

  #forgetOld(): void {
    const oldest = this.#clock.elapsed() - knownMs
    for (const [node, { askedAt }] of this.#known) {
      if (askedAt > oldest) break
      this.#known.delete(node)
    }
  }
}

class ObservedAgent extends Agent {
  readonly #failed: () => void

  constructor(failed: () => void) {
    super() // any option would replace that of the same name of every request
    this.#failed = failed
  }

  override createConnection(options: AgentOptions, callback?: (error: Error | null, socket: Duplex) => void) {
    const socket = super.createConnection(options, callback)
    socket?.once("error", this.#failed)
    return socket
  }
}
