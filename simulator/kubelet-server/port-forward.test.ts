// Connections over channels of one WebSocket, as clients other than kubectl make them. kubectl tests SPDY through a gateway (test/e2e).

import { once } from "node:events"
import { expect, test } from "vitest"
import { WebSocket } from "ws"
import { SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { startTestServer } from "./testing/start-server.ts"

test("a WebSocket carries two channels per port, and is closed when the last connection has ended", async () => {
  const files = new FileSystem(new Volume(), [])
  const web = { name: "web", image: "nginx", command: [], environment: {}, files, hostname: "h", workingDir: "/" }
  const current = new SimulatedContainer("id", { ...web, ports: [], stdin: false })
  await using server = await startTestServer({ containers: new Map([["web", { current }]]), initContainers: new Map() })
  const url = `wss://127.0.0.1:${server.port}/portForward/default/web?port=81&port=80`
  const socket = new WebSocket(url, ["v4.channel.k8s.io"], server.client)
  const received = [0, 1, 2, 3].map(() => Buffer.alloc(0))
  socket.on("message", (message: Buffer) => {
    const channel = message[0] ?? 0
    received[channel] = Buffer.concat([received[channel] ?? Buffer.alloc(0), message.subarray(1)])
  })
  await once(socket, "open")
  // Port 81 has been refused by then: the connection to port 80 is still served.
  socket.send(Buffer.concat([Buffer.of(2), Buffer.from("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")]))
  const [code] = (await once(socket, "close")) as [number]
  expect(code).toBe(1000)
  const [none, refused, answer, fault] = received.map((bytes) => ({
    port: bytes.readUInt16LE(0),
    text: bytes.subarray(2).toString(),
  }))
  expect(none).toEqual({ port: 81, text: "" })
  expect(refused).toEqual({ port: 81, text: expect.stringContaining("error forwarding port 81") })
  expect(answer).toEqual({ port: 80, text: expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n.*GET \/x on port 80\n$/s) })
  expect(fault).toEqual({ port: 80, text: "" })
})
