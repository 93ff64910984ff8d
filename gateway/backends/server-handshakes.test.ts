import { once } from "node:events"
import { type AddressInfo, connect, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { createServer } from "node:tls"
import { expect, onTestFinished, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"
import { Backends } from "./backends.ts"
import { localNetworks, NetworkRules } from "./networks.ts"
import { ServerHandshakes } from "./server-handshakes.ts"

const nobody = (): Promise<never> => Promise.reject(new Error("nobody asks"))
const handshakes = new ServerHandshakes()

function backendsOfTenant(): Backends {
  const networks = new NetworkRules(localNetworks)
  const backends = new Backends({
    reader: { get: nobody, list: nobody },
    nodes: { dial: nobody },
    networks,
    handshakes,
  })
  onTestFinished(() => backends[Symbol.dispose]())
  return backends
}

async function startServer(): Promise<{ port: number }> {
  const { certificate, key } = await issueServingCertificate(await createAuthority("test"), ["localhost"])
  const server = createServer({ cert: certificate, key })
  server.on("secureConnection", (socket) => socket.on("error", () => undefined)) // the client has closed it
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return server.address() as AddressInfo
}

/** A connection whose server's answers are held back until all of them are let through. */
class Held extends Duplex {
  readonly #socket: Socket
  #answers: Buffer[] = []

  constructor(port: number) {
    super()
    this.#socket = connect({ port, host: "127.0.0.1" })
    this.#socket.on("data", (bytes: Buffer) => this.#answers.push(bytes))
  }

  get isAnswered(): boolean {
    return this.#answers.length > 0
  }

  release(): void {
    for (const answer of this.#answers) this.push(answer)
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#socket.write(bytes, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

test("handshakes with a tenant's servers end in different turns of the event loop", async () => {
  const { port } = await startServer()
  let turns = 0
  const counting = setInterval(() => turns++, 0)
  onTestFinished(() => clearInterval(counting))
  const backends = backendsOfTenant()
  const connections = Array.from({ length: 12 }, () => new Held(port))
  const endings = connections.map(async (connection) => {
    const socket = await backends.secure(connection, { rejectUnauthorized: false }, new AbortController().signal)
    socket.destroy()
    return turns
  })
  await expect.poll(() => connections.every(({ isAnswered }) => isAnswered)).toBe(true)
  for (const connection of connections) connection.release()
  const endedIn = await Promise.all(endings)
  expect(new Set(endedIn).size).toBeGreaterThan(endedIn.length / 2) // a timer may see two of them
})

test("a connection of another tenant does not wait for those whose servers are silent", async () => {
  const { port } = await startServer()
  const silent = createServer()
  const held = new Set<{ destroy(): void }>()
  silent.removeAllListeners("connection").on("connection", (socket: { destroy(): void }) => held.add(socket))
  await once(silent.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
    silent.close()
  })
  const waiting = backendsOfTenant()
  const attempt = new AbortController()
  const attempts = Array.from({ length: 20 }, async () => {
    const raw = connect({ port: (silent.address() as AddressInfo).port, host: "127.0.0.1" })
    await once(raw, "connect")
    await expect(waiting.secure(raw, { rejectUnauthorized: false }, attempt.signal)).rejects.toThrow("i/o timeout")
  })
  await expect.poll(() => held.size).toBe(20)
  const raw = connect({ port, host: "127.0.0.1" })
  await once(raw, "connect")
  const socket = await backendsOfTenant().secure(raw, { rejectUnauthorized: false }, attempt.signal)
  expect(socket.destroy().destroyed).toBe(true)
  attempt.abort()
  await Promise.all(attempts)
})
