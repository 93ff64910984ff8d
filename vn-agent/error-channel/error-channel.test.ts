// What servers send on channels for errors, in pieces of any size: the names in it are the tenant's, and all else is as it was.

import { createDeflate, constants, type Deflate } from "node:zlib"
import { createRequire } from "node:module"
import { describe, expect, test } from "vitest"
import { createRandom, seeds } from "../../apimachinery/testing/random.ts"
import type { Translate } from "../../client/http/join.ts"
import type { RoutedRequest } from "../routes.ts"
import { errorTranslation } from "./translation.ts"

const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const routed = (action: string): RoutedRequest => ({ action, upgrade: true, namespace: "shop", pod: "web", query: "" })

const ofSuper = 'no container "main" in web_ns-123456-a-shop \xfe'
const ofTenant = 'no container "main" in web_shop \xfe'
const bytes = (text: string): Buffer => Buffer.from(text, "latin1")

function inPieces(translate: Translate, sent: Buffer, seed: number): Buffer {
  const random = createRandom(seed)
  const out: Buffer[] = []
  for (let offset = 0; offset < sent.length;) {
    const end = offset + 1 + random(random(2) === 0 ? 4 : 200_000)
    out.push(translate(sent.subarray(offset, end)))
    offset = end
  }
  return Buffer.concat(out)
}

describe("over WebSocket", () => {
  const frame = (payload: Buffer, flags = 0x82): Buffer => {
    const { length } = payload
    if (length < 126) return Buffer.concat([Buffer.of(flags, length), payload])
    if (length < 65536) return Buffer.concat([Buffer.of(flags, 126, length >> 8, length & 255), payload])
    const long = Buffer.alloc(8)
    long.writeBigUInt64BE(BigInt(length))
    return Buffer.concat([Buffer.of(flags, 127), long, payload])
  }
  const plain = (channel: number, text: string): Buffer => frame(Buffer.concat([Buffer.of(channel), bytes(text)]))
  const base64 = (channel: number, text: string): Buffer =>
    frame(Buffer.from(`${channel}${bytes(text).toString("base64")}`), 0x81)

  const translated = (protocol: string, action: string, sent: Buffer[], seed: number): Buffer => {
    const accepted = { upgrade: "websocket", ...(protocol === "" ? {} : { "sec-websocket-protocol": protocol }) }
    const { fromTarget } = errorTranslation(identity, routed(action), accepted)
    return inPieces(fromTarget as Translate, Buffer.concat(sent), seed)
  }

  describe.each<[protocol: string, message: typeof plain]>([
    ["v5.channel.k8s.io", plain],
    ["v4.channel.k8s.io", plain],
    ["channel.k8s.io", plain],
    ["", plain],
    ["v4.base64.channel.k8s.io", base64],
    ["base64.channel.k8s.io", base64],
  ])("with %j", (protocol, message) => {
    test.each(seeds(8))("a command's errors are translated, and its output is not (seed %i)", (seed) => {
      const [ping, end] = [frame(bytes(ofSuper), 0x89), frame(bytes("\x03\xe8ns-123456-a-shop"), 0x88)]
      const filled = "x".repeat(70_000)
      const others = [message(1, ofSuper), message(3, ""), ping, message(2, ofSuper), message(1, filled + ofSuper)]
      const said = [message(3, ofSuper), message(3, filled + ofSuper), message(3, "nothing")]
      const expected = [message(3, ofTenant), message(3, filled + ofTenant), message(3, "nothing")]
      const [sent, received] = [said, expected].map((errors) => [...others, ...errors, ...others, end])
      expect(translated(protocol, "exec", sent ?? [], seed).equals(Buffer.concat(received ?? []))).toBe(true)
    })

    test.each(seeds(4))("errors of forwarded ports are translated (seed %i)", (seed) => {
      const ports = [0, 1, 2, 3].map((channel) => message(channel, "\x90\x1f"))
      const sent = [0, 1, 2, 3].map((channel) => message(channel, ofSuper))
      const received = [ofSuper, ofTenant, ofSuper, ofTenant].map((text, channel) => message(channel, text))
      const all = translated(protocol, "portForward", [...ports, ...sent], seed)
      expect(all.equals(Buffer.concat([...ports, ...received]))).toBe(true)
    })
  })

  test("output in several frames passes, and an error in several is cut off", () => {
    const [begin, rest] = [frame(bytes("\x01ns-123456"), 0x02), frame(bytes("-a-shop"), 0x80)]
    expect(translated("v5.channel.k8s.io", "exec", [begin, rest], 1).equals(Buffer.concat([begin, rest]))).toBe(true)
    const broken = frame(bytes("\x03ns-123456"), 0x02)
    expect(() => translated("v5.channel.k8s.io", "exec", [broken, rest], 1)).toThrow("several frames")
  })
})

