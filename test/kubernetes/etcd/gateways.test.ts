// Two gateways on one etcd: each answers for every tenant, and what one has acknowledged the other knows.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { isConflict, isNotFound, StatusError } from "../../../apimachinery/status.ts"
import { clusterRoleBindings, configMaps, customResourceDefinitions, namespaces } from "../../../client/resources.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../../../gateway/testing/start-gateway.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
})

const waitMs = 60_000

describe.skipIf(lacks(["etcd"]))("two gateways on one etcd", () => {
  const stack = new AsyncDisposableStack()
  let first: TestGateway
  let second: TestGateway
  let shared: { servers: string[]; prefix: string }

  beforeAll(async () => {
    const etcd = stack.use(await TestEtcd.start())
    shared = { servers: etcd.servers, prefix: "/test" }
    const options = {
      etcd: shared,
      superCluster: false,
      limits: { tenantIdleMs: 1_000 },
    }
    // At once: they make the shared keys together.
    const [a, b] = await Promise.all([startTestGateway(options), startTestGateway(options)])
    first = stack.use(a)
    second = stack.use(b)
  })
  afterAll(() => stack.disposeAsync())

  /** The same person at either gateway. */
  const clients = (tenant: TestTenant): [KubeClient, KubeClient] => [
    first.client(`/tenants/${tenant.tenant.name}`, tenant),
    second.client(`/tenants/${tenant.tenant.name}`, tenant),
  ]

  test("they share their keys, and serve with certificates of one authority", () => {
    expect(second.gateway.certificateAuthority).toBe(first.gateway.certificateAuthority)
    expect(second.gateway.tenantTokenSigner.equals(first.gateway.tenantTokenSigner)).toBe(true)
  })

  test("a tenant made at one is answered for by the other at once", async () => {
    for (let i = 0; i < 5; i++) {
      const tenant = await first.createTenant(`fresh-${i}`)
      const answer = await second.request(`/tenants/fresh-${i}/api/v1/namespaces/default`, tenant)
      expect(answer.code).toBe(200)
    }
  })

  test("one name is given once, also when both are asked at the same time", async () => {
    const made = await Promise.allSettled([first.createTenant("once"), second.createTenant("once")])
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    expect(await first.gateway.tenants.kubeconfig("once")).toContain("/tenants/once")
    await eventually(() => first.gateway.tenants.get("once")?.uid === second.gateway.tenants.get("once")?.uid)
  })

  test("what one acknowledged, the other reads, lists, and takes as a version to start from", async () => {
    const [mine, others] = clients(await first.createTenant("reads"))
    for (let i = 0; i < 50; i++) {
      const made = await mine.create(configMaps, configMap(`c-${i}`))
      const revision = made.metadata.resourceVersion ?? ""
      expect((await others.get(configMaps, "default", `c-${i}`)).metadata.uid).toBe(made.metadata.uid)
      const newer = await others.list(configMaps, { namespace: "default", resourceVersion: revision })
      expect(newer.items.map(({ metadata }) => metadata.name)).toContain(`c-${i}`)
      await others.delete(configMaps, "default", `c-${i}`)
      await expect(mine.get(configMaps, "default", `c-${i}`)).rejects.toSatisfy(isNotFound)
    }
  })

  test("writers at both lose no update", async () => {
    const both = clients(await second.createTenant("counting"))
    await both[0].create(configMaps, configMap("n", { count: "0" }))
    const increment = async (client: KubeClient): Promise<void> => {
      for (;;) {
        const object = await client.get<ConfigMap>(configMaps, "default", "n")
        const count = String(Number(object.data?.["count"]) + 1)
        try {
          await client.update(configMaps, { ...object, data: { count } })
          return
        } catch (error) {
          if (!isConflict(error)) throw error
        }
      }
    }
    const each = async (client: KubeClient): Promise<void> => {
      for (let i = 0; i < 25; i++) await increment(client)
    }
    await Promise.all([...both, ...both].map(each))
    expect((await both[1].get<ConfigMap>(configMaps, "default", "n")).data).toEqual({ count: "100" })
  })

  test("a quota that is changed at one is enforced by the other", async () => {
    const made = await first.createTenant("changed", { quota: { objects: 1_000 } })
    const [mine, others] = clients(made)
    await others.create(configMaps, configMap("first"))
    const { uid: _uid, ...request } = made.tenant
    await first.gateway.tenants.create({ ...request, quota: { objects: 1 } })
    await eventually(() => second.gateway.tenants.get("changed")?.quota?.objects === 1)
    const refused = { code: 403, message: expect.stringContaining("limited: objects=1") }
    for (const client of [mine, others])
      await expect(client.create(configMaps, configMap("second"))).rejects.toMatchObject(refused)
    await second.gateway.tenants.create({ ...request, quota: { objects: 1_000 } })
    await eventually(() => first.gateway.tenants.get("changed")?.quota?.objects === 1_000)
    for (const [at, client] of [mine, others].entries()) await client.create(configMaps, configMap(`third-${at}`))
  })

  test("a tenant's quota is exact, whichever of them is written to", async () => {
    const all = clients(await first.createTenant("small", { quota: { objects: 60 } }))
    const outcomes: (string | number)[] = []
    const write = async (client: KubeClient, lane: string): Promise<void> => {
      for (let i = 0; i < 15; i++) {
        try {
          await client.create(configMaps, configMap(`${lane}-${i}`))
          outcomes.push("written")
        } catch (error) {
          // It did not come to its turn in time: it is tried again.
          if (error instanceof StatusError && error.code === 503 && i-- >= 0) continue
          expect(String(error)).toMatch(
            /exceeded quota: tenant, requested: objects=1, used: objects=60, limited: objects=60/,
          )
          outcomes.push(error instanceof StatusError ? error.code : String(error))
        }
      }
    }
    await Promise.all(all.flatMap((client, at) => ["a", "b", "c"].map((lane) => write(client, `${lane}-${at}`))))
    expect(new Set(outcomes)).toEqual(new Set(["written", 403]))
    const [mine, others] = all
    const { items } = await others.list(configMaps, { namespace: "default" })
    const names = items.map(({ metadata }) => metadata.name ?? "").filter((name) => name !== "kube-root-ca.crt")
    expect(names).toHaveLength(outcomes.filter((each) => each === "written").length)
    // What goes at one makes room at the other.
    const [gone = ""] = names
    await mine.delete(configMaps, "default", gone)
    await others.create(configMaps, configMap("last"))
    await expect(mine.create(configMaps, configMap("beyond"))).rejects.toMatchObject({ code: 403 })
  })

  test("a watch at one sees what both write, once and in order", async () => {
    const both = clients(await first.createTenant("watched"))
    const seen: number[] = []
    const ending = new AbortController()
    const { metadata } = await both[1].list(configMaps, { namespace: "default" })
    const watching = (async () => {
      const options = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: ending.signal }
      for await (const { object } of both[1].watch(configMaps, options))
        seen.push(Number(object.metadata.resourceVersion))
    })()
    const written = await Promise.all(
      both.flatMap((client, at) =>
        Array.from({ length: 40 }, (_, i) => client.create(configMaps, configMap(`w-${at}-${i}`))),
      ),
    )
    await eventually(() => seen.length >= written.length, { timeoutMs: waitMs })
    ending.abort()
    await watching.catch(() => undefined) // the abort
    const expected = written.map((each) => Number(each.metadata.resourceVersion)).sort((a, b) => a - b)
    expect(seen).toEqual(expected)
  })

  test("a watch whose tenant sleeps here wakes for what is written there", async () => {
    const [mine, others] = clients(await first.createTenant("sleeper"))
    const { metadata } = await others.list(configMaps, { namespace: "default" })
    const ending = new AbortController()
    const seen: (string | undefined)[] = []
    const watching = (async () => {
      const options = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: ending.signal }
      for await (const { object } of others.watch(configMaps, options)) seen.push(object.metadata.name)
    })()
    for (let round = 0; round < 3; round++) {
      await eventually(() => second.gateway.tenants.awake === 0, { timeoutMs: waitMs, what: "all asleep" })
      await mine.create(configMaps, configMap(`s-${round}`))
      await eventually(() => seen.length > round, { timeoutMs: waitMs, what: `event ${round}` })
    }
    ending.abort()
    await watching.catch(() => undefined) // the abort
    expect(seen).toEqual(["s-0", "s-1", "s-2"])
  })

  test("roles and definitions of one are in force at the other", async () => {
    const tenant = await first.createTenant("policy")
    const [mine] = clients(tenant)
    const account = "system:serviceaccount:default:default"
    const token = await mine.create(
      { group: "", version: "v1", resource: "serviceaccounts", namespaced: true },
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        metadata: { namespace: "default", name: "default" },
        spec: {},
      } as KubeObject,
      { subresource: "token" },
    )
    const { token: bearer = "" } = (token as KubeObject & { status?: { token?: string } }).status ?? {}
    const ask = async (): Promise<number> =>
      (await second.request("/tenants/policy/api/v1/namespaces/default/configmaps", { token: bearer })).code
    expect(await ask()).toBe(403)
    await mine.create(clusterRoleBindings, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "viewer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: account }],
    } as KubeObject)
    await eventually(async () => (await ask()) === 200, { timeoutMs: waitMs })
    await mine.delete(clusterRoleBindings, undefined, "viewer")
    await eventually(async () => (await ask()) === 403, { timeoutMs: waitMs })

    const names = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" }
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
    await mine.create(customResourceDefinitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names,
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    } as KubeObject)
    const path = "/tenants/policy/apis/example.com/v1/namespaces/default/widgets"
    await eventually(async () => (await second.request(path, tenant)).code === 200, { timeoutMs: waitMs })
  })

  test("a tenant deleted at one is gone at the other, and another of its name is not the same", async () => {
    const before = await first.createTenant("short")
    expect((await second.request("/tenants/short/api/v1/namespaces", before)).code).toBe(200)
    await second.gateway.tenants.delete("short")
    await eventually(() => first.gateway.tenants.get("short") === undefined, { timeoutMs: waitMs })
    expect((await first.request("/tenants/short/api/v1/namespaces", before)).code).toBe(401)
    const after = await first.createTenant("short")
    expect((await second.request("/tenants/short/api/v1/namespaces", before)).code).toBe(401)
    expect((await second.request("/tenants/short/api/v1/namespaces", after)).code).toBe(200)
    expect((await clients(after)[1].list(namespaces)).items).toHaveLength(4)
  })

  test("who follows all tenants at one hears of those made and changed at the other", async () => {
    const ending = new AbortController()
    const heard = new Set<string>()
    second.gateway.tenants.watch(
      configMaps,
      {
        event: ({ tenant, object }) => void heard.add(`${tenant}/${object.metadata.name}`),
        synced: () => undefined,
        removed: (tenant) => void heard.add(`${tenant} removed`),
        restarted: () => undefined,
      },
      ending.signal,
    )
    const [mine] = clients(await first.createTenant("followed"))
    await mine.create(configMaps, configMap("one"))
    await eventually(() => heard.has("followed/one"), { timeoutMs: waitMs })
    await eventually(() => second.gateway.tenants.awake === 0, { timeoutMs: waitMs, what: "all asleep" })
    await mine.create(configMaps, configMap("two"))
    await eventually(() => heard.has("followed/two"), { timeoutMs: waitMs })
    await first.gateway.tenants.delete("followed")
    await eventually(() => heard.has("followed removed"), { timeoutMs: waitMs })
    ending.abort()
  })

  test("a gateway that starts later finds everything", async () => {
    const tenant = await first.createTenant("later")
    const [mine] = clients(tenant)
    await mine.create(configMaps, configMap("kept", { key: "value" }))
    await using third = await startTestGateway({ etcd: shared, superCluster: false })
    await using client = createHttpClient({
      server: `${third.url}/tenants/later`,
      certificateAuthority: first.gateway.certificateAuthority,
      ...tenant,
    })
    expect((await client.get<ConfigMap>(configMaps, "default", "kept")).data).toEqual({ key: "value" })
  })
})
