// The metrics API of a tenant whose super cluster measures pods.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { PodUsage } from "../../client/pod-usage.ts"
import { apiServices } from "../../client/api-services.ts"
import { namespaces, nodes, pods, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { LimitedUsage } from "./limited-usage.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"
import type { Loose } from "../testing/kinds.ts"

const timestamp = "2026-01-01T00:00:00Z"

const measured = new Map<string, PodUsage[]>([
  [
    "default",
    [
      usage("web", { app: { cpu: "1500000n", memory: "3000Ki" }, sidecar: { cpu: "500000n", memory: "1Mi" } }),
      usage("db", { db: { cpu: "250m", memory: "1Gi" } }),
      // Of a pod that the tenant has deleted meanwhile.
      usage("gone", { c: { cpu: "1", memory: "1Gi" } }),
    ],
  ],
  ["other", [usage("job", { c: { cpu: "1", memory: "24Ki" } })]],
])
let isAvailable = true
let isServed = true
const followers = new Set<() => void>()

function usage(name: string, containers: Record<string, Record<string, string>>): PodUsage {
  return {
    name,
    timestamp,
    window: "15.2s",
    containers: Object.entries(containers).map(([each, used]) => ({ name: each, usage: used })),
  }
}

let gateway: TestGateway
let tenant: TestTenant
let client: KubeClient

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await gateway.request(`/tenants/a${path}`, { ...tenant, headers })
  return { code: answer.code, body: answer.json() as Loose }
}
const metrics = "/apis/metrics.k8s.io/v1beta1"

beforeAll(async () => {
  gateway = await startTestGateway({
    podUsage: {
      get isServed() {
        return isServed
      },
      onChange: (changed) => {
        followers.add(changed)
        return () => void followers.delete(changed)
      },
      of: ({ name }) => ({
        ofNamespace(namespace) {
          if (!isAvailable) return Promise.reject(serviceUnavailable("nothing is measured"))
          return Promise.resolve(name === "a" ? (measured.get(namespace) ?? []) : [])
        },
      }),
    },
  })
  tenant = await gateway.createTenant("a")
  client = gateway.gateway.tenants.client("a")
  for (const name of ["node-1", "node-2"]) {
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels: { zone: name } } })
  }
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } })
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "other" } }
  await client.create(serviceAccounts, account)
  const create = (namespace: string, name: string, nodeName: string) =>
    client.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { app: name } },
      spec: {
        nodeName,
        serviceAccountName: "",
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i" }],
      },
    } as never)
  await create("default", "web", "node-1")
  await create("default", "db", "node-2")
  await create("default", "unmeasured", "node-2")
  await create("other", "job", "node-1")
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
})

