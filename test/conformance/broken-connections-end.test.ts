// A connection with a request that is broken, or that comes too slowly, ends: others are served, and it is no error of the server.

import { connect, type TLSSocket } from "node:tls"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../../gateway/testing/start-gateway.ts"

const errors: object[] = []
const log = { ...silentLog, error: (fields: object) => errors.push(fields) }

describe("a connection to a gateway that waits for nobody", () => {
  let hasty: TestGateway
  let tenant: TestTenant

  beforeAll(async () => {
    hasty = await startTestGateway({ log, limits: { headersTimeoutMs: 500, bodyTimeoutMs: 1000 } })
    tenant = await hasty.createTenant("a", { controllers: false })
  })

  afterAll(() => hasty?.[Symbol.asyncDispose]())

  afterEach(() => expect(errors).toEqual([]))

  /** On a loaded machine even this request may exceed the timeouts. */
  const othersAreAnswered = (): Promise<void> =>
    expect.poll(async () => (await hasty.request("/tenants/a/livez", tenant).catch(() => undefined))?.code).toBe(200)

  test.each([
    ["cut within its headers", "GET /api HTTP/1.1\r\nHost: x\r\nA"],
    [
      "cut within its body",
      "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ],
    ["with a length that is none", "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n"],
    ["with two lengths", "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"],
    [
      "with a length and chunks",
      "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["in chunks that are none", "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["to another host", "GET https://elsewhere/api HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["of no protocol", "\0\0\0\0\r\n\r\n"],
    ["that upgrades to nothing", "GET /api HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: nothing\r\n\r\n"],
    ["that connects", "CONNECT /api HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("%s ends, and others are answered", async (_what, text) => {
    const socket = await open(hasty, tenant)
    socket.write(text)
    // The server sends a refusal or nothing; then either side closes the connection.
    await Promise.race(["data", "close"].map((event) => new Promise((resolve) => socket.once(event, resolve))))
    socket.destroy()
    await othersAreAnswered()
  })

  test("that comes slower than allowed is ended", async () => {
    const socket = await open(hasty, tenant)
    socket.write("GET /api HTTP/1.1\r\nHost: x\r\n")
    const drip = setInterval(() => socket.write("A: b\r\n"), 100)
    await new Promise((resolve) => socket.once("close", resolve))
    clearInterval(drip)
    await othersAreAnswered()
  })
})

function open({ url, gateway }: TestGateway, { certificate = "", key = "" }: TestTenant): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const { hostname, port } = new URL(url)
  const socket = connect(
    {
      host: hostname,
      port: Number(port),
      ca: gateway.certificateAuthority,
      cert: certificate,
      key,
      checkServerIdentity: () => undefined,
    },
    () => resolve(socket),
  )
  socket.on("error", reject) // after it is open, "close" follows every error
  return promise
}
