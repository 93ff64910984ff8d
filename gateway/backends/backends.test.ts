import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { Duplex, duplexPair } from "node:stream"
import { createSecureContext, type SecureVersion, TLSSocket } from "node:tls"
import { afterAll, beforeAll, expect, test } from "vitest"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"
import { Backends } from "./backends.ts"
import { localNetworks, NetworkRules } from "./networks.ts"
import { ServerHandshakes } from "./server-handshakes.ts"

const echo = createServer((socket) => socket.pipe(socket))
const nobody = async (): Promise<never> => {
  throw new Error("an address needs no objects and no nodes")
}
const backends = new Backends({
  reader: { get: nobody, list: nobody },
  nodes: { dial: nobody },
  networks: new NetworkRules(localNetworks),
  handshakes: new ServerHandshakes(),
})

beforeAll(async () => {
  await once(echo.listen(0, "127.0.0.1"), "listening")
})

afterAll(() => {
  backends[Symbol.dispose]()
  echo.close()
})

function dial(signal: AbortSignal): Promise<Duplex> {
  const { port } = echo.address() as AddressInfo
  return backends.dialEndpoint({ pod: undefined, address: "127.0.0.1", port }, signal)
}

// A pool keeps connections for later calls, and streaming connections stay open for hours.
test("a connection is kept after its connect timeout", async () => {
  const attempt = new AbortController()
  const connection = await dial(attempt.signal)
  attempt.abort()
  connection.write("still here")
  const [answer] = (await once(connection, "data")) as [Buffer]
  expect(answer.toString()).toBe("still here")
  connection.destroy()
})

test.runIf(process.platform === "linux")("a connection to an address is probed", async () => {
  const connection = (await dial(new AbortController().signal)) as Socket
  await expect.poll(() => areProbed(connection.localPort ?? 0)).toEqual([true])
  connection.destroy()
})

test("no TLS handshake starts after the timeout", async () => {
  const connection = await dial(new AbortController().signal)
  await expect(backends.secure(connection, {}, AbortSignal.abort())).rejects.toThrow("i/o timeout")
  expect(connection.destroyed).toBe(true)
})

test("a timed-out attempt leaves no connection", async () => {
  const attempt = new AbortController()
  const connecting = dial(attempt.signal)
  attempt.abort()
  await expect(connecting).rejects.toThrow("aborted")
})

/** The client's end of a connection to a TLS server, whose last flight of the handshake comes together with `rest`. */
class Handshaking extends Duplex {
  readonly #far: Duplex
  #flight: Buffer[] = []

  constructor(server: { cert: string; key: string; version: SecureVersion }, rest: Buffer) {
    super()
    const [near, far] = duplexPair()
    this.#far = far
    const { version, ...identity } = server
    const secureContext = createSecureContext({ ...identity, minVersion: version, maxVersion: version })
    new TLSSocket(near, { isServer: true, secureContext }).on("error", () => undefined)
    let flights = version === "TLSv1.3" ? 1 : 2
    far.on("data", (bytes: Buffer) => {
      if (this.#flight.push(bytes) > 1) return
      setImmediate(() => {
        const flight = Buffer.concat(this.#flight.splice(0))
        this.push(--flights === 0 ? Buffer.concat([flight, rest]) : flight)
      })
    })
  }

  override _read(): void {
    // The server's bytes come by themselves.
  }

  override _write(bytes: Buffer, _encoding: string, callback: () => void): void {
    this.#far.write(bytes)
    callback()
  }
}

// Without a listener the error would end the process.
test.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])(
  "bytes after a handshake of %s that are no TLS are an error",
  async (version) => {
    const authority = await createAuthority("test")
    const { certificate: cert, key } = await issueServingCertificate(authority, ["web.default.svc"])
    const noRecord = Buffer.from([0x17, 3, 3, 0, 32, ...Buffer.alloc(32, 7)])
    const connection = new Handshaking({ cert, key, version }, noRecord)
    const options = { ca: authority.certificate, servername: "web.default.svc" }
    await expect(backends.secure(connection, options, new AbortController().signal)).rejects.toThrow(/error/)
    expect(connection.destroyed).toBe(true)
  },
)
