import { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { connect, createServer, type AddressInfo } from "node:net"
import { expect, onTestFinished, test, vi } from "vitest"
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

/** Name servers that fail in this way. */
function withNameServers(code: string): void {
  const failing = () => Promise.reject(Object.assign(new Error(code), { code }))
  const spies = (["resolve4", "resolve6"] as const).map((method) => vi.spyOn(Resolver.prototype, method))
  for (const spy of spies) spy.mockImplementation(failing)
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
}

test.each<[code: string, expected: unknown]>([
  ["ENOTFOUND", ["127.0.0.1", 4]],
  ["ENODATA", ["127.0.0.1", 4]],
  ["ETIMEOUT", "dial tcp: lookup 127.0.0.1: no such host"],
])("a name is also looked for in the hosts file, unless name servers are silent: %s", async (code, expected) => {
  withNameServers(code)
  expect(await looked("127.0.0.1", {})).toEqual(expected) // as a name, which getaddrinfo() knows everywhere
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
