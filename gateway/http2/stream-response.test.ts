// Edge cases of HTTP/2 responses, without a gateway.

import { once } from "node:events"
import type { IncomingMessage, RequestListener } from "node:http"
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type ServerHttp2Stream } from "node:http2"
import type { AddressInfo } from "node:net"
import { PassThrough, Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { GatewayResponse } from "../filters/chain.ts"
import { defaultLimits } from "../options.ts"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"
import { createHttp2Server } from "./server.ts"

type Answer = (request: IncomingMessage, response: GatewayResponse) => unknown

let answer: Answer
let session: ClientHttp2Session
let server: ReturnType<typeof createHttp2Server>

beforeAll(async () => {
  const authority = await createAuthority("test")
  const { certificate, key } = await issueServingCertificate(authority, ["localhost"])
  const serve: RequestListener = (request, response) => void answer(request, response as GatewayResponse)
  server = createHttp2Server({ cert: certificate, key }, defaultLimits, serve)
  server.listen(0, "localhost")
  await once(server, "listening")
  session = connect(`https://localhost:${(server.address() as AddressInfo).port}`, { ca: authority.certificate })
})

afterAll(() => {
  session?.destroy()
  server?.close()
})

interface Received {
  headers: Record<string, unknown>
  body: string
}

function open(headers: Record<string, string>, serve: Answer): ClientHttp2Stream {
  answer = serve
  return session.request({ ":path": "/", ...headers })
}

async function receive(stream: ClientHttp2Stream): Promise<Received> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>]
  return { headers, body: await text(stream) }
}

const split = (line: string): [string, string] => {
  const [name = "", value = ""] = line.split(": ")
  return [name, value]
}

