// Tenants whose VirtualClusters are deleted, or are gone.

import { describe, expect, test, vi } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { silentLog } from "../client/log.ts"
import { events, namespaces, virtualClusters } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { fakeTenant } from "../syncer/testing/fake-tenants.ts"
import { finalizer } from "./virtual-cluster.ts"
import {
  create,
  inPhase,
  markDeleted,
  named,
  operator,
  restart,
  start,
  superCluster,
  tenants,
  useOperator,
} from "./testing/operator.ts"

useOperator()

describe("the operator", () => {
  test("removes only the tenant and its namespaces, then its finalizer", async () => {
    await create("default", "acme")
    const { metadata, status } = await inPhase("default", "acme", "Running")
    const key = status!.clusterNamespace!
    const annotations = { "tenancy.x-k8s.io/cluster": key, "tenancy.x-k8s.io/vcuid": metadata.uid! }
    const labels = { "tenancy.x-k8s.io/cluster": key }
    const make = (name: string, annotated: Record<string, string>): Promise<KubeObject> =>
      superCluster.create(namespaces, {
        ...named("Namespace", undefined, name),
        metadata: { name, labels, annotations: annotated },
      })
    await make(`${key}-default`, annotations)
    await make("look-alike", {})
    markDeleted("default", "acme")
    await eventually(() => superCluster.find(virtualClusters, "default", "acme") === undefined, { what: "it is gone" })
    expect(tenants.get("acme")).toBeUndefined()
    expect(superCluster.all(namespaces).map((one) => one.metadata.name)).toEqual(["default", "look-alike", "other"])
  })

  test("reports why a tenant is not deleted, and tries again", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    tenants.deletionFailures = 1
    markDeleted("default", "demo")
    await eventually(() => tenants.get("demo") === undefined, { what: "the tenant gone" })
    const failed = { reason: "TenantDeletionError", message: "the gateway is not there" }
    await expect.poll(() => superCluster.all(events)).toContainEqual(expect.objectContaining(failed))
  })

  test("leaves the tenant that another process has made under the name meanwhile", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    const other = fakeTenant("demo", { uid: "another" })
    const deletion = tenants.delete.bind(tenants)
    using _late = vi.spyOn(tenants, "delete").mockImplementationOnce((tenant) => {
      tenants.remove("demo")
      tenants.add(other)
      return deletion(tenant)
    })
    markDeleted("default", "demo")
    await eventually(() => superCluster.find(virtualClusters, "default", "demo") === undefined, { what: "it is gone" })
    expect(tenants.get("demo")).toEqual(other)
  })

  test("removes a tenant that is in the gateway, but not in the list of tenants", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    using _list = vi.spyOn(tenants, "get").mockReturnValue(undefined)
    markDeleted("default", "demo")
    await expect.poll(() => superCluster.find(virtualClusters, "default", "demo")).toBeUndefined()
    expect([...tenants.clusters.keys()]).toEqual([])
  })

  test("leaves the tenant of another VirtualCluster that has the name", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    await create("other", "demo")
    await inPhase("other", "demo", "Error")
    superCluster.edit(virtualClusters, "other", "demo", { metadata: { finalizers: [finalizer] } })
    const tenant = tenants.get("demo")
    markDeleted("other", "demo")
    await expect.poll(() => superCluster.find(virtualClusters, "other", "demo")).toBeUndefined()
    expect(tenants.get("demo")).toBe(tenant)
  })

  test("keeps a tenant whose VirtualCluster was removed with its finalizer, and logs a warning", async () => {
    const warnings: string[] = []
    const warn = (_: object, message: string): void => void warnings.push(message)
    await restart({ log: { ...silentLog, warn } })
    const { metadata } = await create("default", "demo")
    await inPhase("default", "demo", "Running")
    superCluster.remove(virtualClusters, "default", "demo")
    await eventually(() => warnings.length > 0, { what: "a warning" })
    expect(warnings).toEqual([expect.stringContaining(`with the annotation tenancy.x-k8s.io/adopt=${metadata.uid}`)])
    expect(tenants.get("demo")).toBeDefined()
  })

  test("logs no orphans when it stops before the first list", async () => {
    await create("default", "one")
    await inPhase("default", "one", "Running")
    await operator[Symbol.asyncDispose]()
    const warnings: string[] = []
    const warn = (_: object, message: string): void => void warnings.push(message)
    const asked = Promise.withResolvers<void>()
    const list = superCluster.list.bind(superCluster)
    vi.spyOn(superCluster, "list").mockImplementation((resource, options = {}) => {
      const { signal } = options
      // The check whether they are served has no signal.
      if (resource !== virtualClusters || signal === undefined) return list(resource, options)
      asked.resolve()
      return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))))
    })
    await start({ log: { ...silentLog, warn } })
    await asked.promise
    await operator[Symbol.asyncDispose]()
    await operator.whenReady()
    expect(warnings).toEqual([])
  })
})
