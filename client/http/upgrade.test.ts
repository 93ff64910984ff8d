import { once } from "node:events"
import { createServer } from "node:http"
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from "node:net"
import { Duplex, PassThrough } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { workedMs } from "../../apimachinery/thread-time.ts"
import { areProbed } from "../testing/probed-connections.ts"
import { join, type Translation } from "./join.ts"
import { forwardedHeaders, forwardUpgrade, openUpgrade, UpgradeRefused } from "./upgrade.ts"

test("an endless refusal is reported by its beginning, and its connection is closed", async () => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    response.writeHead(403)
    const more = setInterval(() => response.write("x".repeat(16 * 1024)), 1)
    request.socket.once("close", () => {
      clearInterval(more)
      closed.resolve()
    })
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const target = { protocol: "http:", host: "127.0.0.1", port, agent: false as const }
  const error: unknown = await openUpgrade({ ...target, headers: { upgrade: "x", connection: "upgrade" } }).catch(
    (refused: unknown) => refused,
  )
  expect(error).toBeInstanceOf(UpgradeRefused)
  expect(error).toMatchObject({ code: 403, body: "x".repeat(64 * 1024) })
  await closed.promise
  server.close()
})

test("a server that accepts the connection and stays silent is given up, also if the connection is not secure yet", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const server = createNetServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const opening = openUpgrade({ host: "127.0.0.1", port, agent: false })
  const failed = expect(opening).rejects.toThrow("no answer to the upgrade in 30 s")
  const [socket] = (await once(server, "connection")) as [Socket]
  vi.advanceTimersByTime(30_000)
  await failed
  await once(socket.resume(), "close")
  expect(vi.getTimerCount()).toBe(0)
  server.close()
})

// Until it is joined nobody listens, and without a listener the error would end the process.
test("an upgraded connection may fail before it is joined", async () => {
  const server = createServer()
  server.on("upgrade", (_request, socket: Duplex) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const headers = { connection: "Upgrade", upgrade: "test" }
  const { socket } = await openUpgrade({ protocol: "http:", host: "127.0.0.1", port, headers })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  socket.once("close", resolve) // and not once(), which would listen for errors
  socket.destroy(new Error("it has failed"))
  await closed
  server.close()
})

test.runIf(process.platform === "linux")("a server that vanishes is noticed by a silent connection", async () => {
  const server = createServer()
  server.on("upgrade", (_request, socket: Duplex) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const target = { protocol: "http:", host: "127.0.0.1", port, agent: false as const }
  const { socket } = await openUpgrade({ ...target, headers: { connection: "Upgrade", upgrade: "test" } })
  await expect.poll(() => areProbed((socket as Socket).localPort ?? 0)).toEqual([true])
  socket.destroy()
  server.close()
})

// As `curl` and `nc` do with an input that is short. Its bytes came with the request, and the end while the target was thinking.
test.each<[string, Translation]>([
  ["as they are", {}],
  ["translated", { fromClient: (piece) => piece, fromTarget: (piece) => piece }],
])("what a client sends before it ends, early, arrives with its end: %s", async (_what, translation) => {
  const received: string[] = []
  const asked = Promise.withResolvers<Duplex>()
  const target = createServer().on("upgrade", (_request, socket: Duplex) => asked.resolve(socket))
  const taken = Promise.withResolvers<Duplex>()
  const front = createServer().on("upgrade", (request, socket: Duplex, head: Buffer) => {
    const { port } = target.address() as AddressInfo
    const to = { protocol: "http:", host: "127.0.0.1", port, path: "/", agent: false as const }
    void forwardUpgrade(request, { socket, head }, to, { translation: () => translation })
    taken.resolve(socket)
  })
  for (const server of [target, front]) await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect((front.address() as AddressInfo).port, "127.0.0.1")
  client.end("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nearly")
  const [far, near] = [await asked.promise, await taken.promise]
  if (!near.readableEnded) await once(near, "end")
  far.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
  far.on("data", (piece: Buffer) => received.push(piece.toString()))
  await once(far, "end")
  expect(received).toEqual(["early"])
  far.end("answer")
  const answer = Buffer.concat(await client.toArray()).toString()
  expect(answer.split("\r\n\r\n")[1]).toBe("answer")
  for (const server of [target, front]) server.close()
})

test("nothing is opened for a client that has left", async () => {
  const target = createServer()
  const front = createServer().on("upgrade", (request, socket: Duplex, head: Buffer) => {
    socket.destroy()
    const { port } = target.address() as AddressInfo
    const to = { protocol: "http:", host: "127.0.0.1", port, path: "/", agent: false as const }
    forwardUpgrade(request, { socket, head }, to).catch(failed.resolve)
  })
  const failed = Promise.withResolvers<unknown>()
  let connections = 0
  target.on("connection", () => connections++)
  for (const server of [target, front]) await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect((front.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined)
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
  expect(await failed.promise).toEqual(new Error("the client has left"))
  for (const server of [target, front]) await new Promise((resolve) => server.close(resolve))
  expect(connections).toBe(0)
})

/** Two sides to be joined: what `sink` has been given is in `arrived`. */
function sides(): { side: Duplex; sink: Duplex; arrived: string[] } {
  const arrived: string[] = []
  const sink = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      arrived.push(chunk.toString())
      done()
    },
  })
  const side = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  return { side, sink, arrived }
}