describe("a response over HTTP/2", () => {
  test("has its own headers, and preset headers of other names", async () => {
    const { headers, body } = await receive(
      open({}, (_, response) => {
        response.stand({ "audit-id": "one", "cache-control": "no-cache" })
        response.setHeader("X-Set", "before")
        response.writeHead(201, { "Cache-Control": "private", "Content-Length": 4 })
        response.end("body")
      }),
    )
    expect(headers).toMatchObject({ ":status": 201, "audit-id": "one", "cache-control": "private", "x-set": "before" })
    expect(headers["content-length"]).toBe("4")
    expect(body).toBe("body")
  })

  test("is said to be begun when its headers have been decided", async () => {
    const begun: boolean[] = []
    await receive(
      open({}, (_, response) => {
        begun.push(response.headersSent)
        response.writeHead(200)
        begun.push(response.headersSent)
        response.end()
      }),
    )
    expect(begun).toEqual([false, true])
  })

  test("can have several values of one header", async () => {
    const { headers } = await receive(
      open({}, (_, response) => {
        response.appendHeader("Set-Cookie", "a=1")
        response.appendHeader("Set-Cookie", ["b=2", "c=3"])
        response.end()
      }),
    )
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2", "c=3"])
  })

  test("ends the request, also if the client has not sent all of its body", async () => {
    answer = (request, response) => {
      request.once("data", () => response.end("enough"))
    }
    const stream = session.request({ ":path": "/", ":method": "POST" }, { endStream: false })
    const closed = once(stream, "close")
    stream.write("some")
    const { headers, body } = await receive(stream)
    await closed
    expect([headers[":status"], body, stream.rstCode]).toEqual([200, "enough", constants.NGHTTP2_NO_ERROR])
  })

  test("omits the connection headers of HTTP/1.1", async () => {
    const { headers, body } = await receive(
      open({}, (_, response) => {
        response.writeHead(200, { Connection: "close", "Keep-Alive": "timeout=5", "Transfer-Encoding": "chunked" })
        response.end("body")
      }),
    )
    expect(Object.keys(headers)).not.toContain("connection")
    expect(Object.keys(headers)).not.toContain("transfer-encoding")
    expect(body).toBe("body")
  })

  test("to HEAD has no body", async () => {
    const done = Promise.withResolvers<unknown[]>()
    const { headers, body } = await receive(
      open({ ":method": "HEAD" }, (_, response) => {
        response.writeHead(200, { "Content-Length": 4 })
        response.write("bo")
        response.once("close", () => done.resolve([response.writableEnded, response.destroyed]))
        response.end("dy")
      }),
    )
    expect(headers["content-length"]).toBe("4")
    expect(body).toBe("")
    expect(await done.promise).toEqual([true, true])
  })

  test("to HEAD can be sent after the request has ended", async () => {
    const { headers, body } = await receive(
      open({ ":method": "HEAD" }, (_, response) => {
        setImmediate(() => {
          expect(response.writableEnded).toBe(false)
          response.writeHead(404, { "Content-Length": 4 }).end("body")
          expect(response.writableEnded).toBe(true)
        })
      }),
    )
    expect(headers).toMatchObject({ ":status": 404, "content-length": "4" })
    expect(body).toBe("")
  })

  test("counts the bytes of its body, in strings and buffers", async () => {
    const counted = Promise.withResolvers<number>()
    const stream = open({}, (_, response) => {
      response.write("ä")
      response.write(Buffer.from("bc"))
      response.once("close", () => counted.resolve(response.sentBytes))
      response.end("d")
    })
    expect((await receive(stream)).body).toBe("äbcd")
    expect(await counted.promise).toBe(5)
  })

  test.each([true, false])(
    "has trailers, also if the client has not sent all of its body: ended %s",
    async (isEnded) => {
      const stream = open({ ":method": "POST" }, (_, response) => {
        response.addTrailers([])
        response.write("body")
        // Node would throw at some of these, where nobody catches it.
        response.addTrailers(["X-Sum: 1", "Connection: a", "TE: b", "Content-Type: c", "content-type: d"].map(split))
        response.end()
      })
      if (isEnded) stream.end("sent")
      else stream.write("sent")
      const trailers = once(stream, "trailers")
      const { body } = await receive(stream)
      expect([body, (await trailers)[0]]).toEqual([
        "body",
        expect.objectContaining({ "x-sum": "1", "content-type": "c, d" }),
      ])
    },
  )

  test("comes after informational ones", async () => {
    const stream = open({}, (_, response) => {
      response.writeInformation(103, ["link", "</a>", "set-cookie", "a", "set-cookie", "b", "connection", "close"])
      response.end("body")
      response.writeInformation(103, ["link", "</late>"])
    })
    const hints: unknown[] = []
    stream.on("headers", (headers) => hints.push({ ...headers }))
    const { body } = await receive(stream)
    expect([body, hints]).toMatchObject(["body", [{ ":status": 103, link: "</a>", "set-cookie": ["a", "b"] }]])
    expect(hints).not.toMatchObject([{ connection: "close" }])
  })

  test("of a client that has left comes after no informational ones", async () => {
    const written = Promise.withResolvers<void>()
    const stream = open({}, (request, response) => {
      ;(request as unknown as ServerHttp2Stream).close(constants.NGHTTP2_CANCEL)
      try {
        response.writeInformation(103, ["link", "</a>"])
        written.resolve()
      } catch (error) {
        written.reject(error as Error)
      }
    })
    stream.on("error", () => undefined)
    await written.promise
  })

  test("that is destroyed early resets the stream with an error", async () => {
    const stream = open({}, (_, response) => {
      response.write("half")
      setImmediate(() => response.destroy())
    })
    await expect(receive(stream)).rejects.toThrow(/NGHTTP2_INTERNAL_ERROR/)
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
  })

  test("can be the destination of a pipeline", async () => {
    const long = "x".repeat(300_000)
    const done = Promise.withResolvers<void>()
    const stream = open({}, (_, response) => {
      pipeline(Readable.from([long.slice(0, 100_000), long.slice(100_000)]), response).then(done.resolve, done.reject)
    })
    expect((await receive(stream)).body).toBe(long)
    await done.promise
  })

  test("destroys its source in a pipeline when the client disconnects", async () => {
    const source = new PassThrough()
    const done = Promise.withResolvers<unknown>()
    const stream = open({}, (_, response) => {
      pipeline(source, response).catch(done.resolve)
      source.write("first")
    })
    await once(stream, "response")
    stream.close(constants.NGHTTP2_CANCEL)
    expect(await done.promise).toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" })
    expect(source.destroyed).toBe(true)
  })

  test("sent before an unread request body resets the stream without an error", async () => {
    const stream = open({ ":method": "POST" }, (_, response) => response.writeHead(401).end("no"))
    stream.write("x".repeat(10_000))
    const { headers, body } = await receive(stream)
    expect(headers[":status"]).toBe(401)
    expect(body).toBe("no")
    if (!stream.closed) await once(stream, "close")
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  test("sends 100 Continue when a body is read", async () => {
    const stream = open({ ":method": "POST", expect: "100-continue" }, (request, response) => {
      request.on("data", (chunk: Buffer) => response.end(`got ${chunk.toString()}`))
    })
    await once(stream, "continue")
    stream.end("it")
    expect((await receive(stream)).body).toBe("got it")
  })
})

describe("a request over HTTP/2", () => {
  test("is presented as an HTTP/1.1 request", async () => {
    const seen = Promise.withResolvers<Pick<IncomingMessage, "method" | "url" | "headers">>()
    const stream = open(
      { ":method": "PUT", ":path": "/a?b=c", ":authority": "name.test", one: "1" },
      (request, response) => {
        const { method, url, headers } = request
        seen.resolve({ method: method ?? "", url: url ?? "", headers })
        request.resume()
        response.end()
      },
    )
    stream.end("body")
    await receive(stream)
    expect(await seen.promise).toEqual({
      method: "PUT",
      url: "/a?b=c",
      headers: { host: "name.test", one: "1", "transfer-encoding": "chunked" },
    })
  })

  test("without a body has no transfer-encoding", async () => {
    const seen = Promise.withResolvers<unknown>()
    const stream = open({}, (request, response) => {
      seen.resolve(request.headers["transfer-encoding"])
      response.end()
    })
    await receive(stream)
    expect(await seen.promise).toBeUndefined()
  })
})
