import { EventEmitter } from "node:events"
import type { ServerResponse } from "node:http"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import type { RequestContext } from "../../request/context.ts"
import { acceptsGzipAtAll, compressFromBytes, sendBytes } from "./body-writer.ts"
import { type Aside, deflate } from "./gzip-join.ts"
import { sendParts } from "./send-parts.ts"

/** A response that resolves with the sent bytes when it has ended. */
function answer() {
  const sent: Buffer[] = []
  const { promise: ended, resolve } = Promise.withResolvers<Buffer>()
  const response = {
    writeHead: () => response,
    write: (bytes: Buffer) => sent.push(bytes) > 0,
    end(bytes?: Buffer) {
      if (bytes !== undefined) sent.push(bytes)
      resolve(Buffer.concat(sent))
    },
    on: () => response,
    off: () => response,
  }
  return { response: response as unknown as ServerResponse, ended }
}

const body = Buffer.alloc(compressFromBytes + 1, "large ")

const ways = {
  "a whole body": (ctx: RequestContext, response: ServerResponse) =>
    Promise.resolve(sendBytes(ctx, response, 200, "text/plain", [body])),
  "a body in parts": async (ctx: RequestContext, response: ServerResponse) => {
    async function* parts() {
      yield { length: body.length, bytes: () => body, deflated: (aside: Aside) => aside(() => deflate(body)) }
    }
    await sendParts(ctx, response, "text/plain", parts())
  },
}

test.each(Object.entries(ways))("%s is compressed in the control plane's turn", async (_, send) => {
  let begin: (() => void) | undefined
  const ctx = {
    headers: { "accept-encoding": "gzip" },
    aside: async <T>(job: () => Promise<T>): Promise<T> => {
      await new Promise<void>((resolve) => (begin = resolve))
      return job()
    },
  } as unknown as RequestContext
  const { response, ended } = answer()
  const sending = send(ctx, response)
  await expect.poll(() => begin !== undefined, { timeout: 30_000 }).toBe(true)
  begin?.()
  await sending
  expect(gunzipSync(await ended).equals(body)).toBe(true)
})

test.each([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["GZIP", true],
  ["br, gzip ; q=0.5", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000", false],
  ["gzip;q=0.001", true],
  ["x-gzip, deflate", false],
  ["*", false],
])("for Accept-Encoding %j documents are compressed: %s", (encoding, expected) => {
  expect(acceptsGzipAtAll({ headers: { "accept-encoding": encoding } })).toBe(expected)
})

test.each([
  ["a whole one", [Buffer.alloc(1_000_000, "abc")]],
  ["one of short pieces", Array.from({ length: 1000 }, (_, index) => Buffer.from(String(index).repeat(500)))],
])("a long body, %s, is written as its client takes it, with turns for others", async (_, pieces) => {
  const sent: Buffer[] = []
  let isWaiting = false
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead: () => response,
    write(bytes: Buffer) {
      expect(isWaiting).toBe(false)
      isWaiting = true
      sent.push(bytes)
      setImmediate(() => {
        isWaiting = false
        response.emit("drain")
      })
      return false
    },
    end(bytes: Buffer) {
      sent.push(bytes)
      end()
    },
  })
  let turns = 0
  const ctx = { headers: {}, turn: () => void turns++ } as unknown as RequestContext
  sendBytes(ctx, response as unknown as ServerResponse, 200, "text/plain", pieces)
  await ended
  expect(Buffer.concat(sent).equals(Buffer.concat(pieces))).toBe(true)
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(300_000)
  expect(sent.length).toBeLessThan(10)
  expect(turns).toBe(sent.length - 1)
})

test("a body in parts ends when its client leaves while it waits", async () => {
  const sent: number[] = []
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead: () => response,
    write(bytes: Buffer) {
      sent.push(bytes.length)
      response.destroyed = true
      setImmediate(() => response.emit("close"))
      return false
    },
    end: () => response,
  })
  async function* parts() {
    for (const length of [compressFromBytes - 1, 1.4 * 1024 * 1024, 1000]) {
      const bytes = Buffer.alloc(Math.floor(length))
      yield { length: bytes.length, bytes: () => bytes }
    }
  }
  const ctx = { headers: {} } as unknown as RequestContext
  await sendParts(ctx, response as unknown as ServerResponse, "text/plain", parts())
  expect(sent).toEqual([compressFromBytes - 1])
})