describe("metrics of pods", () => {
  test("are those of the tenant's pods that have been measured, with their labels", async () => {
    const { code, body } = await get(`${metrics}/namespaces/default/pods`)
    expect(code).toBe(200)
    expect(body).toMatchObject({ kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1" })
    expect(body["items"]).toMatchObject([
      { metadata: { name: "db", namespace: "default", labels: { app: "db" } }, timestamp, window: "15.2s" },
      {
        metadata: { name: "web" },
        containers: [
          { name: "app", usage: { cpu: "1500000n", memory: "3000Ki" } },
          { name: "sidecar", usage: { cpu: "500000n", memory: "1Mi" } },
        ],
      },
    ])
    expect(body["items"]).toHaveLength(2)
  })

  test.each([
    [`${metrics}/pods`, ["db", "web", "job"]],
    [`${metrics}/namespaces/default/pods?labelSelector=app%3Dweb`, ["web"]],
    [`${metrics}/namespaces/other/pods`, ["job"]],
    [`${metrics}/namespaces/none/pods`, []],
  ])("%s lists %j", async (path, names) => {
    const { body } = await get(path)
    expect((body["items"] as Loose[]).map(({ metadata }) => (metadata as Loose)["name"])).toEqual(names)
  })

  test("are read one by one", async () => {
    expect(await get(`${metrics}/namespaces/default/pods/db`)).toMatchObject({
      code: 200,
      body: { kind: "PodMetrics" },
    })
    const { code, body } = await get(`${metrics}/namespaces/default/pods/unmeasured`)
    expect({ code, message: body["message"] }).toEqual({
      code: 404,
      message: 'pods.metrics.k8s.io "unmeasured" not found',
    })
  })

  test("are printed as metrics-server prints them", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    const { body } = await get(`${metrics}/namespaces/default/pods`, { accept })
    const titles = (body["columnDefinitions"] as Loose[]).map(({ name }) => name)
    expect(titles).toEqual(["Name", "cpu", "memory", "Window"])
    expect((body["rows"] as Loose[]).map(({ cells }) => cells)).toEqual([
      ["db", "250m", "1Gi", "15.2s"],
      ["web", "2m", "4024Ki", "15.2s"],
    ])
  })

  test("are read by controllers, as a HorizontalPodAutoscaler reads them", async () => {
    const found = (await client.raw(`${metrics}/namespaces/default/pods?labelSelector=app%3Ddb`)) as Loose
    expect(found["items"]).toMatchObject([{ metadata: { name: "db" }, containers: [{ usage: { cpu: "250m" } }] }])
  })

  test("are unavailable while the super cluster's are", async () => {
    isAvailable = false
    try {
      expect(await get(`${metrics}/namespaces/default/pods`)).toMatchObject({
        code: 503,
        body: { reason: "ServiceUnavailable", message: "nothing is measured" },
      })
    } finally {
      isAvailable = true
    }
  })
})

test("metrics of a node are the sum of the tenant's pods on it", async () => {
  const { body } = await get(`${metrics}/nodes`)
  expect(body["items"]).toMatchObject([
    {
      kind: "NodeMetrics",
      metadata: { name: "node-1", labels: { zone: "node-1" } },
      usage: { cpu: "1002m", memory: "4048Ki" },
    },
    { metadata: { name: "node-2" }, usage: { cpu: "250m", memory: "1Gi" } },
  ])
  expect(await get(`${metrics}/nodes/node-3`)).toMatchObject({ code: 404 })
})

test("the API is in discovery as metrics-server's, and has no APIService", async () => {
  const { body } = await get(metrics)
  expect(body["resources"]).toEqual([
    { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
    { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
  ])
  const { items } = await client.list(apiServices)
  expect(items.filter(({ metadata }) => metadata.name?.includes("metrics") === true)).toEqual([])
})

test("writes and watches are refused", async () => {
  const post = await gateway.request(`/tenants/a${metrics}/namespaces/default/pods`, {
    ...tenant,
    method: "POST",
    body: { apiVersion: "metrics.k8s.io/v1beta1", kind: "PodMetrics", metadata: { name: "x" } },
  })
  expect(post.code).toBe(405)
  expect(await get(`${metrics}/namespaces/default/pods?watch=true`)).toMatchObject({ code: 405 })
})

test("the API is in OpenAPI with its verbs", async () => {
  const { body } = await get("/openapi/v3/apis/metrics.k8s.io/v1beta1")
  const { paths, components } = body as { paths: Record<string, Loose>; components: { schemas: Loose } }
  const verbs = (path: string) => Object.keys(paths[path] ?? {}).filter((key) => key !== "parameters")
  expect(Object.keys(paths).flatMap(verbs)).toEqual(["get", "get", "get", "get", "get"])
  expect(components.schemas).toHaveProperty(["io.k8s.metrics.v1beta1.PodMetrics"])
})

test("the API comes and goes with the super cluster's", async () => {
  const serve = (now: boolean): void => {
    isServed = now
    for (const changed of followers) changed()
  }
  expect(followers.size).toBeGreaterThan(0)
  serve(false)
  expect((await gateway.request(`/tenants/a${metrics}/nodes`, { ...tenant })).code).toBe(404)
  expect(JSON.stringify((await get("/apis")).body)).not.toContain("metrics.k8s.io")
  serve(true)
  expect(await get(`${metrics}/nodes`)).toMatchObject({ code: 200 })
})

test("no more than eight namespaces are read at the same time", async () => {
  let [running, most] = [0, 0]
  const usage = new LimitedUsage({
    async ofNamespace() {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return []
    },
  })
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 100 }, (_, index) => usage.ofNamespace(`n${index}`, signal)))
  expect({ running, most }).toEqual({ running: 0, most: 8 })
})

test("a tenant may register a metrics server of its own", async () => {
  const spec = { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 }
  await client.create(apiServices, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1beta1.metrics.k8s.io" },
    spec: { ...spec, service: { name: "metrics-server", namespace: "kube-system" } },
  } as never)
  const answer = await gateway.request(`/tenants/a${metrics}/nodes`, { ...tenant })
  expect({ code: answer.code, text: answer.text }).toEqual({ code: 503, text: "service unavailable\n" })
})
