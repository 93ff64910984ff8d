// An aggregated API: a server of the tenant behind a Service, reached through its pod's node.

import { once } from "node:events"
import { connect } from "node:http2"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { eventually } from "../../test/harness/eventually.ts"
import type { Loose } from "../testing/kinds.ts"
import { NodeFixture } from "../testing/node-fixture.ts"
import {
  type RawAnswer,
  type RawRequest,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../testing/start-gateway.ts"
import { flunders, FlunderServer, group, numbers, silent, watched } from "./testing/flunder-server.ts"

const services = "/apis/apiregistration.k8s.io/v1/apiservices"
const authentication = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

let gateway: TestGateway
let tenant: TestTenant
let node: NodeFixture
let program: FlunderServer

const call = (path: string, options: RawRequest = {}): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${path}`, { ...tenant, ...options })
const bodyOf = async (answer: Promise<RawAnswer>): Promise<Loose> => (await answer).json() as Loose

function apiService(version: string, service: Loose | undefined, more: Loose = {}): Loose {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 2000,
      versionPriority: 200,
      ...(service ? { service } : {}),
      ...more,
    },
  }
}

const available = async (name: string): Promise<Loose> => {
  const { status } = await bodyOf(call(`${services}/${name}`))
  return status?.conditions?.[0] ?? {}
}

beforeAll(async () => {
  node = await NodeFixture.start()
  gateway = await startTestGateway({ nodeDialer: () => node.dialer, http2: true })
  tenant = await gateway.createTenant("a")
  const { data } = await bodyOf(call(authentication))
  program = await FlunderServer.start(data["requestheader-client-ca-file"])
  const client = gateway.gateway.tenants.client("a")
  await node.addPod(client, "wardle", { 8443: program.port })
  await node.addService(client, "wardle", "wardle", { 443: 8443 })
  const service = { namespace: "default", name: "wardle" }
  const { code } = await call(services, {
    method: "POST",
    body: apiService("v1alpha1", service, { caBundle: program.caBundle }),
  })
  expect(code).toBe(201)
  await eventually(async () => (await available(`v1alpha1.${group}`))["status"] === "True")
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await node?.[Symbol.asyncDispose]()
  program?.close()
})

describe("an aggregated API server", () => {
  test.each([
    ["v1broken", undefined],
    ["v1empty", ["flunders"]],
  ])("can send broken discovery without affecting others: %s", async (version, expected) => {
    const service = { namespace: "default", name: "wardle" }
    await call(services, { method: "POST", body: apiService(version, service, { caBundle: program.caBundle }) })
    await eventually(async () => (await available(`${version}.${group}`))["status"] === "True")
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    const { items } = await bodyOf(call("/apis", { headers: { accept } }))
    const { versions } = items.find(({ metadata }: Loose) => metadata.name === group)
    const served = versions.find((each: Loose) => each["version"] === version)
    expect(served.resources?.map(({ resource }: Loose) => resource)).toEqual(expected)
    const found = await gateway.gateway.tenants.client("a").discover()
    expect(found.filter((each) => each.group === group && each.version === version)).toEqual([])
    await call(`${services}/${version}.${group}`, { method: "DELETE" })
  })

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
    const resource = { group, version: "v1alpha1", resource: "flunders", namespaced: true }
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

  test("has objects that the control plane's controllers can read, write and watch", async () => {
    const client = gateway.gateway.tenants.client("a")
    const resource = { group, version: "v1alpha1", resource: "flunders", namespaced: true }
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

  test("is part of discovery, aggregated or not", async () => {
    const groups = (await bodyOf(call("/apis")))["groups"] as Loose[]
    expect(groups.at(-1)).toMatchObject({
      name: group,
      preferredVersion: { groupVersion: `${group}/v1alpha1`, version: "v1alpha1" },
    })
    expect(await bodyOf(call(`/apis/${group}`))).toMatchObject({ kind: "APIGroup", name: group })
    expect((await bodyOf(call(`/apis/${group}/v1alpha1`)))["resources"][0]).toEqual(flunders)
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    const { items } = await bodyOf(call("/apis", { headers: { accept } }))
    expect(items.at(-1)).toEqual({
      metadata: { name: group },
      versions: [
        {
          version: "v1alpha1",
          freshness: "Current",
          resources: [
            {
              resource: "flunders",
              responseKind: { group: "", version: "", kind: "Flunder" },
              scope: "Namespaced",
              singularResource: "flunder",
              verbs: ["get", "list"],
              subresources: [
                {
                  subresource: "status",
                  responseKind: { group: "", version: "", kind: "Flunder" },
                  verbs: ["get"],
                },
              ],
            },
          ],
        },
      ],
    })
  })

  test("is part of OpenAPI", async () => {
    const { paths } = await bodyOf(call("/openapi/v3"))
    expect(paths).toMatchObject({
      "api/v1": {},
      [`apis/${group}/v1alpha1`]: { serverRelativeURL: "/openapi/v3/apis/x?hash=1" },
    })
    expect(paths.version.serverRelativeURL).not.toBe("/openapi/v3/version?hash=1")
    expect(await bodyOf(call(`/openapi/v3/apis/${group}/v1alpha1`))).toEqual({ openapi: "3.0.0" })
    expect(await bodyOf(call(`/openapi/v3/apis/${group}`))).toEqual({ openapi: "3.0.1" })
    expect((await bodyOf(call("/openapi/v3/version"))).info.title).toBe("Kubernetes")
    expect((await call(`/openapi/v3/apis/${group}/v2`)).code).toBe(404)
  })

  test("is part of OpenAPI v2, for which it is asked once a minute", async () => {
    const documents = await Promise.all([1, 2, 3].map(() => bodyOf(call("/openapi/v2"))))
    for (const { paths, definitions } of documents) {
      expect(paths[`/apis/${group}/v1alpha1/flunders`]).toEqual({ get: { responses: {} } })
      expect(paths["/apis/apps/v1/deployments"].get.description).not.toBe("not of this server")
      expect(definitions.Flunder).toEqual({ type: "object" })
    }
    const asked = program.seen.filter(({ url }) => url === "/openapi/v2")
    expect(asked.map(({ headers }) => headers["x-remote-user"])).toEqual(["system:aggregator"])
  })

  test("cannot replace a built-in group", async () => {
    const body: Loose = { ...apiService("v1", { namespace: "default", name: "wardle" }) }
    body["spec"] = { ...body["spec"], group: "apps" }
    const { resourceVersion } = (await bodyOf(call(`${services}/v1.apps`)))["metadata"]
    await call(`${services}/v1.apps`, {
      method: "PUT",
      body: { ...body, metadata: { name: "v1.apps", resourceVersion } },
    })
    expect(await bodyOf(call("/apis/apps/v1/deployments"))).toMatchObject({ kind: "DeploymentList" })
  })
})

describe("many API servers", () => {
  test("cannot list more than is kept in memory", async () => {
    const service = { namespace: "default", name: "wardle" }
    const names = numbers.map((n) => `v1.long${n}.example.com`)
    for (const [n, name] of names.entries()) {
      const body = apiService("v1", service, { caBundle: program.caBundle, group: `long${n}.example.com` })
      await call(services, { method: "POST", body: { ...body, metadata: { name } } })
    }
    await call(services, { method: "POST", body: apiService("v1long", service, { caBundle: program.caBundle }) })
    const conditions = () => Promise.all([...names, `v1long.${group}`].map(available))
    await eventually(async () => (await conditions()).every(({ status }) => status !== undefined))
    const [last, ...others] = (await conditions()).toReversed()
    expect(others.filter(({ status }) => status === "True").length).toBe(4)
    expect(others.find(({ status }) => status === "False")).toMatchObject({
      message: "the aggregated APIs list more resources than fit into 4194304 bytes",
    })
    expect(last?.["message"]).toContain("the answer is longer than 1048576 bytes")
    for (const name of [...names, `v1long.${group}`]) await call(`${services}/${name}`, { method: "DELETE" })
  })
})

describe("an API without a running server", () => {
  test.each<[string, Loose, Loose, string]>([
    ["v1", { namespace: "default", name: "none" }, {}, 'ServiceNotFound: service/none in "default" is not present'],
    [
      "v2",
      { namespace: "default", name: "wardle", port: 444 },
      {},
      'ServicePortError: service/wardle in "default" is not listening on port 444',
    ],
    [
      "v3",
      { namespace: "default", name: "wardle" },
      {},
      'FailedDiscoveryCheck: failing or missing response from https://ADDRESS:443/apis/wardle.example.com/v3: Get "https://ADDRESS:443/apis/wardle.example.com/v3": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      "v4",
      { namespace: "default", name: "empty" },
      { insecureSkipTLSVerify: true },
      'EndpointsNotFound: cannot find endpointslices for service/empty in "default"',
    ],
  ])("%s reports the reason, and responds with 503", async (version, service, more, why) => {
    if (service["name"] === "empty") {
      await call("/api/v1/namespaces/default/services", {
        method: "POST",
        body: { metadata: { name: "empty" }, spec: { ports: [{ port: 443 }] } },
      })
    }
    await call(services, { method: "POST", body: apiService(version, service, more) })
    const conditionText = async (): Promise<string> => {
      const { reason, message } = await available(`${version}.${group}`)
      return `${reason}: ${message}`.replaceAll(/(?<=https:\/\/)[\d.]+(?=:443)/g, "ADDRESS")
    }
    await expect.poll(conditionText).toBe(why)
    const { metadata } = await bodyOf(call(`${services}/${version}.${group}`))
    const writer = { manager: "kube-apiserver", operation: "Update", subresource: "status" }
    expect(metadata["managedFields"]).toContainEqual(expect.objectContaining(writer))
    const { code, text } = await call(`/apis/${group}/${version}/flunders`)
    expect([code, text]).toEqual([503, "service unavailable\n"])
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    const { items } = await bodyOf(call("/apis", { headers: { accept } }))
    const shown = items.at(-1).versions.find((each: Loose) => each.version === version)
    expect(shown).toEqual({ version, freshness: "Stale" })
    await call(`${services}/${version}.${group}`, { method: "DELETE" })
  })

  test("responds with 503 in plain text, and in process with client-go's message", async () => {
    program.close()
    const path = `/apis/${group}/v1alpha1/flunders`
    const { code, text, headers } = await call(path)
    expect([code, headers["content-type"]]).toEqual([503, "text/plain; charset=utf-8"])
    // Already noticed; or on a new, or on a kept connection.
    expect(text).toMatch(/^(service unavailable|error trying to reach service: (connect: connection refused|EOF))\n$/)
    const unable = "the server is currently unable to handle the request"
    await expect(gateway.gateway.tenants.client("a").raw(path)).rejects.toThrow(unable)
  })

  test("is removed with its APIService", async () => {
    await call(`${services}/v1alpha1.${group}`, { method: "DELETE" })
    expect((await call(`/apis/${group}/v1alpha1/flunders`)).code).toBe(404)
    expect(((await bodyOf(call("/apis")))["groups"] as Loose[]).map(({ name }) => name as string)).not.toContain(group)
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

test("custom resources have APIServices while they are served", async () => {
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const schema = { openAPIV3Schema: { type: "object" } }
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.own.example.com" },
    spec: {
      group: "own.example.com",
      scope: "Cluster",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  }
  await call(crds, { method: "POST", body })
  const service = (): Promise<Loose> => bodyOf(call(`${services}/v1.own.example.com`))
  await expect.poll(service).toMatchObject({
    metadata: {
      labels: { "kube-aggregator.kubernetes.io/automanaged": "true" },
      managedFields: [{ manager: "kube-apiserver", operation: "Update" }],
    },
    spec: { group: "own.example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
    status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
  })
  await call(`${crds}/things.own.example.com`, { method: "DELETE" })
  await expect.poll(service).toMatchObject({ code: 404 })
})
