// The end of joined connections: what the target has said last reaches a client that is slow, or goes on sending.

import { once } from "node:events"
import { connect, createServer as createNetServer, type AddressInfo } from "node:net"
import { Duplex } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test, vi } from "vitest"
import { smallPieces } from "../testing/small-pieces.ts"
import { join, type Translation } from "./join.ts"

// As a pager does, for which kube-apiserver waits as long as it likes.
test("waits for a client that takes its time with the last data, for minutes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const taking = Promise.withResolvers<void>()
  const arrived: string[] = []
  const slow = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      arrived.push(chunk.toString())
      void taking.promise.then(() => done())
    },
  })
  const side = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  join(slow, side)
  for (const piece of ["the output", "how it ended"]) side.push(piece)
  side.push(null)
  await once(side, "end")
  side.destroy()
  await once(side, "close")
  vi.advanceTimersByTime(600_000)
  const finished = once(slow, "finish")
  taking.resolve()
  await finished
  expect(arrived).toEqual(["the output", "how it ended"])
  // It has its time to end, too, but not for ever.
  expect(slow.destroyed).toBe(false)
  vi.advanceTimersByTime(30_000)
  expect(slow.destroyed).toBe(true)
})

test.each([
  ["while its target is still there", false],
  ["after its target has left", true],
])("an aborted signal leaves a client that takes nothing half a minute: aborted %s", async (_when, hasLeft) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const slow = new Duplex({ read() {}, write() {} })
  const side = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const end = new AbortController()
  join(slow, side, { signal: end.signal })
  side.push("the output")
  await setImmediate()
  if (hasLeft) {
    side.destroy()
    await once(side, "close")
    vi.advanceTimersByTime(600_000)
  }
  end.abort(new Error("the tenant has been deleted"))
  await setImmediate()
  expect(side.destroyed).toBe(true)
  vi.advanceTimersByTime(29_999)
  expect(slow.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  expect(slow.destroyed).toBe(true)
})

test.each<[string, Translation]>([
  ["as they are", {}],
  ["translated", { fromClient: (piece) => piece, fromTarget: (piece) => piece }],
])("all that a target says reaches a client that goes on sending and reads slowly, pieces %s", async (_what, more) => {
  const output = Buffer.alloc(4 * 1024 * 1024, "x")
  const target = createNetServer((socket) => {
    socket.on("error", () => undefined)
    socket.resume().end(output)
  })
  const front = createNetServer({ allowHalfOpen: true }, (socket) => {
    join(socket, connect((target.address() as AddressInfo).port, "127.0.0.1"), { translation: more })
  })
  for (const server of [target, front]) await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect((front.address() as AddressInfo).port, "127.0.0.1")
  const flood = (): void =>
    void (client.writable && client.write(Buffer.alloc(64 * 1024), () => globalThis.setImmediate(flood)))
  flood()
  let received = 0
  client.on("data", (piece: Buffer) => {
    received += piece.length
    client.pause()
    globalThis.setImmediate(() => client.resume())
  })
  await once(client, "end")
  expect(received).toBe(output.length)
  client.destroy()
  for (const server of [target, front]) server.close()
})

test.each<[string, Translation]>([
  ["as they are", {}],
  ["translated", { fromClient: (piece) => piece }],
])("of small pieces that the target does not take only the bytes are held, %s", async (_how, translation) => {
  const pieces = smallPieces()
  const client = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const arrived: Buffer[] = []
  const taking = Promise.withResolvers<void>()
  const target = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      arrived.push(Buffer.from(chunk))
      void taking.promise.then(() => done())
    },
  })
  join(client, target, { translation })
  let pushed = 0
  for (let isTaken = true; isTaken || !client.isPaused();) {
    isTaken = client.push(pieces.next())
    pushed++
    if (pushed % 1000 === 0) await setImmediate()
  }
  await expect.poll(() => pieces.held()).toBeLessThan(50)
  client.push(null)
  taking.resolve()
  await once(target, "finish")
  expect(Buffer.concat(arrived)).toEqual(Buffer.from(Array.from({ length: pushed }, (_, index) => index & 255)))
})

test("small pieces that a client has sent before it is gone are passed on", async () => {
  const client = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const arrived: string[] = []
  const taking = Promise.withResolvers<void>()
  const target = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      arrived.push(chunk.toString())
      void taking.promise.then(() => done())
    },
  })
  join(client, target)
  for (const piece of ["a", "b", "c"]) client.push(piece)
  await setImmediate()
  client.destroy()
  await once(client, "close")
  taking.resolve()
  await once(target, "close")
  expect(arrived.join("")).toBe("abc")
})
