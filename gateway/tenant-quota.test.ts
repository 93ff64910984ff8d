// What a tenant may store, and take of the super cluster.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap, Pod, Service } from "../apimachinery/object.ts"
import { configMaps, namespaces, persistentVolumeClaims, pods, serviceAccounts, services } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { configMap, startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

let fixture: TestGateway

beforeAll(async () => {
  fixture = await startTestGateway({ limits: { maxStoredObjects: 100 } })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

const local = (tenant: TestTenant): KubeClient => fixture.gateway.tenants.client(tenant.tenant.name)

/** Creates objects until the limit is reached, and returns their number. */
async function fill(client: KubeClient, names: string): Promise<number> {
  for (let made = 0; ; made++) {
    try {
      await client.create(configMaps, configMap(`${names}${made}`))
    } catch (error) {
      expect(error).toMatchObject({ code: 403 })
      return made
    }
  }
}

describe("the storage of a tenant", () => {
  test("is limited per tenant, with the error of a quota, and deletions free it", async () => {
    const full = await fixture.createTenant("full")
    const other = await fixture.createTenant("other")
    const made = await fill(local(full), "c")
    expect(made).toBeGreaterThan(90)
    const refused = await fixture.request("/tenants/full/api/v1/namespaces/default/configmaps", {
      ...full,
      method: "POST",
      body: configMap("beyond"),
    })
    expect(refused.json()).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'configmaps "beyond" is forbidden: exceeded quota: tenant, requested: objects=1, used: objects=100, limited: objects=100',
      reason: "Forbidden",
      details: { name: "beyond", kind: "configmaps" },
      code: 403,
    })
    await local(full).patch(configMaps, "default", "c0", { data: { text: "changed" } }, { type: "merge" })
    // Some may be used by the gateway's own objects, which are created in the background.
    for (let index = 0; index < 10; index++) await local(full).delete(configMaps, "default", `c${index}`)
    await local(full).create(configMaps, configMap("beyond"))
    await local(other).create(configMaps, configMap("free"))
  })

  test("is limited by its VirtualCluster in objects and bytes", async () => {
    const small = await fixture.createTenant("small", { quota: { objects: 10, bytes: 20_000 } })
    expect(await fill(local(small), "c")).toBeLessThanOrEqual(10)
    const large = configMap("c0", { text: "x".repeat(20_000) })
    const change = local(small).patch(configMaps, "default", "c0", { data: large.data }, { type: "merge" })
    await expect(change).rejects.toMatchObject({
      code: 403,
      message: expect.stringMatching(
        /exceeded quota: tenant, requested: bytes=\d+, used: bytes=\d+, limited: bytes=20000/,
      ),
    })
  })

  test("follows changes of the quota; a tenant that stores more can change and delete, but not add", async () => {
    const { tenant } = await fixture.createTenant("changed", { quota: { objects: 10 } })
    const api = fixture.gateway.tenants.client("changed")
    const made = await fill(api, "c")
    const { uid: _uid, quota: _quota, ...request } = tenant
    const setQuota = (quota: object) => fixture.gateway.tenants.create({ ...request, ...quota })
    await setQuota({ quota: { objects: 12 } })
    expect(await fill(api, "d")).toBe(2)
    await setQuota({ quota: { objects: 5 } })
    const refused = { code: 403, message: expect.stringContaining("used: objects=12, limited: objects=5") }
    await expect(api.create(configMaps, configMap("beyond"))).rejects.toMatchObject(refused)
    await api.patch(configMaps, "default", "c0", { data: { text: "other" } }, { type: "merge" })
    for (let index = 0; index < made; index++) await api.delete(configMaps, "default", `c${index}`)
    await setQuota({})
    expect(await fill(api, "e")).toBeGreaterThan(80)
  })

  test("at the byte limit, objects with finalizers can still be deleted", async () => {
    const waiting = await fixture.createTenant("waiting", { quota: { bytes: 20_000 } })
    const client = local(waiting)
    const object = configMap("held")
    await client.create(configMaps, { ...object, metadata: { ...object.metadata, finalizers: ["example.com/held"] } })
    for (let size = 8192; size > 8; size /= 2) {
      for (;;) {
        try {
          await client.create(configMaps, {
            ...configMap("", { text: "x".repeat(size) }),
            metadata: { namespace: "default", generateName: "fill-" },
          })
        } catch (error) {
          expect(error).toMatchObject({ code: 403 })
          break
        }
      }
    }
    await client.delete(configMaps, "default", "held")
    const held = await client.get<ConfigMap>(configMaps, "default", "held")
    expect(held.metadata.deletionTimestamp).toBeDefined()
    await client.patch(configMaps, "default", "held", { metadata: { finalizers: null } }, { type: "merge" })
    await expect(client.get(configMaps, "default", "held")).rejects.toMatchObject({ code: 404 })
  })
})

describe("what a tenant takes of the super cluster", () => {
  const inNamespace = (kind: string, namespace: string, name: string, spec?: object) => ({
    apiVersion: "v1",
    kind,
    metadata: { namespace, name },
    ...(spec === undefined ? {} : { spec }),
  })
  const service = (namespace: string, name: string, spec: object): Service =>
    inNamespace("Service", namespace, name, { ports: [{ port: 80 }], ...spec }) as Service
  const pod = (namespace: string, name: string): Pod =>
    inNamespace("Pod", namespace, name, { containers: [{ name: "c", image: "i" }] }) as Pod

  async function tenantWith(name: string, quota: Tenant["quota"] & {}): Promise<KubeClient> {
    // Waits for its Service kubernetes.
    expect(
      await fixture.request(`/tenants/${name}/api/v1/services`, await fixture.createTenant(name, { quota })),
    ).toMatchObject({ code: 200 })
    const client = fixture.gateway.tenants.client(name)
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } })
    await client.create(serviceAccounts, inNamespace("ServiceAccount", "other", "default"))
    return client
  }

  const refused = (message: string) => ({ code: 403, message })

  test("is limited in node ports over all namespaces, also on updates, and deleting frees them", async () => {
    const client = await tenantWith("ports", { nodePorts: 3 })
    const two = {
      type: "NodePort",
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    }
    await client.create(services, service("default", "two", two))
    await client.create(services, service("other", "none", {}))
    await client.create(services, service("other", "one", { type: "NodePort" }))
    const amounts = "requested: services.nodeports=1, used: services.nodeports=3, limited: services.nodeports=3"
    await expect(
      client.patch(services, "other", "none", { spec: { type: "NodePort" } }, { type: "merge" }),
    ).rejects.toMatchObject(refused(`services "none" is forbidden: exceeded quota: tenant, ${amounts}`))
    await client.patch(services, "default", "two", { spec: { ports: [{ port: 81 }] } }, { type: "merge" })
    await client.patch(services, "other", "none", { spec: { type: "NodePort" } }, { type: "merge" })
  })

  test("is limited in services that have an address", async () => {
    const client = await tenantWith("addresses", { services: 3 })
    await client.create(services, service("default", "a", {}))
    await client.create(services, service("default", "headless", { clusterIP: "None" }))
    await client.create(
      services,
      service("other", "named", { type: "ExternalName", externalName: "a.example", ports: [] }),
    )
    const made = await Promise.allSettled(
      ["b", "c", "d"].map((name) => client.create(services, service("other", name, {}))),
    )
    // One is the tenant's own Service kubernetes.
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    const amounts = "requested: services=1, used: services=3, limited: services=3"
    await expect(client.create(services, service("default", "e", {}))).rejects.toMatchObject(
      refused(`services "e" is forbidden: exceeded quota: tenant, ${amounts}`),
    )
  })

  test("is limited in pods that have not ended, however many are created at once", async () => {
    const client = await tenantWith("pods", { pods: 5 })
    const names = Array.from({ length: 12 }, (_, index) => `p-${index}`)
    const made = await Promise.allSettled(
      names.map((name, index) => client.create(pods, pod(index % 2 === 0 ? "default" : "other", name))),
    )
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(5)
    const amounts = "requested: pods=1, used: pods=5, limited: pods=5"
    await expect(client.create(pods, pod("default", "more"))).rejects.toMatchObject(
      refused(`pods "more" is forbidden: exceeded quota: tenant, ${amounts}`),
    )
    const [first] = (await client.list<Pod>(pods)).items
    const { namespace, name = "" } = first!.metadata
    await client.patch(
      pods,
      namespace,
      name,
      { status: { phase: "Succeeded" } },
      { type: "merge", subresource: "status" },
    )
    await client.create(pods, pod("default", "more"))
  })

  test("is limited in namespaces, which count until they are gone", async () => {
    const client = await tenantWith("namespaces", { namespaces: 6 })
    const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })
    await client.create(namespaces, namespace("sixth"))
    const amounts = "requested: namespaces=1, used: namespaces=6, limited: namespaces=6"
    await expect(client.create(namespaces, namespace("seventh"))).rejects.toMatchObject(
      refused(`namespaces "seventh" is forbidden: exceeded quota: tenant, ${amounts}`),
    )
    await client.delete(namespaces, undefined, "sixth")
    const ended = { ...(await client.get(namespaces, undefined, "sixth")), spec: { finalizers: [] } }
    await expect(client.create(namespaces, namespace("seventh"))).rejects.toMatchObject({ code: 403 })
    await client.update(namespaces, ended, { subresource: "finalize" })
    await client.create(namespaces, namespace("seventh"))
  })

  test("is limited in claims over all namespaces", async () => {
    const client = await tenantWith("claims", { persistentVolumeClaims: 1 })
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    await client.create(persistentVolumeClaims, inNamespace("PersistentVolumeClaim", "default", "a", spec))
    const amounts =
      "requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1"
    await expect(
      client.create(persistentVolumeClaims, inNamespace("PersistentVolumeClaim", "other", "b", spec)),
    ).rejects.toMatchObject(refused(`persistentvolumeclaims "b" is forbidden: exceeded quota: tenant, ${amounts}`))
  })

  test("is not limited by the settings of others", async () => {
    const client = await tenantWith("unlimited", {})
    for (let index = 0; index < 8; index++) await client.create(pods, pod("default", `p-${index}`))
  })
})
