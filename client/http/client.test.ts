import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { StatusError } from "../../apimachinery/status.ts"
import { createHttpClient, lines } from "./client.ts"
import type { HttpClientConfig } from "./transport.ts"
import { ClientMetrics } from "../metrics/client-metrics.ts"
import type { KubeClient } from "../rest.ts"
import { configMaps, deployments, nodes } from "../resources.ts"

interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingMessage["headers"]
  body: string
}

interface Served extends AsyncDisposable {
  client: KubeClient
  requests: ReceivedRequest[]
}

type Answer = (request: ReceivedRequest, response: ServerResponse) => void

async function firstEvent(client: KubeClient): Promise<unknown> {
  const signal = new AbortController().signal
  for await (const event of client.watch(nodes, { resourceVersion: "1", signal })) return event
  return undefined
}

async function serve(answer: Answer, config: Partial<HttpClientConfig> = {}): Promise<Served> {
  const asked: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
      asked.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const client = createHttpClient({ server: `http://127.0.0.1:${port}/tenants/a`, ...config })
  return {
    client,
    requests: asked,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const send = (response: ServerResponse, code: number, body: unknown, headers = {}): void => {
  response.writeHead(code, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

const failure = async (promise: Promise<unknown>): Promise<StatusError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StatusError)
  return error as StatusError
}

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

describe("discovery", () => {
  test("reads the aggregated form", async () => {
    await using served = await serve(({ url }, response) => {
      const versions = (names: string[]): object[] =>
        names.map((version) => ({
          version,
          resources: [{ resource: "things", scope: "Namespaced", verbs: ["get"], responseKind: { kind: "Thing" } }],
        }))
      const items = url.endsWith("/api") ? [] : [{ metadata: { name: "g" }, versions: versions(["v2", "v1"]) }]
      send(response, 200, { kind: "APIGroupDiscoveryList", items })
    })
    expect(await served.client.discover()).toEqual([
      {
        group: "g",
        version: "v2",
        resource: "things",
        namespaced: true,
        kind: "Thing",
        verbs: ["get"],
        otherVersions: ["v1"],
      },
    ])
  })

  test("requests each group if there is no aggregated form", async () => {
    const answers: Record<string, object> = {
      "/api": { kind: "APIVersions", versions: ["v1"] },
      "/apis": {
        kind: "APIGroupList",
        groups: [{ name: "g", versions: [{ groupVersion: "g/v1" }], preferredVersion: { groupVersion: "g/v1" } }],
      },
      "/api/v1": { resources: [{ name: "pods", namespaced: true, kind: "Pod", verbs: [] }, { name: "pods/status" }] },
      "/apis/g/v1": { resources: [{ name: "things", namespaced: false, kind: "Thing", verbs: [] }] },
    }
    await using served = await serve(({ url }, response) =>
      send(response, 200, answers[url.slice("/tenants/a".length)]),
    )
    const found = await served.client.discover()
    expect(found.map(({ group, resource }) => `${group}/${resource}`)).toEqual(["/pods", "g/things"])
    expect(await served.client.unavailable()).toEqual([])
  })

  test("reports unavailable groups separately", async () => {
    const version = (name: string, freshness: string): object => ({
      version: name,
      freshness,
      resources: [
        { resource: `things-of-${name}`, scope: "Namespaced", verbs: ["list"], responseKind: { kind: "Thing" } },
      ],
    })
    const groups = [{ metadata: { name: "g" }, versions: [version("v2", "Stale"), version("v1", "Current")] }]
    await using served = await serve(({ url }, response) =>
      send(response, 200, { kind: "APIGroupDiscoveryList", items: url.endsWith("/apis") ? groups : [] }),
    )
    expect((await served.client.discover()).map(({ resource }) => resource)).toEqual(["things-of-v1"])
    expect(await served.client.unavailable()).toEqual(["g/v2"])
  })
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
