import { once } from "node:events"
import { Duplex, duplexPair } from "node:stream"
import { buffer } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { WebSocketBytes } from "./websocket-bytes.ts"

const masked = (opcode: number, payload: string | Buffer): Buffer =>
  Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0), Buffer.from(payload)])
const frame = (opcode: number, payload: string): Buffer =>
  Buffer.from([0x80 | opcode, payload.length, ...Buffer.from(payload)])
const codeOf = (code: number): Buffer => Buffer.of(code >> 8, code & 0xff)
const closed = (code: number): Buffer => Buffer.concat([Buffer.of(0x88, 2), codeOf(code)])

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
  expect(answers.subarray(-4)).toEqual(closed(1000))
})

test.each([
  ["with a code", codeOf(1001), closed(1001)],
  ["and says nothing", Buffer.alloc(0), Buffer.of(0x88, 0)],
])(
  "what a client has sent before it closes %s is read, while what is written then is dropped",
  async (_how, said, answer) => {
    const [client, server] = duplexPair()
    const stream = new WebSocketBytes(server, Buffer.alloc(0))
    client.write(Buffer.concat([masked(2, "before"), masked(8, said), masked(2, "after")]))
    const answers = buffer(client)
    while (server.writable) await setImmediate()
    await new Promise((resolve) => stream.write("too late", resolve))
    expect((await buffer(stream)).toString()).toBe("before")
    expect(await answers).toEqual(answer)
  },
)

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
