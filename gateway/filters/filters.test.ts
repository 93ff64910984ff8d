// The filters that need no control plane, each on a real HTTP server.

import { describe, expect, test } from "vitest"
import { conflict, tooManyRequests } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import { silentLog } from "../../client/log.ts"
import type { User } from "../request/user.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { withAudit } from "./audit.ts"
import { callAPI } from "./api.ts"
import { type Filter } from "./chain.ts"
import { withMaxInFlight } from "./max-in-flight.ts"
import { readTimeout, withTimeout, WriteTimeout } from "./timeout.ts"
import { serve, throwing, controlPlane, plane, inPlane } from "./testing/serve.ts"

describe("statusErrors()", () => {
  test("sends a StatusError unchanged", async () => {
    const url = await serve([throwing(conflict({ group: "", resource: "pods" }, "a", "changed"))])
    const answer = await fetch(url)
    expect(answer.status).toBe(409)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(await answer.json()).toMatchObject({ kind: "Status", reason: "Conflict", details: { name: "a" } })
  })

  test("sets Retry-After", async () => {
    const url = await serve([throwing(tooManyRequests("busy", 7))])
    expect((await fetch(url)).headers.get("retry-after")).toBe("7")
  })

  test("logs other errors with their stack and responds with 500", async () => {
    const logged: object[] = []
    const url = await serve([throwing(new Error("broken"))], { ...silentLog, error: (fields) => logged.push(fields) })
    const answer = await fetch(url)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ reason: "InternalError", message: "Internal error occurred: broken" })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ err: expect.any(Error) })
  })

  test("indents for interactive tools, not for programs", async () => {
    const url = await serve([throwing(tooManyRequests("busy", 1))])
    const lines = async (agent: string) =>
      (await (await fetch(url, { headers: { "user-agent": agent } })).text()).trimEnd().split("\n").length
    expect(await lines("curl/8")).toBeGreaterThan(5)
    expect(await lines("kubectl/v1.33")).toBe(1)
  })
})

