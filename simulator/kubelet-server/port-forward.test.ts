// What kubectl does not test through a gateway (test/e2e): channels of one WebSocket, and clients of SPDY that read nothing.

import { once } from "node:events"
import { Duplex } from "node:stream"
import { expect, test } from "vitest"
import { WebSocket } from "ws"
import { SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { openSpdy } from "./testing/spdy-client.ts"
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

/** A client of SPDY that is connected to `program`. */
async function forwardTo(program: Duplex): Promise<Awaited<ReturnType<typeof openSpdy>> & AsyncDisposable> {
  const connected = Promise.withResolvers<void>()
  const open = (): Duplex => {
    connected.resolve()
    return program
  }
  const containers = new Map([["web", { current: { connect: open } }]])
  const server = await startTestServer({ containers, initContainers: new Map() })
  const path = "/portForward/default/web"
  const target = { host: "127.0.0.1", port: server.port, ...server.client, agent: false as const, path }
  const client = await openSpdy(target, "portforward.k8s.io")
  const pair = { port: "80", requestid: "0" }
  await client.open({ streamtype: "error", ...pair })
  await client.open({ streamtype: "data", ...pair })
  await connected.promise
  return { ...client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test("over SPDY, what a program sends waits in it while the client reads nothing", async () => {
  const piece = Buffer.alloc(64 * 1024)
  let given = 0
  const program = new Duplex({
    read() {
      given += piece.length
      this.push(given < 200 * 1024 * 1024 ? piece : null)
    },
    write: (_chunk, _encoding, done) => done(),
  })
  await using client = await forwardTo(program)
  client.stall()
  let last = -1
  let same = 0
  await expect
    .poll(() => {
      same = given === last ? same + 1 : 0
      last = given
      return same
    })
    .toBeGreaterThan(10)
  // The socket buffers of both sides.
  expect(given).toBeLessThan(64 * 1024 * 1024)
  expect(program.destroyed).toBe(false)
  client.disconnect()
  await expect.poll(() => program.destroyed).toBe(true)
})

test("over SPDY, the connection to a silent program ends with the client's", async () => {
  const program = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  await using client = await forwardTo(program)
  client.disconnect()
  await expect.poll(() => program.destroyed).toBe(true)
})
