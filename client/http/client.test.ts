import { once } from "node:events"
import { type IncomingHttpHeaders } from "node:http"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { createHttpClient } from "./client.ts"
import type { HttpClientConfig } from "./transport.ts"
import { ClientMetrics } from "../metrics/client-metrics.ts"
import type { KubeClient } from "../rest.ts"
import { configMaps, deployments, nodes } from "../resources.ts"
import { firstEvent, serve, send, failure } from "./testing/serve.ts"

describe("requests of the HTTP client", () => {
  // Its path would be that of all objects.
  test("for an object without a name are not sent", async () => {
    await using served = await serve((_, response) => send(response, 200, {}))
    const { client, requests } = served
    const nameless = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n" } }
    for (const calling of [
      client.get(configMaps, "n", ""),
      client.delete(configMaps, "n", ""),
      client.patch(configMaps, "n", "", {}, { type: "merge" }),
      client.update(configMaps, nameless),
    ])
      expect(await failure(calling)).toMatchObject({ code: 400, message: "resource name may not be empty" })
    expect(requests).toEqual([])
  })

  // The syncer tells a tenant so; it would try again for ever what a server only cannot do now.
  test.each([
    "etcdserver: request is too large",
    "rpc error: code = ResourceExhausted desc = trying to send message larger than max (4194432 vs. 2097152)",
  ])("with an object that is too large for kube-apiserver's storage fail for that reason: %s", async (message) => {
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 }
    await using served = await serve((_, response) => send(response, 500, status))
    const object = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } }
    expect(await failure(served.client.create(nodes, object))).toMatchObject({
      code: 413,
      reason: "RequestEntityTooLarge",
      message,
    })
  })

  test.each(["null", "5", '"text"'])("answered with %s fail", async (body) => {
    await using served = await serve((_, response) => send(response, 200, body))
    expect(await failure(served.client.get(nodes, undefined, "a"))).toMatchObject({
      code: 503,
      message: expect.stringMatching(/: the answer is not an object$/) as string,
    })
  })

  test.each<object>([
    {},
    [],
    { kind: "NodeList", metadata: {}, items: {} },
    { kind: "NodeList", metadata: {}, items: [null] },
    { kind: "NodeList", metadata: {}, items: [{ spec: {} }] },
  ])("for a list that are answered with %j fail", async (body) => {
    await using served = await serve((_, response) => send(response, 200, body))
    expect(await failure(served.client.list(nodes))).toMatchObject({
      code: 503,
      message: expect.stringMatching(/: the answer is not a list of objects$/) as string,
    })
  })

  test("of a watch ignore events of unknown types, and fail for those without an object", async () => {
    const added = { type: "ADDED", object: { metadata: { name: "a" } } }
    const lineOf = (event: unknown): string => `${JSON.stringify(event)}\n`
    await using served = await serve((_, response) => {
      response.write(lineOf({ type: "OTHER", object: 5 }) + lineOf(added) + lineOf({ type: "ADDED", object: null }))
    })
    const seen: unknown[] = []
    const reading = (async () => {
      const { signal } = new AbortController()
      for await (const event of served.client.watch(nodes, { resourceVersion: "1", signal })) seen.push(event)
    })()
    expect((await failure(reading)).message).toMatch(/the watch delivered something that is not an object$/)
    expect(seen).toEqual([added])
  })

  test.each<[string, Partial<HttpClientConfig>]>([
    ["a token with a line break", { token: "a\nb" }],
    ["a certificate that is none", { server: "https://127.0.0.1:1", certificate: "x", key: "x" }],
  ])("with %s fail", async (_what, config) => {
    await using served = await serve((_, response) => send(response, 200, {}), config)
    expect(await failure(served.client.get(nodes, undefined, "a"))).toMatchObject({ code: 503 })
  })

  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "n" } }
  const cases: [string, (client: KubeClient) => Promise<unknown>, string, string][] = [
    ["an object", (c) => c.get(configMaps, "n", "c"), "GET", "/api/v1/namespaces/n/configmaps/c"],
    ["one without namespace", (c) => c.get(nodes, undefined, "a"), "GET", "/api/v1/nodes/a"],
    [
      "a list",
      (c) => c.list(deployments, { labelSelector: "a=b", limit: 5, continue: "x" }),
      "GET",
      "/apis/apps/v1/deployments?labelSelector=a%3Db&limit=5&continue=x",
    ],
    [
      "a creation",
      (c) => c.create(configMaps, object, { dryRun: true }),
      "POST",
      "/api/v1/namespaces/n/configmaps?dryRun=All",
    ],
    [
      "a subresource",
      (c) => c.create(configMaps, object, { subresource: "x" }),
      "POST",
      "/api/v1/namespaces/n/configmaps/c/x",
    ],
    [
      "an update",
      (c) => c.update(configMaps, object, { subresource: "status" }),
      "PUT",
      "/api/v1/namespaces/n/configmaps/c/status",
    ],
    [
      "an apply",
      (c) => c.patch(configMaps, "n", "c", object, { type: "apply", fieldManager: "m", force: true }),
      "PATCH",
      "/api/v1/namespaces/n/configmaps/c?fieldManager=m&force=true",
    ],
    ["a deletion", (c) => c.delete(configMaps, "n", "c"), "DELETE", "/api/v1/namespaces/n/configmaps/c"],
    [
      "a collection's deletion",
      (c) => c.deleteCollection(configMaps, "n", { labelSelector: "a" }),
      "DELETE",
      "/api/v1/namespaces/n/configmaps?labelSelector=a",
    ],
  ]
  test.each(cases)("%s", async (_, call, method, path) => {
    await using served = await serve((_asked, response) =>
      send(response, 200, { kind: "List", metadata: {}, items: [] }),
    )
    await call(served.client)
    expect([served.requests[0]!.method, served.requests[0]!.url]).toEqual([method, `/tenants/a${path}`])
  })

  test("deletes with preconditions", async () => {
    await using served = await serve((_asked, response) => send(response, 200, {}))
    await served.client.delete(configMaps, "n", "c", { uid: "u", propagationPolicy: "Orphan", gracePeriodSeconds: 0 })
    expect(JSON.parse(served.requests[0]!.body)).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u" },
      gracePeriodSeconds: 0,
      propagationPolicy: "Orphan",
    })
  })

  test("sends the current token with each request", async () => {
    let count = 0
    const token = (): Promise<string> => Promise.resolve(`t${++count}`)
    await using served = await serve((_asked, response) => send(response, 200, {}), { token })
    await served.client.get(nodes, undefined, "a")
    await served.client.get(nodes, undefined, "a")
    expect(served.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer t1", "Bearer t2"])
  })

  test("calls the header function before every request", async () => {
    let count = 0
    const headers = () => ({ "x-count": String(++count) })
    await using served = await serve((_, response) => send(response, 200, {}), { headers })
    await served.client.get(nodes, undefined, "n")
    await served.client.get(nodes, undefined, "n")
    expect(served.requests.map((one) => one.headers["x-count"])).toEqual(["1", "2"])
  })

  test("requests a new token after a 401", async () => {
    const token = (refused = ""): Promise<string> => Promise.resolve(`${refused}t`)
    const answer = ({ headers }: { headers: IncomingHttpHeaders }): number =>
      headers.authorization === "Bearer t" ? 401 : 200
    await using served = await serve((asked, response) => send(response, answer(asked), {}), { token })
    expect((await failure(served.client.get(nodes, undefined, "a"))).code).toBe(401)
    await served.client.get(nodes, undefined, "a")
    expect(served.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer t", "Bearer tt"])
  })
})