describe("over SPDY", () => {
  const dictionaries = createRequire(import.meta.url)(
    "spdy-transport/lib/spdy-transport/protocol/spdy/dictionary.js",
  ) as Buffer[]

  const uint32 = (value: number): Buffer => {
    const encoded = Buffer.alloc(4)
    encoded.writeUInt32BE(value)
    return encoded
  }
  const control = (type: number, body: Buffer): Buffer =>
    Buffer.concat([Buffer.of(0x80, 3, 0, type), uint32(body.length), body])
  const data = (stream: number, text: string, fin = 0): Buffer => {
    const body = bytes(text)
    return Buffer.concat([uint32(stream), uint32(fin * 0x1000000 + body.length), body])
  }

  async function open(compression: Deflate, stream: number, headers: Record<string, string>): Promise<Buffer> {
    const parts = Object.entries(headers).flat()
    const block = [uint32(parts.length / 2), ...parts.flatMap((part) => [uint32(part.length), bytes(part)])]
    compression.write(Buffer.concat(block))
    await new Promise<void>((resolve) => compression.flush(constants.Z_SYNC_FLUSH, resolve))
    return control(1, Buffer.concat([uint32(stream), uint32(0), Buffer.of(0, 0), compression.read() as Buffer]))
  }
  const compression = (): Deflate => createDeflate({ dictionary: dictionaries[3] as Buffer })
  const translation = () => errorTranslation(identity, routed("portForward"), { upgrade: "SPDY/3.1" })

  test.each(seeds(8))("texts on error streams are translated, until those end (seed %i)", async (seed) => {
    const random = createRandom(seed)
    const { fromClient, fromTarget } = translation() as Record<string, Translate>
    const client = compression()
    const opened: Buffer[] = [control(6, uint32(1))]
    const types = Array.from({ length: 120 }, () => (["error", "data"] as const)[random(2)])
    for (const [index, type = "data"] of types.entries()) {
      const padding = random(4) === 0 ? "p".repeat(random(4000)) : "a"
      opened.push(await open(client, index * 2 + 1, { port: String(random(65536)), padding, streamtype: type }))
      opened.push(data(index * 2 + 1, ofSuper))
    }
    const asked = Buffer.concat(opened)
    expect(inPieces(fromClient as Translate, asked, seed).equals(asked)).toBe(true)
    const answers = (text: (type: string) => string): Buffer =>
      Buffer.concat([
        control(2, Buffer.concat([uint32(1), bytes("compressed")])),
        ...types.map((type = "data", index) => data(index * 2 + 1, text(type))),
        ...types.map((type = "data", index) => data(index * 2 + 1, text(type), 1)),
        // These are streams that have ended.
        ...types.map((_type, index) => data(index * 2 + 1, ofSuper)),
      ])
    const sent = answers(() => ofSuper)
    const received = answers((type) => (type === "error" ? ofTenant : ofSuper))
    expect(inPieces(fromTarget as Translate, sent, seed).equals(received)).toBe(true)
  })

  test.each<[string, boolean]>([
    ["cannot open error streams without end", false],
    ["may open any number that are reset", true],
  ])("a client %s", async (_what, isReset) => {
    const { fromClient, fromTarget } = translation() as Record<string, Translate>
    const client = compression()
    const openMany = async (): Promise<void> => {
      for (let stream = 1; stream < 10_000; stream += 2) {
        fromClient?.(await open(client, stream, { streamtype: "error" }))
        const reset = control(3, Buffer.concat([uint32(stream), uint32(1)]))
        if (isReset) (stream % 4 === 1 ? fromClient : fromTarget)?.(reset)
      }
    }
    if (isReset) await openMany()
    else await expect(openMany()).rejects.toThrow("error streams are open")
  })

  test("headers far longer than those of Kubernetes cut the connection off, however short they are compressed", async () => {
    const frame = await open(compression(), 1, { streamtype: "error", padding: "p".repeat(5000) })
    expect(frame.length).toBeLessThan(200)
    expect(() => translation().fromClient?.(frame)).toThrow()
  })

  test.each<[string, Buffer]>([
    ["what is not compressed", Buffer.alloc(100, 7)],
    ["a frame without end", Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
  ])("headers that are %s cut the connection off", (_what, frame) => {
    const sent = frame.length === 100 ? control(1, frame) : frame
    expect(() => translation().fromClient?.(sent)).toThrow()
  })
})
