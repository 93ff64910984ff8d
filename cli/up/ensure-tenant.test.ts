import { expect, test, vi } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { clusterVersions, virtualClusters } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant, TenantSubscriber } from "../../client/tenants.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { ensureTenant } from "./ensure-tenant.ts"

/** A super cluster with this VirtualCluster. */
const superClient = (object: KubeObject): KubeClient =>
  ({
    get: () => Promise.resolve(object),
    list: () => Promise.resolve({ items: [object], metadata: { resourceVersion: "1" } }),
  }) as unknown as KubeClient

const virtualCluster = (status: object): KubeObject => ({
  apiVersion: `${virtualClusters.group}/${virtualClusters.version}`,
  kind: "VirtualCluster",
  metadata: { name: "demo", namespace: "default" },
  status,
})

class Tenants {
  readonly subscribers = new Set<TenantSubscriber>()
  get(): undefined {
    return undefined
  }
  subscribe(subscriber: TenantSubscriber): () => void {
    this.subscribers.add(subscriber)
    return () => this.subscribers.delete(subscriber)
  }
  add(name: string): void {
    for (const subscriber of this.subscribers) subscriber.added?.({ name } as Tenant)
  }
}

// Its kubeconfig could not be written: up ended with an internal error.
test("a tenant whose VirtualCluster is Running from before is waited for", async () => {
  const tenants = new Tenants()
  let isThere = false
  const ensured = ensureTenant(superClient(virtualCluster({ phase: "Running" })), tenants, "demo").then(
    () => (isThere = true),
  )
  await expect.poll(() => tenants.subscribers.size).toBe(1)
  tenants.add("other")
  // So many turns suffice for everything but the tenant.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isThere).toBe(false)
  tenants.add("demo")
  await ensured
  expect(tenants.subscribers.size).toBe(0)
})

test("a tenant whose VirtualCluster is being deleted is created when that is gone", async () => {
  const cluster = new FakeCluster()
  const kind = { apiVersion: `${virtualClusters.group}/${virtualClusters.version}`, kind: "ClusterVersion" }
  await cluster.create(clusterVersions, { ...kind, metadata: { name: "default" } })
  await cluster.create(virtualClusters, virtualCluster({}))
  cluster.edit(virtualClusters, "default", "demo", {
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
    status: { phase: "Running" },
  })
  const watched = vi.spyOn(cluster, "watch")
  const tenants = new Tenants()
  const ensured = ensureTenant(cluster, tenants, "demo")
  await expect.poll(() => watched.mock.calls.length).toBe(1)
  cluster.remove(virtualClusters, "default", "demo")
  await expect.poll(() => cluster.find(virtualClusters, "default", "demo")?.metadata.deletionTimestamp).toBe(undefined)
  await expect.poll(() => cluster.find(virtualClusters, "default", "demo")).toBeDefined()
  cluster.edit(virtualClusters, "default", "demo", { status: { phase: "Running" } })
  await expect.poll(() => tenants.subscribers.size).toBe(1)
  tenants.add("demo")
  await ensured
})

test("a tenant that cannot be created is not waited for", async () => {
  const client = superClient(virtualCluster({ phase: "Error", message: "the name is taken" }))
  const tenants = new Tenants()
  await expect(ensureTenant(client, tenants, "demo")).rejects.toThrow('tenant "demo": the name is taken')
  await expect.poll(() => tenants.subscribers.size).toBe(0)
})