describe("the HTTP client fails with a StatusError", () => {
  test("with the server's Status", async () => {
    const status = { kind: "Status", status: "Failure", reason: "NotFound", message: 'nodes "a" not found', code: 404 }
    await using served = await serve((_asked, response) => send(response, 404, status))
    const error = await failure(served.client.get(nodes, undefined, "a"))
    expect([error.code, error.reason, error.message]).toEqual([404, "NotFound", 'nodes "a" not found'])
  })

  test("for a response that is not a Status", async () => {
    await using served = await serve((_asked, response) => send(response, 502, "<html>bad gateway</html>"))
    const error = await failure(served.client.get(nodes, undefined, "a"))
    expect(error.code).toBe(502)
    expect(error.message).toBe("GET /api/v1/nodes/a: the server answered 502: <html>bad gateway</html>")
  })

  test("for a response that is not JSON", async () => {
    await using served = await serve((_asked, response) => send(response, 200, "hello"))
    expect((await failure(served.client.get(nodes, undefined, "a"))).message).toContain("the answer is not JSON")
  })

  test("for a response that is too large", async () => {
    await using served = await serve((_asked, response) => send(response, 200, "x".repeat(1000)), {
      limits: { responseBytes: 100 },
    })
    expect((await failure(served.client.get(nodes, undefined, "a"))).message).toContain("exceeds 100 bytes")
  })

  test("on a timeout", async () => {
    await using served = await serve(() => undefined, { limits: { requestTimeoutMs: 30 } })
    const error = await failure(served.client.get(nodes, undefined, "a"))
    expect([error.code, error.message]).toEqual([504, "Timeout: no answer within 30 ms"])
  })

  test.for([
    ["a request", (client: KubeClient) => client.get(nodes, undefined, "a")],
    ["a watch", (client: KubeClient) => firstEvent(client)],
  ] as const)("on a timeout when connecting over %s", async ([, ask]) => {
    const silent = createTcpServer().listen(0, "127.0.0.1")
    await once(silent, "listening")
    const { port } = silent.address() as AddressInfo
    await using client = createHttpClient({ server: `https://127.0.0.1:${port}`, limits: { connectTimeoutMs: 30 } })
    const error = await failure(ask(client))
    silent.close()
    expect(error.code).toBe(503)
    expect(error.message).toContain("no connection within 30 ms")
  })

  test("with the cause if it cannot connect", async () => {
    await using client = createHttpClient({ server: "http://127.0.0.1:1" })
    const error = await failure(client.get(nodes, undefined, "a"))
    expect(error.code).toBe(503)
    expect(error.message).toContain("ECONNREFUSED")
    expect(error.cause).toBeInstanceOf(Error)
  })
})

