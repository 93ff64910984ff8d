import { once } from "node:events"
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Duplex, PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { countUnsent, type HoldUnsent } from "./unsent.ts"
import { join } from "./join.ts"

/** Keeps account of what waits. */
class Account {
  bytes = 0
  readonly cuts: (() => void)[] = []
  readonly hold: HoldUnsent = (bytes, cut) => {
    this.bytes += bytes
    this.cuts.push(cut)
    return () => (this.bytes -= bytes)
  }
}

const piece = Buffer.alloc(256 * 1024)

test("what is piped counts while it is not taken", async () => {
  const account = new Account()
  const [from, to] = [new PassThrough(), new PassThrough()]
  countUnsent(from, to, account.hold)
  from.pipe(to)
  from.write(piece)
  await expect.poll(() => account.bytes).toBeGreaterThanOrEqual(piece.length)
  to.resume()
  await expect.poll(() => account.bytes).toBe(0)
  to.pause()
  from.write(piece)
  await expect.poll(() => account.bytes).toBeGreaterThanOrEqual(piece.length)
  to.destroy()
  await expect.poll(() => account.bytes).toBe(0)
})

test("an upload that has been taken does not count while its answer is awaited", async () => {
  const account = new Account()
  const taken = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => request.resume().once("end", () => taken.resolve(response)))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const [from, to] = [new PassThrough(), request({ port, host: "127.0.0.1", method: "POST" })]
  countUnsent(from, to, account.hold)
  from.pipe(to)
  const paused = once(from, "pause")
  from.end("small")
  const response = await taken.promise
  await paused
  expect(account.bytes).toBe(0)
  const answered = once(to, "response")
  response.end()
  const [answer] = (await answered) as [IncomingMessage]
  answer.resume()
  server.close()
})

test("joined connections count in both directions, and both end when one is cut", async () => {
  for (const first of [0, 1] as const) {
    const account = new Account()
    const sides = [new PassThrough(), new PassThrough()] as const
    join(...sides, { hold: account.hold })
    // Whatever one is given goes round for ever.
    sides[first].write(piece)
    sides[first].write(piece)
    await expect.poll(() => account.bytes).toBeGreaterThan(0)
    account.cuts[0]?.()
    await expect.poll(() => sides.map(({ destroyed }) => destroyed)).toEqual([true, true])
    await expect.poll(() => account.bytes).toBe(0)
  }
})

test("the end of a stream counts until it is taken", async () => {
  const account = new Account()
  const [from, to] = [new PassThrough(), new PassThrough()]
  countUnsent(from, to, account.hold)
  from.pipe(to)
  from.end(piece)
  await once(from, "close")
  expect(account.bytes).toBeGreaterThanOrEqual(piece.length)
  to.resume()
  await expect.poll(() => account.bytes).toBe(0)
})

test("the end of a stream counts no more when it has been taken, also while the other direction is open", async () => {
  const account = new Account()
  const from = new PassThrough()
  const taking = Promise.withResolvers<void>()
  const to = new Duplex({ read() {}, write: (_chunk, _encoding, done) => void taking.promise.then(() => done()) })
  countUnsent(from, to, account.hold)
  from.pipe(to)
  from.end(piece)
  await once(from, "close")
  expect(account.bytes).toBeGreaterThanOrEqual(piece.length)
  taking.resolve()
  await once(to, "finish")
  expect([account.bytes, to.closed]).toEqual([0, false])
})
