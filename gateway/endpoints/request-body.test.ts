import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"
import { expect, test } from "vitest"
import { smallPieces } from "../../client/testing/small-pieces.ts"
import type { RequestContext } from "../request/context.ts"
import { readBody, type RequestBody, takeJson } from "./request-body.ts"

const requestOf = (headers: Record<string, string>): IncomingMessage & PassThrough =>
  Object.assign(new PassThrough(), { headers }) as unknown as IncomingMessage & PassThrough

test("a body that arrives after its headers is processed in the tenant's turn", async () => {
  const turn = Promise.withResolvers<void>()
  let asked = false
  const ctx = {
    turn: () => {
      asked = true
      return turn.promise
    },
  } as RequestContext
  const request = requestOf({})
  let body: RequestBody | undefined
  const reading = readBody(ctx, request, 100).then((read) => (body = read))
  await delay(10) // later than the headers
  request.end("{}")
  await expect.poll(() => asked).toBe(true)
  expect(body).toBeUndefined()
  turn.resolve()
  await reading
  expect(body?.bytes.toString()).toBe("{}")
})

test("a body whose request ends while it waits for its turn is dropped", async () => {
  const turn = Promise.withResolvers<void>()
  let isOver = false
  const ctx = {
    turn: () => turn.promise,
    get isOver() {
      return isOver
    },
  } as RequestContext
  const request = requestOf({})
  const reading = readBody(ctx, request, 100)
  await delay(10) // later than the headers
  request.end("{}")
  isOver = true
  turn.resolve()
  await expect(reading).rejects.toMatchObject({ reason: "Timeout" })
})

test.each([
  ["application/yaml", "a: b\n"],
  ["application/apply-patch+yaml", "a: b\n"],
  ["application/yaml", "{a: b, a: c}"],
  ["application/yaml", '{"a": 1, "a": 2}'],
])("long %s is converted in a separate thread: %s", async (type, line) => {
  const headers = { "content-type": type }
  const request = requestOf(headers)
  request.end(`${line}${"# a comment\n".repeat(10_000)}`)
  expect(await readBody({ headers } as unknown as RequestContext, request, 1e6)).toHaveProperty("converted.json")
})

test.each([
  ["application/json", "a: b"],
  ["application/yaml", "{".repeat(2000)],
])("long %s is not converted in a separate thread: %s", async (type, text) => {
  const headers = { "content-type": type }
  const request = requestOf(headers)
  request.end(`${text}${" ".repeat(100_000)}`)
  expect(await readBody({ headers } as unknown as RequestContext, request, 1e6)).not.toHaveProperty("converted")
})

test.each(["application/yaml", "application/apply-patch+yaml"])("JSON as %s is parsed once", async (type) => {
  const headers = { "content-type": type }
  const request = requestOf(headers)
  request.end(`{"a": 1}${" ".repeat(100_000)}`)
  const body = await readBody({ headers } as unknown as RequestContext, request, 1e6)
  expect(body.converted).toBeUndefined()
  expect(takeJson(body)).toEqual({ value: { a: 1 }, duplicates: [] })
  expect(takeJson(body)).toBeUndefined()
})

test("of a body in chunks of one byte only the bytes are held", async () => {
  const chunks = smallPieces()
  const request = requestOf({})
  const reading = readBody({} as RequestContext, request, 10_000)
  for (let index = 0; index < 1000; index++) await new Promise((resolve) => request.write(chunks.next(), resolve))
  await expect.poll(() => chunks.held()).toBeLessThan(10)
  request.end()
  expect((await reading).bytes.length).toBe(1000)
})