test("the HTTP client retries after 429 with Retry-After", async () => {
  let count = 0
  await using served = await serve((_asked, response) => {
    if (count++ === 0) send(response, 429, {}, { "retry-after": "0.01" })
    else send(response, 200, { metadata: { name: "a" } })
  })
  expect((await served.client.get(nodes, undefined, "a")).metadata.name).toBe("a")
  expect(count).toBe(2)
})

test("requests are counted by method and code", async () => {
  const metrics = new ClientMetrics()
  await using served = await serve((asked, response) => send(response, asked.method === "GET" ? 200 : 403, {}), {
    metrics,
  })
  await served.client.get(nodes, undefined, "n")
  await failure(served.client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } }))
  const { port } = new URL(`http://${served.requests[0]?.headers.host}`)
  const host = `host="127.0.0.1:${port}"`
  const text = metrics.print()
  expect(text).toContain(`rest_client_requests_total{code="200",${host},method="GET"} 1`)
  expect(text).toContain(`rest_client_requests_total{code="403",${host},method="POST"} 1`)
  expect(text).toContain(`rest_client_request_duration_seconds_count{${host},verb="POST"} 1`)
  expect(text).toContain(`rest_client_request_size_bytes_sum{${host},verb="POST"} ${served.requests[1]?.body.length}`)
  expect(text).toContain(`rest_client_response_size_bytes_sum{${host},verb="GET"} 2`)
})

test("requests without a response are counted", async () => {
  const metrics = new ClientMetrics()
  await using served = await serve((_asked, response) => response.destroy(), { metrics })
  await failure(served.client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } }))
  expect(metrics.print()).toMatch(/rest_client_requests_total\{code="<error>",host="127.0.0.1:\d+",method="POST"\} 1/)
})
