import { once } from "node:events"
import { connect, createServer, type AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { lookupName } from "./names.ts"

const looked = (name: string, options: Parameters<typeof lookupName>[1]): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  lookupName(name, options, (error, address, family) => resolve(error?.message ?? [address, family]))
  return promise
}

test.each<[Parameters<typeof lookupName>[1], unknown]>([
  [{}, ["127.0.0.1", 4]],
  [{ family: 6 }, ["::1", 6]],
  [{ family: "IPv4", all: true }, [[{ address: "127.0.0.1", family: 4 }], undefined]],
  [
    { all: true },
    [
      [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ],
      undefined,
    ],
  ],
])("a name is looked up with %o", async (options, expected) => {
  expect(await looked("node.localhost", options)).toEqual(expected)
})

test("a name that nobody has is told as upstream", async () => {
  expect(await looked("a..b", {})).toBe("dial tcp: lookup a..b: no such host")
})

test("a connection finds its server by it", async () => {
  const server = createServer((socket) => void socket.end("here"))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  // getaddrinfo() does not know it everywhere.
  const socket = connect({ host: "node.localhost", port, lookup: lookupName })
  expect(Buffer.concat(await socket.toArray()).toString()).toBe("here")
  server.close()
})
