import { once } from "node:events"
import { createServer, type IncomingMessage, request } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { credentialsOf } from "../authentication/credentials.ts"
import { forwardedConnection } from "../connections/client-connection.ts"
import { createSecret, forwardedHeader, ForwardedIdentity } from "./forwarded-identity.ts"

const secret = createSecret()
const sender = new ForwardedIdentity(secret)
const receiver = new ForwardedIdentity(secret)
const certificate = `-----BEGIN CERTIFICATE-----\n${Buffer.from("of an administrator").toString("base64")}\n-----END CERTIFICATE-----\n`

const server = createServer({ maxHeaderSize: 64 * 1024 })

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})
afterAll(() => server.close())

/** A request with these headers as received by the server. */
async function received(headers: readonly string[]): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo
  const arrived = once(server, "request") as Promise<[IncomingMessage, { end(): void }]>
  const sent = request({ port, host: "127.0.0.1", headers: ["Host", "here", ...headers], agent: false })
  sent.on("error", () => undefined)
  sent.end()
  const [got, response] = await arrived
  response.end()
  return got
}

describe("the header of a forwarded request", () => {
  test("identifies the client", async () => {
    const got = await received([forwardedHeader, sender.headerFor(certificate)])
    expect(receiver.accept(got)).toBe(true)
    expect(credentialsOf(got).certificates.map(String)).toEqual(["of an administrator"])
    expect(receiver.hops(got)).toBe(1)
  })

  test("is removed from all forms of headers without changing others", async () => {
    const others = ["Impersonate-User", "a", "Impersonate-Group", "b", "Impersonate-Group", "c"]
    const got = await received([
      ...others.slice(0, 4),
      forwardedHeader,
      sender.headerFor(certificate),
      ...others.slice(4),
    ])
    expect(receiver.accept(got)).toBe(true)
    expect(got.headers).toMatchObject({ host: "here", "impersonate-user": "a", "impersonate-group": "b, c" })
    expect(got.headersDistinct["impersonate-group"]).toEqual(["b", "c"])
    for (const form of [got.headers, got.headersDistinct, got.rawHeaders]) {
      expect(JSON.stringify(form).toLowerCase()).not.toContain(forwardedHeader)
      expect(JSON.stringify(form)).not.toContain(secret)
    }
  })

  test("identifies one connection for all requests of a client, across several processes", async () => {
    const first = await received([forwardedHeader, sender.headerFor(certificate)])
    receiver.accept(first)
    const second = await received([forwardedHeader, receiver.headerOf(first)])
    const next = new ForwardedIdentity(secret)
    expect(next.accept(second)).toBe(true)
    expect(next.hops(second)).toBe(2)
    expect(forwardedConnection(second)).toEqual(forwardedConnection(first))
    const again = await received([forwardedHeader, receiver.headerOf(first)])
    next.accept(again)
    expect(forwardedConnection(again)).toBe(forwardedConnection(second))
  })

  test("is not cached when it is large", async () => {
    const large = sender.headerFor("A".repeat(20_000))
    const [first, second] = [await received([forwardedHeader, large]), await received([forwardedHeader, large])]
    for (const request of [first, second]) expect(receiver.accept(request)).toBe(true)
    expect(forwardedConnection(second)).toEqual(forwardedConnection(first))
    expect(forwardedConnection(second)).not.toBe(forwardedConnection(first))
  })

  const good = sender.headerFor(certificate)
  test.for<[what: string, headers: string[]]>([
    ["is missing", []],
    ["is empty", [forwardedHeader, ""]],
    [
      "has the secret of another start",
      [forwardedHeader, new ForwardedIdentity(createSecret()).headerFor(certificate)],
    ],
    ["has only the beginning of the secret", [forwardedHeader, good.slice(0, 20)]],
    ["is repeated", [forwardedHeader, good, forwardedHeader, good]],
  ])("is rejected when it %s", async ([, headers]) => {
    const got = await received(headers)
    expect(receiver.accept(got)).toBe(false)
    expect(forwardedConnection(got)).toBeUndefined()
    expect(credentialsOf(got).certificates).toEqual([])
  })

  test("is ignored where forwarded requests are not accepted", async () => {
    const got = await received([forwardedHeader, good])
    expect(credentialsOf(got).certificates).toEqual([])
  })
})
