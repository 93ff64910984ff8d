// Clients that leave their side of a connection open after the gateway has ended its own.

import { once } from "node:events"
import { connect, type ConnectionOptions } from "node:tls"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { startTestGateway, type TestGateway } from "../testing/start-gateway.ts"

let fixture: TestGateway

beforeAll(async () => {
  fixture = await startTestGateway({ superCluster: false })
  await fixture.createTenant("a", { controllers: false })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

const upgrade = "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

test.each([
  ["an upgrade that is refused", `GET /tenants/a/api/v1/namespaces HTTP/1.1\r\n${upgrade}`, 403],
  ["an upgrade that is answered as a request", `GET /version HTTP/1.1\r\n${upgrade}`, 200],
  ["a CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["bytes that are no request", "nonsense\r\n\r\n", 400],
])("%s: the connection is closed", async (_what, sent, code) => {
  const { hostname, port } = new URL(fixture.url)
  const options = { host: hostname, port: Number(port), rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connect(options as ConnectionOptions)
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => undefined) // the connection is reset
  const closed = new Promise((resolve) => socket.once("close", resolve))
  let text = ""
  socket.on("data", (piece: Buffer) => (text += piece.toString()))
  socket.write(sent)
  await once(socket, "end")
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${code} `))
  // What is sent to a closed connection is refused.
  const talking = setInterval(() => socket.write("more"), 20)
  onTestFinished(() => clearInterval(talking))
  await closed
})
