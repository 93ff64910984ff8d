// The node of a tunnel may be one that the tenant has brought itself, whose kubelet answers what it likes.

import { createHash } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import { createServer } from "node:tls"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"
import { maxMessagesPerTurn } from "../request/web-socket.ts"
import { countLoopTurns, receiveBytes } from "../testing/loop-turns.ts"
import { openPodTunnel } from "./pod-tunnel.ts"

/** Accepts every WebSocket, and sends these bytes with the acceptance. */
async function startKubelet(bytes: Buffer): Promise<number> {
  const { certificate: cert, key } = await issueServingCertificate(await createAuthority("test node"), ["127.0.0.1"])
  const sockets = new Set<Socket>()
  const server = createServer({ cert, key }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.once("data", (request: Buffer) => {
      const asked = /sec-websocket-key: (.*)\r/i.exec(request.toString())?.[1] ?? ""
      const accepted = createHash("sha1").update(`${asked}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")
      const head = [
        "HTTP/1.1 101 Switching Protocols",
        "Connection: Upgrade",
        "Upgrade: websocket",
        `Sec-WebSocket-Accept: ${accepted}`,
        "Sec-WebSocket-Protocol: v4.channel.k8s.io",
      ]
      socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes]))
    })
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return (server.address() as AddressInfo).port
}

// Without a listener the error would end the process.
test("bytes with the acceptance that are no WebSocket are an error", async () => {
  const port = await startKubelet(Buffer.alloc(16, 0xff))
  const target = { host: "127.0.0.1", port, path: "/portForward/default/a?port=80", rejectUnauthorized: false }
  await expect(openPodTunnel(target, new AbortController().signal)).rejects.toThrow("Invalid WebSocket frame")
})

const portOf = (bytes: string): Buffer =>
  Buffer.from(`\x82${String.fromCharCode(3 + bytes.length)}\x00\x50\x00${bytes}`, "latin1")

test("messages that come at once are passed on in several turns of the event loop, and not in one each", async () => {
  const messages = 2000
  const port = await startKubelet(
    Buffer.concat([portOf(""), ...Array<Buffer>(messages).fill(Buffer.of(0x82, 2, 0, 1))]),
  )
  const target = { host: "127.0.0.1", port, path: "/portForward/default/a?port=80", rejectUnauthorized: false }
  const turns = countLoopTurns()
  const stream = await openPodTunnel(target, new AbortController().signal)
  await receiveBytes(stream, messages)
  expect(turns()).toBeGreaterThanOrEqual(Math.floor(messages / maxMessagesPerTurn))
  expect(turns()).toBeLessThan(messages / 2)
  stream.destroy()
})

// Of a message that is never complete.
test("many fragments of a message are an error", async () => {
  const fragments = Array<Buffer>(100).fill(Buffer.of(0x00, 1, 1))
  const port = await startKubelet(Buffer.concat([portOf("one"), Buffer.of(0x02, 1, 0), ...fragments]))
  const target = { host: "127.0.0.1", port, path: "/portForward/default/a?port=80", rejectUnauthorized: false }
  await expect(openPodTunnel(target, new AbortController().signal)).rejects.toThrow("Too many message fragments")
})

/** To a kubelet that does this with the connection. */
async function open(serve: (socket: WebSocket, request: IncomingMessage) => void): Promise<Duplex> {
  const { certificate: cert, key } = await issueServingCertificate(await createAuthority("test node"), ["127.0.0.1"])
  const kubelet = createHttpsServer({ cert, key })
  new WebSocketServer({ server: kubelet }).on("connection", serve)
  onTestFinished(() => void kubelet.close())
  await once(kubelet.listen(0, "127.0.0.1"), "listening")
  const { port } = kubelet.address() as AddressInfo
  const target = { host: "127.0.0.1", port, path: "/portForward/default/a?port=80", rejectUnauthorized: false }
  return openPodTunnel(target, new AbortController().signal)
}

test.each([
  ["ends", (socket: WebSocket) => socket.close(), "the answer"],
  ["is cut", (socket: WebSocket) => socket.terminate(), "socket hang up"],
])("what comes from a node before its connection %s is complete only if it has said so", async (_what, end, told) => {
  const stream = await open((socket) => {
    socket.send(Buffer.from("\x00\x50\x00the answer", "latin1"), () => end(socket))
  })
  expect(await text(stream).catch((error: unknown) => (error as Error).message)).toBe(told)
})

test.runIf(process.platform === "linux")("the connection to the node is probed", async () => {
  let port = 0
  const stream = await open((_socket, request) => (port = request.socket.remotePort ?? 0))
  await expect.poll(() => areProbed(port)).toEqual([true])
  stream.destroy()
})

test("what has been written is sent when the stream ends", async () => {
  let received = 0
  const stream = await open((socket) => {
    socket.on("message", (message: Buffer) => {
      received += message.length - 1
      // It takes its time.
      socket.pause()
      setImmediate(() => socket.resume())
    })
  })
  const pieces = Array.from({ length: 64 }, () => Buffer.alloc(64 * 1024))
  for (const piece of pieces) stream.write(piece)
  stream.end(() => stream.destroy())
  await once(stream, "close")
  await expect.poll(() => received).toBe(64 * 64 * 1024)
})
