// Against a real gateway over TLS: what the syncer and the operator see when they run as separate processes.

import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMap, startTestGateway, type TestGateway } from "../gateway/testing/start-gateway.ts"
import { connectTenants } from "./remote-tenants.ts"
import { configMaps } from "./resources.ts"
import { type Tenant, type TenantAdmin, type TenantWatchHandler, useHeaders } from "./tenants.ts"

let fixture: TestGateway
let remote: TenantAdmin & AsyncDisposable

beforeAll(async () => {
  fixture = await startTestGateway()
  await fixture.createTenant("first")
  remote = await connectTenants({
    server: fixture.url,
    certificateAuthority: fixture.gateway.certificateAuthority,
    ...fixture.administrator,
  })
})

afterAll(async () => {
  await remote?.[Symbol.asyncDispose]()
  await fixture?.[Symbol.asyncDispose]()
})

const request = (name: string): Omit<Tenant, "uid"> => ({
  name,
  virtualCluster: { namespace: "default", name, uid: randomUUID() },
  clusterKey: `default-${name}`,
  clusterDomain: "cluster.local",
  transparentMetaPrefixes: [],
  opaqueMetaPrefixes: [],
  controllers: true,
})

/** Records the events of a watch. */
function recorder(lines: string[]): TenantWatchHandler<ConfigMap> {
  return {
    event: ({ tenant, type, object }) => {
      if (object.metadata.namespace === "default" && object.metadata.name !== "kube-root-ca.crt")
        lines.push(`${tenant} ${type} ${object.metadata.name}`)
    },
    synced: (tenant) => lines.push(`${tenant} synced`),
    removed: (tenant) => lines.push(`${tenant} removed`),
    restarted: (tenant) => lines.push(`${tenant} restarted`),
  }
}

describe("remote tenants", () => {
  test("are listed from the start", () => {
    expect(remote.list()).toEqual(fixture.gateway.tenants.list())
  })

  test("are created, read, watched and deleted", async () => {
    const lines: string[] = []
    const local: string[] = []
    const ending = new AbortController()
    remote.watch(configMaps, recorder(lines), ending.signal)
    fixture.gateway.tenants.watch(configMaps, recorder(local), ending.signal)
    await expect.poll(() => lines).toContain("first synced")

    const made = await remote.create(request("second"))
    expect(fixture.gateway.tenants.get("second")).toEqual(made)
    expect(await remote.kubeconfig("second")).toContain(`${fixture.url}/tenants/second`)

    // The bootstrap objects of a new tenant are not reported before something changes in it.
    await remote.client("second").create(configMaps, configMap("c"))
    await expect.poll(() => lines).toContain("second synced")
    await remote.client("second").delete(configMaps, "default", "c")
    await expect.poll(() => lines).toContain("second DELETED c")

    await remote.delete("second")
    await expect.poll(() => lines).toContain("second removed")
    expect(remote.get("second")).toBeUndefined()
    ending.abort()

    // It may arrive before or after the config map.
    const happened = (line: string): boolean => line.startsWith("second") && line !== "second synced"
    const expected = ["second ADDED c", "second DELETED c", "second removed"]
    expect(lines.filter(happened)).toEqual(expected)
    expect(local.filter(happened)).toEqual(expected)
  })

  test("have the settings that are changed by others", async () => {
    const wanted = request("adjusted")
    const made = await remote.create(wanted)
    const settings = { controllers: false, quota: { pods: 3 } }
    await fixture.gateway.tenants.create({ ...wanted, ...settings })
    await expect.poll(() => remote.get("adjusted")).toEqual({ ...made, ...settings })
  })

  test("do what is meant for a tenant that is gone to no other of its name", async () => {
    const { tenant } = await fixture.createTenant("again")
    const gone = { name: "again", uid: randomUUID() }
    await expect(remote.client(gone).create(configMaps, configMap("c"))).rejects.toMatchObject({ reason: "NotFound" })
    await expect(remote.kubeconfig(gone)).rejects.toMatchObject({ reason: "NotFound" })
    await remote.delete(gone)
    await remote.delete({ name: "again", owner: { ...tenant.virtualCluster, uid: randomUUID() } })
    await remote.delete({ name: "again", owner: { ...tenant.virtualCluster, namespace: "others" } })
    expect(fixture.gateway.tenants.get("again")).toEqual(tenant)
    await remote.client(tenant).create(configMaps, configMap("c"))
    expect(await remote.kubeconfig(tenant)).toContain("/tenants/again")
    await remote.delete({ name: "again", owner: tenant.virtualCluster })
    expect(fixture.gateway.tenants.get("again")).toBeUndefined()
    expect(remote.get("again")).toBeUndefined()
  })

  test("are deleted by their owner only if the owner is named completely", async () => {
    for (const query of ["", "?namespace=default", "?uid=a", "?namespace=default&uid="]) {
      const path = `/polyplane/v1/tenants/first/owned${query}`
      expect((await fixture.request(path, { ...fixture.administrator, method: "DELETE" })).code).toBe(400)
    }
  })

  test("leave alone when they were used last if a call is no use of them, which only an administrator may say", async () => {
    const { tenant, ...credential } = await fixture.createTenant("unused")
    const { presence } = (await fixture.gateway.tenants.byName("unused"))!
    const before = presence.lastUsed
    const unused = remote.client("unused", { isUse: false })
    await unused.create(configMaps, configMap("c"))
    await unused.get(configMaps, "default", "c")
    const ending = new AbortController()
    const watched = unused.watch(configMaps, { namespace: "default", resourceVersion: "0", signal: ending.signal })
    await watched[Symbol.asyncIterator]().next()
    ending.abort()
    await expect.poll(() => presence.isInUse).toBe(false)
    expect(presence.lastUsed).toBe(before)

    const theirs = fixture.request("/tenants/unused/version", { ...credential, headers: useHeaders({ isUse: false }) })
    expect((await theirs).code).toBe(200)
    await expect.poll(() => presence.lastUsed).toBeGreaterThan(before)
    await expect.poll(() => presence.isInUse).toBe(false)
    const used = presence.lastUsed
    await remote.client(tenant).get(configMaps, "default", "c")
    await expect.poll(() => presence.lastUsed).toBeGreaterThan(used)
  })

  test("fail with AlreadyExists for a taken name, and with NotFound for a missing one", async () => {
    await expect(remote.create(request("first"))).rejects.toMatchObject({ reason: "AlreadyExists" })
    await expect(remote.client("missing").list(configMaps)).rejects.toMatchObject({ reason: "NotFound" })
    await expect(remote.kubeconfig("missing")).rejects.toMatchObject({ reason: "NotFound" })
  })
})