describe("withRequestState()", () => {
  test("sets a request id, or keeps the caller's", async () => {
    const url = await serve([(_request, response) => void response.end()])
    expect((await fetch(url)).headers.get("audit-id")).toMatch(/^[0-9a-f-]{36}$/)
    expect((await fetch(url, { headers: { "audit-id": "mine-1" } })).headers.get("audit-id")).toBe("mine-1")
    expect((await fetch(url, { headers: { "audit-id": "a b" } })).headers.get("audit-id")).toBe("a b")
    expect((await fetch(url, { headers: { "audit-id": "" } })).headers.get("audit-id")).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe("withTimeout()", () => {
  const never: Filter = () => undefined

  test("responds with 504 after the timeout and aborts the work", async () => {
    const signals: AbortSignal[] = []
    const url = await serve([
      withTimeout(20),
      (_request, response) => {
        response.stand({ "x-kubernetes-pf-flowschema-uid": "1" })
        response.setHeader("Warning", '299 - "of the answer that does not come"')
        signals.push(response.locals.state.signal)
      },
    ])
    const answer = await fetch(`${url}/api/v1/pods`)
    expect(answer.status).toBe(504)
    const told = ["warning", "x-kubernetes-pf-flowschema-uid", "cache-control"].map((name) => answer.headers.get(name))
    expect(told).toEqual([null, null, "no-cache, private"])
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(await answer.json()).toEqual({
      metadata: {},
      status: "Failure",
      reason: "Timeout",
      message: "Timeout: request did not complete within the allotted timeout",
      details: {},
      code: 504,
    })
    expect(signals[0]?.aborted).toBe(true)
  })

  test("accepts a shorter timeout of the caller", async () => {
    const url = await serve([readTimeout, withTimeout(60_000), never])
    expect((await fetch(`${url}/api/v1/pods?timeout=20ms`)).status).toBe(504)
  })

  test("rejects an invalid duration", async () => {
    const url = await serve([readTimeout, withTimeout(60_000), never])
    expect(await (await fetch(`${url}/api/v1/pods?timeout=abc`)).json()).toMatchObject({
      code: 400,
      message: 'invalid timeout specified in the request URL - time: invalid duration "abc"',
    })
  })

  test("has no timeout for watches", async () => {
    const url = await serve([withTimeout(1), (_request, response) => void setTimeout(() => response.end("late"), 30)])
    expect(await (await fetch(`${url}/api/v1/pods?watch=true`)).text()).toBe("late")
  })
})

describe("withMaxInFlight()", () => {
  const limits = { maxInFlight: 2, maxWaiting: 1, maxLongRunning: 1 }

  /** Answers when told to. */
  function gate() {
    const open: (() => void)[] = []
    const waiting: (() => void)[] = []
    const filter: Filter = (_request, response) => {
      open.push(() => void response.end("ok"))
      for (const call of waiting.splice(0)) call()
    }
    const reached = async (count: number): Promise<void> => {
      while (open.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    }
    return { filter, open, reached }
  }

  test("queues requests above the limit, and rejects them with 429 when the queue is full", async () => {
    const { filter, open, reached } = gate()
    const url = await serve([inPlane(plane), withMaxInFlight(limits), filter])
    const running = [fetch(`${url}/a`), fetch(`${url}/b`)]
    await reached(2)
    const waiting = [fetch(`${url}/c`), fetch(`${url}/d`)]
    const refused = await Promise.race(waiting)
    expect(refused.status).toBe(429)
    expect(refused.headers.get("retry-after")).toBe("1")
    expect(await refused.text()).toBe("Too many requests, please try again later.\n")
    expect(open).toHaveLength(2)
    open[0]?.()
    await reached(3)
    open.slice(1).forEach((finish) => finish())
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200)
    const codes = (await Promise.all(waiting)).map(({ status }) => status)
    expect(codes.toSorted((one, other) => one - other)).toEqual([200, 429])
  })

  test("does not affect another tenant", async () => {
    const { filter, open, reached } = gate()
    const other = controlPlane()
    const byPath: Filter = (request, response, next) =>
      inPlane(request.url === "/b" ? other : plane)(request, response, next)
    const url = await serve([byPath, withMaxInFlight({ ...limits, maxInFlight: 1, maxWaiting: 0 }), filter])
    const first = fetch(`${url}/a`)
    await reached(1)
    expect((await fetch(`${url}/a`)).status).toBe(429)
    const second = fetch(`${url}/b`)
    await reached(2)
    open.forEach((finish) => finish())
    expect((await first).status).toBe(200)
    expect((await second).status).toBe(200)
  })

  test("counts watches separately", async () => {
    const { filter, open, reached } = gate()
    const url = await serve([inPlane(plane), withMaxInFlight(limits), filter])
    const watch = fetch(`${url}/api/v1/pods?watch=true`)
    await reached(1)
    expect((await fetch(`${url}/api/v1/pods?watch=true`)).status).toBe(429)
    const list = fetch(`${url}/api/v1/pods`)
    await reached(2)
    open.forEach((finish) => finish())
    expect((await list).status).toBe(200)
    expect((await watch).status).toBe(200)
  })

  test("removes a waiting request of a disconnected client", async () => {
    const { filter, open, reached } = gate()
    const url = await serve([inPlane(plane), withMaxInFlight({ ...limits, maxInFlight: 1 }), filter])
    const first = fetch(`${url}/a`)
    await reached(1)
    const gone = new AbortController()
    const leaving = fetch(`${url}/b`, { signal: gone.signal })
    gone.abort()
    await expect(leaving).rejects.toThrow()
    open[0]?.()
    expect((await first).status).toBe(200)
    const next = fetch(`${url}/c`)
    await reached(2)
    open[1]?.()
    expect((await next).status).toBe(200)
  })
})

describe("withAudit()", () => {
  test("logs the user and the request when it has ended", async () => {
    const entry = Promise.withResolvers<object>()
    const audit: Log = { ...silentLog, info: (fields) => entry.resolve(fields) }
    const user: User = { name: "bob", groups: [], extra: {} }
    const url = await serve([
      withAudit(audit),
      inPlane({ name: "a" } as ControlPlane, user),
      (_request, response) => void response.writeHead(201).end(),
    ])
    await fetch(`${url}/api/v1/namespaces/ns/pods`, { method: "POST" })
    expect(await entry.promise).toMatchObject({
      tenant: "a",
      user: "bob",
      verb: "create",
      resource: "pods",
      namespace: "ns",
      code: 201,
    })
  })
})

test("a request that was not answered before its client left has timed out", async () => {
  const entry = Promise.withResolvers<object>()
  const audit: Log = { ...silentLog, info: (fields) => entry.resolve(fields) }
  const leaving = new AbortController()
  const url = await serve([withAudit(audit), () => leaving.abort()])
  await expect(fetch(`${url}/api/v1/namespaces/ns/pods`, { method: "POST", signal: leaving.signal })).rejects.toThrow()
  expect(await entry.promise).toMatchObject({ verb: "create", code: 504 })
})

describe("callAPI()", () => {
  test("sends each warning once as a header", async () => {
    const user: User = { name: "bob", groups: [], extra: {} }
    const url = await serve([
      inPlane(plane, user),
      callAPI((ctx, { response }) => {
        ctx.warn('say "x"')
        ctx.warn('say "x"')
        ctx.warn("second")
        response.end()
        return Promise.resolve()
      }, new WriteTimeout(60_000)),
    ])
    expect((await fetch(url)).headers.get("warning")).toBe('299 - "say \\"x\\"", 299 - "second"')
  })
})
