import { describe, expect, test } from "vitest"
import { lines } from "./client.ts"
import { nodes } from "../resources.ts"
import { type Answer, firstEvent, serve, failure } from "./testing/serve.ts"

describe("a watch", () => {
  const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`

  test("delivers events for any chunking, and ends with the server", async () => {
    const text = event("ADDED", { metadata: { name: "ä" } }) + event("BOOKMARK", { metadata: { resourceVersion: "7" } })
    await using served = await serve((_asked, response) => {
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte))
      response.end()
    })
    const seen = []
    const signal = new AbortController().signal
    for await (const { type, object } of served.client.watch(nodes, {
      resourceVersion: "5",
      allowBookmarks: true,
      signal,
    })) {
      seen.push([type, object.metadata.name ?? object.metadata.resourceVersion])
    }
    expect(seen).toEqual([
      ["ADDED", "ä"],
      ["BOOKMARK", "7"],
    ])
    expect(served.requests[0]!.url).toMatch(/watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=\d+$/)
  })

  test("throws the server's error", async () => {
    const status = { kind: "Status", code: 410, reason: "Expired", message: "too old" }
    await using served = await serve((_asked, response) => response.end(event("ERROR", status)))
    const signal = new AbortController().signal
    const watching = (async () => {
      for await (const _ of served.client.watch(nodes, { resourceVersion: "5", signal })) expect.unreachable()
    })()
    expect((await failure(watching)).code).toBe(410)
  })

  test("fails if it does not start in time, and may be idle once started", async () => {
    let isAnswered = false
    const answer: Answer = (_asked, response) => {
      if (!isAnswered) return
      response.flushHeaders()
      setTimeout(() => response.write(event("ADDED", { metadata: { name: "late" } })), 200)
    }
    await using served = await serve(answer, { limits: { requestTimeoutMs: 50 } })
    expect((await failure(firstEvent(served.client))).message).toMatch(/: no answer within 50 ms$/)
    isAnswered = true
    expect(await firstEvent(served.client)).toMatchObject({ object: { metadata: { name: "late" } } })
  })

  test("ends without an error when its signal aborts", async () => {
    const controller = new AbortController()
    await using served = await serve((_asked, response) => {
      response.write(event("ADDED", { metadata: {} }))
    })
    for await (const _ of served.client.watch(nodes, { resourceVersion: "5", signal: controller.signal }))
      controller.abort()
  })
})

test("lines() rejects a line beyond the limit", async () => {
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("short\n")
    yield Buffer.from("much ")
    yield Buffer.from("too long")
  }
  const seen: string[] = []
  await expect(async () => {
    for await (const line of lines(stream(), 8)) seen.push(line)
  }).rejects.toThrow("exceeds 8 bytes")
  expect(seen).toEqual(["short"])
})
