import { once } from "node:events"
import { Duplex, duplexPair } from "node:stream"
import { buffer } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { WebSocketBytes } from "./websocket-bytes.ts"

const masked = (opcode: number, text: string): Buffer =>
  Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | text.length, 0, 0, 0, 0), Buffer.from(text)])
const frame = (opcode: number, payload: string): Buffer =>
  Buffer.from([0x80 | opcode, payload.length, ...Buffer.from(payload)])
const closed = Buffer.of(0x88, 2, 1000 >> 8, 1000 & 0xff)

test("of the pings of a client that reads nothing the last is answered", async () => {
  const [client, server] = duplexPair()
  const stream = new WebSocketBytes(server, masked(9, "first")).resume()
  for (let index = 0; index < 1000; index++) client.write(masked(9, `ping ${index}`))
  client.write(masked(9, "last"))
  while (client.writableLength > 0) await setImmediate()
  expect(server.writableLength).toBeLessThan(100)
  stream.end()
  const answers = await buffer(client.end())
  expect(answers.subarray(0, 7)).toEqual(frame(10, "first"))
  expect(answers.length).toBeLessThan(200)
  expect(answers.includes(frame(10, "last"))).toBe(true)
  expect(answers.subarray(-4)).toEqual(closed)
})

test("what a client has sent before it closes is read, while what is written then is dropped", async () => {
  const [client, server] = duplexPair()
  const stream = new WebSocketBytes(server, Buffer.alloc(0))
  client.write(Buffer.concat([masked(2, "before"), masked(8, ""), masked(2, "after")]))
  const answers = buffer(client)
  while (server.writable) await setImmediate()
  await new Promise((resolve) => stream.write("too late", resolve))
  expect((await buffer(stream)).toString()).toBe("before")
  expect(await answers).toEqual(closed)
})

test("what a client has sent before it leaves is read, while it does not take what a node floods it with", async () => {
  // As a socket does, it cancels the write that is pending.
  let cancel: (error: Error) => void = () => undefined
  const client = new Duplex({
    read: () => undefined,
    write: (_piece, _encoding, done) => void (cancel = done),
    destroy(error, done) {
      cancel(new Error("canceled"))
      done(error)
    },
  })
  const stream = new WebSocketBytes(client, Buffer.alloc(0))
  for (let isTaken = true; isTaken;) isTaken = stream.write(Buffer.alloc(4096))
  while (stream.readableLength < stream.readableHighWaterMark) {
    client.push(masked(2, "x".repeat(100)))
    await setImmediate()
  }
  client.push(masked(2, "last"))
  client.destroy()
  await once(client, "close")
  const read = await buffer(stream)
  expect(read.length).toBeGreaterThan(stream.readableHighWaterMark)
  expect(read.subarray(-4).toString()).toBe("last")
})
