import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Duplex, Readable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { WebSocket } from "ws"
import { countLoopTurns } from "../../../../testing/loop-turns.ts"
import { isWebSocket } from "../../../../request/web-socket.ts"
import { streamOverWebSocket } from "./websocket-stream.ts"

/** A request for a WebSocket on a connection that takes a piece when the test says so. */
function untaking() {
  const waiting: (() => void)[] = []
  const arrived: Buffer[] = []
  const socket = new Duplex({
    read: () => undefined,
    write(piece: Buffer, _encoding, done) {
      arrived.push(Buffer.from(piece))
      if (arrived.length === 1) done() // the handshake
      else waiting.push(done)
    },
  })
  onTestFinished(() => void socket.destroy())
  const headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  }
  const request = { method: "GET", headers } as unknown as IncomingMessage
  return { socket, waiting, arrived, request }
}

const server = createServer()
const pieces = ["line 1\n", "line 2\n"]

beforeAll(async () => {
  server.on("upgrade", (request, socket, head) => {
    if (isWebSocket(request))
      void streamOverWebSocket(request, { socket, head }, Readable.from(pieces.map((piece) => Buffer.from(piece))))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
})
afterAll(() => server.close())

describe("a stream over a WebSocket", () => {
  test.each<[string, string[], string, boolean]>([
    ["no protocol", [], "", true],
    ["binary messages", ["binary.k8s.io"], "binary.k8s.io", true],
    ["base64 messages", ["base64.binary.k8s.io"], "base64.binary.k8s.io", false],
  ])("with %s delivers every message, then closes normally", async (_what, offered, agreed, binary) => {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, offered)
    const messages: string[] = []
    client.on("message", (data: Buffer, isBinary) => {
      expect(isBinary).toBe(binary)
      messages.push(binary ? data.toString() : Buffer.from(data.toString(), "base64").toString())
    })
    const [code] = (await once(client, "close")) as [number]
    expect([client.protocol, messages, code]).toEqual([agreed, pieces, 1005])
  })

  test("leaves no listeners on a connection that it has waited for", async () => {
    let waits = 0
    let listeners = 0
    const hold = (): (() => void) => {
      waits++
      return () => undefined
    }
    const large = createServer().on("upgrade", (request, socket, head) => {
      const count = (): number => socket.listenerCount("close") + socket.listenerCount("error")
      function* many(): Generator<Buffer> {
        for (let index = 0; index < 100; index++) {
          if (index === 1) listeners = -count()
          yield Buffer.alloc(256 * 1024)
        }
        listeners += count()
      }
      void streamOverWebSocket(request, { socket, head }, Readable.from(many(), { highWaterMark: 1 }), hold)
    })
    await once(large.listen(0, "127.0.0.1"), "listening")
    onTestFinished(() => void large.close())
    const client = new WebSocket(`ws://127.0.0.1:${(large.address() as AddressInfo).port}/`)
    await once(client, "close")
    expect(waits).toBeGreaterThan(10)
    expect(listeners).toBeLessThan(5)
  })

  test("takes one of the client's frames in a turn of the event loop", async () => {
    const silent = createServer().on("upgrade", (request, socket, head) => {
      void streamOverWebSocket(request, { socket, head }, new Readable({ read: () => undefined }))
    })
    await once(silent.listen(0, "127.0.0.1"), "listening")
    onTestFinished(() => void silent.close())
    const client = new WebSocket(`ws://127.0.0.1:${(silent.address() as AddressInfo).port}/`)
    const socket = ((await once(client, "upgrade")) as [IncomingMessage])[0].socket
    const frames = 1000
    const turns = countLoopTurns()
    const empty = Buffer.of(0x82, 0x80, 0, 0, 0, 0)
    const close = Buffer.of(0x88, 0x80, 0, 0, 0, 0)
    socket.write(Buffer.concat([...Array<Buffer>(frames).fill(empty), close]))
    await once(client, "close")
    expect(turns()).toBeGreaterThanOrEqual(frames)
  })

  test("counts a client that takes no small piece, and none that takes them", async () => {
    const { socket, waiting, request } = untaking()
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const source = new Readable({ read: () => undefined })
    let [calls, held] = [0, 0]
    const hold = (): (() => void) => {
      calls++
      held++
      return () => void held--
    }
    const done = streamOverWebSocket(request, { socket, head: Buffer.alloc(0) }, source, hold)
    const send = async (): Promise<void> => {
      source.push(Buffer.from("x"))
      while (waiting.length === 0) await setImmediate()
    }
    const takeAll = async (): Promise<void> => {
      for (; waiting.length > 0; await setImmediate()) waiting.shift()?.()
    }
    await send()
    await takeAll()
    vi.advanceTimersByTime(60_000)
    expect(calls).toBe(0)
    await send()
    vi.advanceTimersByTime(60_000)
    expect(held).toBe(1)
    await takeAll()
    expect(held).toBe(0)
    socket.destroy()
    await done
  })

  test("of small pieces that its client does not take one waits, and the others are read together", async () => {
    const { socket, waiting, arrived, request } = untaking()
    const source = new Readable({ read: () => undefined })
    const done = streamOverWebSocket(request, { socket, head: Buffer.alloc(0) }, source)
    for (let index = 0; index < 1000; index++) {
      source.push(Buffer.from("x"))
      await setImmediate()
    }
    expect(socket.writableLength).toBeLessThan(10)
    source.push(null)
    for (let isOver = false; !isOver;) {
      waiting.shift()?.()
      await setImmediate()
      isOver = arrived.at(-1)?.[0] === 0x88
    }
    const sent = Buffer.concat(arrived.slice(1)).toString("latin1")
    expect(sent.match(/x/g)?.length).toBe(1000)
    socket.destroy()
    await done
  })
})
