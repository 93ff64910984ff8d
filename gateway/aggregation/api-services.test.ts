// APIServices: which are available, and what becomes of requests to those that are not.

import { describe, expect, test } from "vitest"
import { eventually } from "../../test/harness/eventually.ts"
import type { Loose } from "../testing/kinds.ts"
import { group, numbers } from "./testing/flunder-server.ts"
import {
  aggregatedDiscovery,
  apiService,
  available,
  bodyOf,
  call,
  gateway,
  program,
  services,
  useAggregatedServer,
  wardle,
} from "./testing/aggregated-server.ts"

useAggregatedServer()

describe("an aggregated API server", () => {
  test("cannot replace a built-in group", async () => {
    const body: Loose = { ...apiService("v1", wardle) }
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
    const names = numbers.map((n) => `v1.long${n}.example.com`)
    for (const [n, name] of names.entries()) {
      const body = apiService("v1", wardle, { caBundle: program.caBundle, group: `long${n}.example.com` })
      await call(services, { method: "POST", body: { ...body, metadata: { name } } })
    }
    await call(services, { method: "POST", body: apiService("v1long", wardle, { caBundle: program.caBundle }) })
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
    ["v2", { ...wardle, port: 444 }, {}, 'ServicePortError: service/wardle in "default" is not listening on port 444'],
    [
      "v3",
      wardle,
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
    const items = await aggregatedDiscovery()
    const shown = items.at(-1)!["versions"].find((each: Loose) => each.version === version)
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
