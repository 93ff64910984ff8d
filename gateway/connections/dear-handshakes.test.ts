// Clients that send much at the end of their handshakes, all at once.

import { once } from "node:events"
import { createServer } from "node:https"
import { type AddressInfo, connect as connectTCP } from "node:net"
import { Duplex } from "node:stream"
import { connect, type ConnectionOptions } from "node:tls"
import { expect, onTestFinished, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"
import { limitHandshakes } from "./handshakes.ts"

/** A client's connection that holds back all but its first message, until it is told to send it. */
class HoldingBack extends Duplex {
  readonly #raw
  #release: (() => void) | undefined
  #hasBegun = false

  constructor(port: number) {
    super()
    this.#raw = connectTCP({ port, host: "127.0.0.1" })
    this.#raw.on("data", (bytes) => this.push(bytes)).on("close", () => this.destroy())
    this.#raw.on("error", () => this.destroy()) // the server has closed it
  }

  get isHolding(): boolean {
    return this.#release !== undefined
  }

  release(): void {
    this.#release?.()
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const send = (): void => {
      this.#raw.write(bytes)
      done()
    }
    if (this.#hasBegun && this.#release === undefined) this.#release = send
    else send()
    this.#hasBegun = true
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#raw.destroy()
    done(error)
  }
}

test.runIf(process.platform === "linux")("clients of other addresses do not wait for all of them", async () => {
  const authority = await createAuthority("test")
  const serving = await issueServingCertificate(authority, ["localhost"])
  const tls = { cert: serving.certificate, key: serving.key, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls)
  let done = 0
  server.on("secureConnection", ({ remoteAddress = "" }) => (done += remoteAddress.endsWith("127.0.0.1") ? 1 : 0))
  limitHandshakes(server)
  server.listen(0)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  onTestFinished(() => void server.close())

  const names = Array.from({ length: 4_000 }, (_, index) => `${index}.a.long.name.test`)
  const { certificate: cert, key } = await issueServingCertificate(authority, names)
  const clients = Array.from({ length: 20 }, () => {
    const client = new HoldingBack(port)
    const socket = connect({ socket: client, cert, key, rejectUnauthorized: false })
    socket.on("error", () => undefined) // the server has closed it
    onTestFinished(() => void socket.destroy())
    return client
  })
  await expect.poll(() => clients.every(({ isHolding }) => isHolding)).toBe(true)
  for (const client of clients) client.release()
  const address = { port, host: "127.0.0.1", localAddress: "127.0.0.2" }
  const other = connect({ ...address, rejectUnauthorized: false } as ConnectionOptions)
  onTestFinished(() => void other.destroy())
  await once(other, "secureConnect")
  expect(done).toBeLessThan(9)
})