describe("join()", () => {
  test("ends the other side when one side ends", async () => {
    for (const first of [0, 1]) {
      const sides = [new PassThrough(), new PassThrough()] as const
      join(...sides)
      sides[first as 0 | 1].destroy()
      if (!sides[1 - first]?.destroyed) await once(sides[(1 - first) as 0 | 1], "close")
      expect(sides.map(({ destroyed }) => destroyed)).toEqual([true, true])
    }
  })

  test("destroys the other side when one fails, and throws nothing", async () => {
    const [one, other] = [new PassThrough(), new PassThrough()]
    join(one, other)
    one.destroy(new Error("reset"))
    await once(other, "close")
    expect(other.destroyed).toBe(true)
  })

  test.each<[Error | undefined, string, Translation]>([
    [undefined, "pieces as they are", {}],
    [new Error("reset"), "pieces as they are", {}],
    [undefined, "translated pieces", { fromClient: (piece) => piece }],
    [new Error("reset"), "translated pieces", { fromClient: (piece) => piece }],
  ])("delivers the last data of one side to a slow other side: %s, %s", async (end, _what, translation) => {
    let accept: (() => void) | undefined
    const arrived: string[] = []
    const slow = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        accept = () => {
          arrived.push(chunk.toString())
          done()
        }
      },
    })
    const side = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    side.on("error", () => undefined)
    join(side, slow, { translation })
    side.push("the output")
    side.push("how it ended")
    await expect.poll(() => accept).toBeDefined()
    if (end === undefined) side.push(null)
    side.destroy(end)
    if (!side.closed) await once(side, "close")
    while (arrived.length < 2) {
      expect(slow.destroyed).toBe(false)
      accept?.()
      await setImmediate()
    }
    expect(arrived).toEqual(["the output", "how it ended"])
    if (!slow.closed) await once(slow, "close")
  })

  test("passes on what a translation makes of the pieces, and cuts both sides off if it refuses one", async () => {
    const { side, sink, arrived } = sides()
    const fromClient = (piece: Buffer): Buffer => {
      if (piece.toString() === "bad") throw new Error("it cannot be translated")
      return Buffer.from(piece.toString().replace("kept", "").toUpperCase())
    }
    join(side, sink, { translation: { fromClient } })
    for (const piece of ["one", "kept", "two"]) side.push(piece)
    await expect.poll(() => arrived).toEqual(["ONE", "TWO"])
    side.push("bad")
    await expect.poll(() => [side.destroyed, sink.destroyed]).toEqual([true, true])
  })

  test("takes no more from a side than the other takes, also of what is translated", async () => {
    const full = new Duplex({ read() {}, write() {}, highWaterMark: 1024 })
    let given = 0
    const side = new Duplex({
      read() {
        given++
        this.push(Buffer.alloc(1024))
      },
      write: (_chunk, _encoding, done) => done(),
      highWaterMark: 1024,
    })
    join(side, full, { translation: { fromClient: (piece) => piece } })
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    expect(given).toBeLessThan(5)
    side.destroy()
    full.destroy()
  })

  test("lets others work after a piece that took long to translate", async () => {
    const { side, sink, arrived } = sides()
    const fromClient = (piece: Buffer): Buffer => {
      const before = workedMs()
      if (piece.toString() === "long") while (workedMs() - before < 20);
      return piece
    }
    join(side, sink, { translation: { fromClient } })
    for (const piece of ["short", "long", "last"]) side.push(piece)
    await expect.poll(() => arrived.length).toBeGreaterThan(1)
    expect([arrived, side.isPaused()]).toEqual([["short", "long"], true])
    // What waits for room in the other side does not end the rest.
    sink.emit("drain")
    expect(side.isPaused()).toBe(true)
    await expect.poll(() => arrived).toEqual(["short", "long", "last"])
    side.destroy()
  })

  test("ends the other side if one has already ended", () => {
    const [one, other] = [new PassThrough(), new PassThrough()]
    one.destroy()
    join(one, other)
    expect(other.destroyed).toBe(true)
  })
})

test("forwardedHeaders() omits hop-by-hop headers and credentials", () => {
  const headers = {
    host: "a",
    authorization: "Bearer x",
    "impersonate-user": "a",
    "x-remote-user": "a",
    "x-remote-extra-b": "c",
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "content-length": "0",
    "x-stream-protocol-version": "v4",
    "sec-websocket-key": "k",
  }
  expect(forwardedHeaders(headers)).toEqual({ "x-stream-protocol-version": "v4", "sec-websocket-key": "k" })
})
