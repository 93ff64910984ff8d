import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"
import { expect, test } from "vitest"
import type { RequestContext } from "../request/context.ts"
import { readBody } from "./body.ts"

test("a body that comes later than its head is worked on when others have had their turn", async () => {
  const turn = Promise.withResolvers<void>()
  let asked = false
  const ctx = {
    turn: () => {
      asked = true
      return turn.promise
    },
  } as RequestContext
  const request = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage & PassThrough
  let body: Buffer | undefined
  const reading = readBody(ctx, request, 100).then((bytes) => (body = bytes))
  await delay(10) // later than the head
  request.end("{}")
  await expect.poll(() => asked).toBe(true)
  expect(body).toBeUndefined()
  turn.resolve()
  await reading
  expect(body?.toString()).toBe("{}")
})
