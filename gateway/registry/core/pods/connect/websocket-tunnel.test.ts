import { once } from "node:events"
import { createServer, ServerResponse } from "node:http"
import { connect, type AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { receiveBytes } from "../../../../testing/loop-turns.ts"
import { tunnel } from "./websocket-tunnel.ts"

const handshake = [
  "GET / HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io",
]

/** A node, and a gateway before it. Returns the gateway's port. */
async function startNode(
  accepted: (socket: Duplex) => void,
  { hold, ended }: { hold?: (bytes: number) => () => void; ended?: () => void } = {},
): Promise<number> {
  const node = createServer().on("upgrade", (_request, socket: Duplex) => {
    socket.on("error", () => undefined)
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
    accepted(socket)
  })
  const front = createServer().on("upgrade", (request, socket: Duplex, head: Buffer) => {
    const { port } = node.address() as AddressInfo
    // As that of a request, which ends when its client leaves.
    const abort = new AbortController()
    const left = (): void => {
      abort.abort()
      ended?.()
    }
    socket.on("error", () => undefined).once("close", left)
    const target = { protocol: "http:", host: "127.0.0.1", port, agent: false } as const
    const exchange = { request, response: new ServerResponse(request), upgrade: { socket, head } }
    void tunnel(exchange, target, { hold, signal: abort.signal })
  })
  for (const server of [node, front]) {
    onTestFinished(() => void server.close())
    await once(server.listen(0, "127.0.0.1"), "listening")
  }
  return (front.address() as AddressInfo).port
}

/** As a client sends it: masked, with zeros. */
const bytesOfMessage = 4096
const message = Buffer.concat([Buffer.of(0x82, 0xfe, 0x10, 0, 0, 0, 0, 0), Buffer.alloc(bytesOfMessage)])

test.each([
  ["and says so", Buffer.of(0x88, 0x80, 0, 0, 0, 0)],
  ["and does not say so", Buffer.alloc(0)],
])("a node that takes its time gets all that a client has sent before it closes, %s", async (_what, last) => {
  const atNode = Promise.withResolvers<Duplex>()
  const left = Promise.withResolvers<void>()
  let isHeld = false
  const hold = () => {
    isHeld = true
    return () => (isHeld = false)
  }
  const port = await startNode(atNode.resolve, { hold, ended: left.resolve })
  const client = connect(port, "127.0.0.1").resume()
  client.write(`${handshake.join("\r\n")}\r\n\r\n`)
  const node = await atNode.promise
  let messages = 0
  // Until the buffers of the node's connection are full.
  while (!isHeld) {
    await new Promise<void>((resolve) => client.write(message, () => resolve()))
    messages++
    await setImmediate()
  }
  client.end(last)
  await left.promise
  let received = 0
  node.on("data", (piece: Buffer) => (received += piece.length))
  await once(node, "end")
  expect(received).toBe(messages * bytesOfMessage)
  await expect.poll(() => isHeld).toBe(false)
})

test.each([
  ["the client", false],
  ["the node", true],
])(
  "what is not taken of a tunnel counts until %s has left and both are closed, and not longer",
  async (_who, isNode) => {
    const atNode = Promise.withResolvers<Duplex>()
    let held = 0
    let ends = 0
    const hold = (bytes: number) => {
      held += bytes
      return () => (held -= bytes)
    }
    const accepted = (socket: Duplex): void => {
      const flood = (): void => void socket.write(Buffer.alloc(64 * 1024), (error) => (error ? undefined : flood()))
      flood()
      atNode.resolve(socket)
    }
    const port = await startNode(accepted, { hold, ended: () => ends++ })
    const client = connect(port, "127.0.0.1")
    client.on("error", () => undefined)
    client.write(`${handshake.join("\r\n")}\r\n\r\n`)
    await expect.poll(() => held).toBeGreaterThan(0)
    if (isNode) {
      ;(await atNode.promise).destroy()
      let last: Buffer | undefined
      client.on("data", (piece: Buffer) => (last = piece.subarray(-4)))
      // It takes everything, with the end, which it does not answer.
      await expect.poll(() => last?.toString("hex")).toBe("880203e8")
    }
    client.destroy()
    await expect.poll(() => [held, ends]).toEqual([0, 1])
  },
)

test("what has come of a message is passed on before the rest has come", async () => {
  const atNode = Promise.withResolvers<Duplex>()
  const port = await startNode(atNode.resolve)
  const client = connect(port, "127.0.0.1").resume()
  onTestFinished(() => void client.destroy())
  client.write(`${handshake.join("\r\n")}\r\n\r\n`)
  const node = await atNode.promise
  client.write(message.subarray(0, 1000))
  const header = 8
  await receiveBytes(node, 1000 - header)
  // And a message that never ends, in fragments.
  client.write(message.subarray(1000))
  client.write(Buffer.concat([Buffer.of(0x02, 0x81, 0, 0, 0, 0, 1), Buffer.of(0x00, 0x81, 0, 0, 0, 0, 1)]))
  await receiveBytes(node, bytesOfMessage - (1000 - header) + 2)
})
