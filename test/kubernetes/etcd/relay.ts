// A proxy between a database and etcd, which loses responses.

import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

export class Relay implements AsyncDisposable {
  #isMute = false
  readonly #connections = new Set<Socket>()
  readonly #server = createServer((near) => {
    const far = connect(this.#port, "127.0.0.1")
    near.pipe(far)
    far.on("data", (data) => void (this.#isMute || near.write(data)))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#connections.add(one)
      one.on("error", () => undefined) // closed below
      one.on("close", () => other.destroy())
    }
  })
  readonly #port: number

  static async start(server: string): Promise<Relay> {
    const relay = new Relay(Number(new URL(server).port))
    relay.#server.listen(0, "127.0.0.1")
    await once(relay.#server, "listening")
    return relay
  }

  private constructor(port: number) {
    this.#port = port
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** From now on requests arrive, and responses are lost. */
  mute(): void {
    this.#isMute = true
  }

  /** Closes all connections; new ones work. */
  reset(): void {
    this.#isMute = false
    for (const socket of this.#connections) socket.destroy()
    this.#connections.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset()
    this.#server.close()
    await once(this.#server, "close")
  }
}
