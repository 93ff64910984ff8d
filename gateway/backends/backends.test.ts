import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import type { Duplex } from "node:stream"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Backends, secure } from "./backends.ts"
import { localNetworks, NetworkRules } from "./networks.ts"

const echo = createServer((socket) => socket.pipe(socket))
const nobody = async (): Promise<never> => {
  throw new Error("an address needs no objects and no nodes")
}
const backends = new Backends({
  reader: { get: nobody, list: nobody },
  nodes: { dial: nobody },
  networks: new NetworkRules(localNetworks),
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

test("no TLS handshake starts after the timeout", async () => {
  const connection = await dial(new AbortController().signal)
  await expect(secure(connection, {}, AbortSignal.abort())).rejects.toThrow("i/o timeout")
  expect(connection.destroyed).toBe(true)
})

test("a timed-out attempt leaves no connection", async () => {
  const attempt = new AbortController()
  const connecting = dial(attempt.signal)
  attempt.abort()
  await expect(connecting).rejects.toThrow("aborted")
})
