import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Deployment, KubeObject, Namespace, Pod } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  namespaces,
  pods,
  replicaSets,
  secrets,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import type { Log } from "../client/log.ts"
import { startTestGateway, type TestGateway } from "../gateway/testing/start-gateway.ts"
import { startControllers } from "./main.ts"
import { eventually } from "./testing/harness.ts"

// All controllers over the tenants of a real gateway, in one process as in production.

let gateway: TestGateway
let controllers: AsyncDisposable
const unexpected: string[] = []
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => unexpected.push(`${message}: ${JSON.stringify(fields)}`),
}
const client = (tenant: string): KubeClient => gateway.gateway.tenants.client(tenant)

beforeAll(async () => {
  gateway = await startTestGateway()
  await gateway.createTenant("a")
  controllers = startControllers(gateway.gateway.tenants, { rootCertificateAuthority: "CA", log })
  await gateway.createTenant("b")
  await gateway.createTenant("own", { controllers: false })
})

afterAll(async () => {
  await controllers[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  expect(unexpected).toEqual([])
})

function deployment(name: string, replicas: number): KubeObject {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }
}

const count = async (tenant: string, resource: Resource): Promise<number> =>
  (await client(tenant).list(resource, { namespace: "default" })).items.length

describe("controllers over the tenants of a gateway", () => {
  test("create pods for each tenant, including later ones, but not for one with its own controllers", async () => {
    for (const tenant of ["a", "b", "own"])
      await client(tenant).create(deployments, deployment("web", tenant === "a" ? 2 : 3))
    await eventually(async () => expect([await count("a", pods), await count("b", pods)]).toEqual([2, 3]))
    await eventually(async () => {
      const { status } = await client("a").get<Deployment>(deployments, "default", "web")
      expect(status).toMatchObject({ replicas: 2, updatedReplicas: 2, unavailableReplicas: 2, observedGeneration: 1 })
    })
    expect(await count("own", pods)).toBe(0)
    const { metadata } = await client("a").get<Deployment>(deployments, "default", "web")
    expect(metadata.annotations).toHaveProperty(["deployment.kubernetes.io/revision"], "1")
  })

  test("are switched on and off, also for a tenant that has objects", async () => {
    const { uid: _uid, ...request } = await gateway
      .createTenant("switched", { controllers: false })
      .then((made) => made.tenant)
    const { tenants } = gateway.gateway
    await client("switched").create(deployments, deployment("web", 2))
    await tenants.create({ ...request, controllers: true })
    await eventually(async () => expect(await count("switched", pods)).toBe(2))
    await tenants.create({ ...request, controllers: false })
    await client("switched").patch(deployments, "default", "web", { spec: { replicas: 3 } }, { type: "merge" })
    await client("a").create(deployments, deployment("later", 1))
    await eventually(async () => {
      const { status } = await client("a").get<Deployment>(deployments, "default", "later")
      expect(status).toMatchObject({ replicas: 1, observedGeneration: 1 })
    })
    expect(await count("switched", pods)).toBe(2)
    await tenants.create({ ...request, controllers: true })
    await eventually(async () => expect(await count("switched", pods)).toBe(3))
    await tenants.delete("switched")
    await client("a").delete(deployments, "default", "later")
    await eventually(async () => expect(await count("a", pods)).toBe(2))
  })

  test("delete dependents in the foreground", async () => {
    await client("a").create(deployments, deployment("short", 3))
    await eventually(async () => expect(await count("a", pods)).toBe(5))
    await client("a").delete(deployments, "default", "short", { propagationPolicy: "Foreground" })
    await eventually(async () => expect(await count("a", pods)).toBe(2))
    await eventually(async () => {
      await expect(client("a").get(deployments, "default", "short")).rejects.toSatisfy(isNotFound)
    })
    expect(await count("a", replicaSets)).toBe(1)
  })

  test("initialize a new namespace and empty it on deletion, including custom resources", async () => {
    const a = client("a")
    const widgets: Resource = { group: "example.com", version: "v1", resource: "widgets", namespaced: true }
    await a.create(customResourceDefinitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    })
    await a.create<Namespace>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
    await eventually(async () => {
      const found = await a.get(configMaps, "team", "kube-root-ca.crt").catch(() => undefined)
      expect(found).toMatchObject({ data: { "ca.crt": "CA" } })
    })
    const metadata = { name: "w", namespace: "team" }
    const widget = await a.create<KubeObject>(widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata })
    const owner = { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: widget.metadata.uid! }
    const owned = { name: "s", namespace: "team", ownerReferences: [owner] }
    await a.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: owned })
    await a.delete(widgets, "team", "w")
    await eventually(async () => {
      await expect(a.get(secrets, "team", "s")).rejects.toSatisfy(isNotFound)
    })
    await a.create(widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata })
    await a.delete(namespaces, undefined, "team")
    await eventually(async () => {
      await expect(a.get(namespaces, undefined, "team")).rejects.toSatisfy(isNotFound)
    })
  })

  test("replace a deleted pod, and release the state of a deleted tenant", async () => {
    const [pod] = (await client("b").list<Pod>(pods, { namespace: "default" })).items
    await client("b").delete(pods, "default", pod!.metadata.name!, { gracePeriodSeconds: 0 })
    await eventually(async () => {
      const names = (await client("b").list<Pod>(pods, { namespace: "default" })).items.map(
        ({ metadata }) => metadata.name,
      )
      expect(names).toHaveLength(3)
      expect(names).not.toContain(pod!.metadata.name)
    })
    await gateway.gateway.tenants.delete("b")
    await client("a").create(deployments, deployment("after", 1))
    await eventually(async () => expect(await count("a", pods)).toBe(3))
  })
})
