// Requests to an aggregated API: what its server gets of them, and what the control plane itself asks it for.

import { once } from "node:events"
import { connect } from "node:http2"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import type { Loose } from "../testing/kinds.ts"
import type { TestTenant } from "../testing/start-gateway.ts"
import { group, silent, watched } from "./testing/flunder-server.ts"
import {
  authentication,
  bodyOf,
  call,
  flunderResource,
  gateway,
  program,
  tenant,
  useAggregatedServer,
} from "./testing/aggregated-server.ts"

useAggregatedServer()

describe("an aggregated API server", () => {
  test("gets requests with the user's name and the gateway's certificate", async () => {
    const of = `/apis/${group}/v1alpha1/namespaces/default/flunders/x`
    const path = `${of}?a=b+c&d=` // as kube-aggregator writes queries
    const headers = { "x-remote-user": "somebody-else", "x-remote-extra-scopes": "all", "x-mine": "1" }
    expect(await bodyOf(call(`${of}?d&a=b%20c`, { headers }))).toEqual({ kind: "Flunder", asked: path })
    const last = program.seen.findLast(({ url }) => url === path) // the server is also checked meanwhile
    expect(last).toMatchObject({ method: "GET", url: path, client: "front-proxy-client" })
    expect(last?.headers).toMatchObject({ "x-mine": "1" })
    expect(last?.headers["x-remote-user"]).not.toContain("somebody-else")
    expect(last?.headers["x-remote-group"]).toContain("system:authenticated")
    expect(last?.headers["x-remote-extra-scopes"]).toBeUndefined()
    expect(last?.headers["authorization"]).toBeUndefined()
  })

  test("gets no request that is smuggled in the body of another", async () => {
    const path = `/tenants/a/apis/${group}/v1alpha1/flunders`
    const { certificate: cert = "", key = "" } = tenant
    const session = connect(gateway.url, { ca: gateway.gateway.certificateAuthority, cert, key })
    const stream = session.request({ ":path": path }, { endStream: false })
    stream.end("GET /smuggled HTTP/1.1\r\nhost: x\r\nx-remote-user: root\r\n\r\n")
    await once(stream.resume(), "close")
    session.close()
    // The server has processed all earlier data on the same connection before this request.
    await call(`/apis/${group}/v1alpha1/flunders`)
    expect(program.seen.map(({ url }) => url)).not.toContain("/smuggled")
    expect(program.seen.find(({ headers }) => headers["transfer-encoding"] === "chunked")).toMatchObject({
      method: "GET",
    })
  })

  test("gets the impersonated user without the impersonation headers", async () => {
    const headers = {
      "impersonate-user": "ann",
      "impersonate-group": "system:masters",
      "impersonate-extra-scopes": "view",
    }
    await call(`/apis/${group}/v1alpha1/flunders`, { headers })
    const last = program.seen.at(-1)?.headers ?? {}
    expect(last).toMatchObject({ "x-remote-user": "ann", "x-remote-extra-scopes": "view" })
    expect(Object.keys(last).filter((name) => name.startsWith("impersonate-"))).toEqual([])
  })

  test("is reachable for the control plane's controllers", async () => {
    const client = gateway.gateway.tenants.client("a")
    expect(await client.raw(`/apis/${group}/v1alpha1/nodes`)).toEqual({
      kind: "Flunder",
      asked: `/apis/${group}/v1alpha1/nodes`,
    })
    await expect(client.raw("/apis/none.example.com/v1/nodes")).rejects.toThrow("could not find the requested resource")
  })

  test("has objects that the control plane's controllers can list and delete", async () => {
    const client = gateway.gateway.tenants.client("a")
    const resource = flunderResource
    expect(await client.discover()).toContainEqual({ ...resource, kind: "Flunder", verbs: ["get", "list"] })
    expect(await client.unavailable()).toEqual([])
    const path = `/apis/${group}/v1alpha1/namespaces/team/flunders`
    expect(await client.list(resource, { namespace: "team", limit: 5 })).toMatchObject({
      asked: `${path}?limit=5`,
      items: [],
    })
    await client.delete(resource, "team", "x")
    await client.deleteCollection(resource, "team", {}, { propagationPolicy: "Background" })
    const requests = program.seen.slice(-2).map(({ method, url, body }) => [method, url, JSON.parse(body) as unknown])
    const options = { apiVersion: "v1", kind: "DeleteOptions" }
    expect(requests).toEqual([
      ["DELETE", `${path}/x`, options],
      ["DELETE", path, { ...options, propagationPolicy: "Background" }],
    ])
    await expect(client.list({ ...resource, group: "none.example.com" })).rejects.toThrow("could not find")
  })

  test.each([
    [404, "NotFound", "the server could not find the requested resource"],
    [409, "Conflict", "the server reported a conflict"],
    [429, "TooManyRequests", "the server has received too many requests and has asked us to try again later"],
    [500, "InternalError", 'an error on the server ("in its own words") has prevented the request from succeeding'],
    [502, "InternalError", 'an error on the server ("in its own words") has prevented the request from succeeding'],
    [503, "ServiceUnavailable", "the server is currently unable to handle the request"],
  ])("has refusals in its own words, of which those are told the code: %s", async (code, reason, message) => {
    const client = gateway.gateway.tenants.client("a")
    const asking = client.get(flunderResource, "team", `answered-${code}`)
    await expect(asking).rejects.toMatchObject({ status: { code, reason, message } })
  })

  test("has objects that the control plane's controllers can read, write and watch", async () => {
    const client = gateway.gateway.tenants.client("a")
    const resource = flunderResource
    const flunder = { apiVersion: `${group}/v1alpha1`, kind: "Flunder", metadata: { namespace: "team", name: "x" } }
    expect(await client.get(resource, "team", "x", { metadataOnly: true })).toMatchObject({ kind: "Flunder" })
    await client.create(resource, flunder)
    await client.update(resource, flunder, { subresource: "status" })
    await client.patch(resource, "team", "x", { a: 1 }, { type: "strategic" })
    const events: unknown[] = []
    const { signal } = new AbortController()
    const watching = (async () => {
      for await (const event of client.watch(resource, { namespace: "team", resourceVersion: "5", signal })) {
        events.push(event)
      }
    })()
    await expect(watching).rejects.toThrow("too old")
    expect(events).toEqual(watched.slice(0, 1))
    const path = `/apis/${group}/v1alpha1/namespaces/team/flunders`
    const json = "application/json"
    const partial = `${json};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${json}`
    const requests = program.seen
      .slice(-5)
      .map(({ method, url, headers }) => [method, url, headers["accept"], headers["content-type"]])
    expect(requests).toEqual([
      ["GET", `${path}/x`, partial, undefined],
      ["POST", path, json, json],
      ["PUT", `${path}/x/status`, json, json],
      ["PATCH", `${path}/x`, json, "application/strategic-merge-patch+json"],
      ["GET", expect.stringMatching(/flunders\?watch=true&resourceVersion=5&timeoutSeconds=\d+$/), json, undefined],
    ])
  })

  test("has streams, which outlast the time of a request", async () => {
    const path = `/tenants/a/apis/${group}/v1alpha1/namespaces/default/flunders/x/console?timeout=100ms`
    const { certificate: cert, key } = tenant
    const ca = gateway.gateway.certificateAuthority
    const socket = new WebSocket(`${gateway.url.replace(/^http/, "ws")}${path}`, { ca, cert, key })
    await once(socket, "open")
    expect((await call(`${silent}?timeout=200ms`)).code).toBe(504)
    const closed = once(socket, "close")
    socket.send("still here")
    const [message] = (await Promise.race([once(socket, "message"), closed])) as [unknown]
    expect(String(message)).toBe("still here")
    socket.close()
    await closed
  })

  test("gets the request's id, and the gateway's headers precede its own", async () => {
    const headers = { "audit-id": "mine" }
    const answer = await call(`/apis/${group}/v1alpha1/flunders`, { headers })
    expect(program.seen.at(-1)?.headers["audit-id"]).toBe("mine")
    expect(answer.headers["cache-control"]).toBe("no-cache, private, max-age=60")
  })

  test("gets only requests that are authorized", async () => {
    const { code } = await call(`/apis/${group}/v1alpha1/flunders`, { headers: { "impersonate-user": "nobody" } })
    expect(code).toBe(403)
  })
})

test("each tenant has its own front-proxy authority", async () => {
  const b = await gateway.createTenant("b")
  const of = async (name: string, credential: TestTenant): Promise<Loose> =>
    (await bodyOf(gateway.request(`/tenants/${name}${authentication}`, { ...credential })))["data"]
  const [one, other] = [await of("a", tenant), await of("b", b)]
  for (const name of ["client-ca-file", "requestheader-client-ca-file"]) {
    expect(one[name]).toMatch(/^-----BEGIN CERTIFICATE-----\n/)
    expect(one[name]).not.toBe(other[name])
  }
  expect(one["requestheader-allowed-names"]).toBe('["front-proxy-client"]')
})
