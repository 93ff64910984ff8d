import { once } from "node:events"
import { createServer } from "node:http"
import { connect, type AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
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

test.each([
  ["the client", false],
  ["the node", true],
])(
  "what is not taken of a tunnel counts until %s has left and both are closed, and not longer",
  async (_who, isNode) => {
    const atNode = Promise.withResolvers<Duplex>()
    const node = createServer().on("upgrade", (_request, socket: Duplex) => {
      socket.on("error", () => undefined)
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
      const flood = (): void => void socket.write(Buffer.alloc(64 * 1024), (error) => (error ? undefined : flood()))
      flood()
      atNode.resolve(socket)
    })
    let held = 0
    let ends = 0
    const hold = (bytes: number) => {
      held += bytes
      return () => (held -= bytes)
    }
    const front = createServer().on("upgrade", (request, socket: Duplex, head: Buffer) => {
      const { port } = node.address() as AddressInfo
      socket.on("error", () => undefined).once("close", () => ends++)
      void tunnel(request, { socket, head }, { protocol: "http:", host: "127.0.0.1", port, agent: false }, { hold })
    })
    for (const server of [node, front]) {
      onTestFinished(() => void server.close())
      await once(server.listen(0, "127.0.0.1"), "listening")
    }
    const client = connect((front.address() as AddressInfo).port, "127.0.0.1")
    client.on("error", () => undefined)
    client.write(`${handshake.join("\r\n")}\r\n\r\n`)
    await expect.poll(() => held).toBeGreaterThan(0)
    if (isNode) {
      ;(await atNode.promise).destroy()
      let last: Buffer | undefined
      client.on("data", (piece: Buffer) => (last = piece.subarray(-2)))
      // It takes everything, with the end, which it does not answer.
      await expect.poll(() => last?.toString("hex")).toBe("8800")
    }
    client.destroy()
    await expect.poll(() => [held, ends]).toEqual([0, 1])
  },
)
