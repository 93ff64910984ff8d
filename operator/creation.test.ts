// Tenants of VirtualClusters, and why some are not created.

import { describe, expect, test, vi } from "vitest"
import type { KubeObject, Secret } from "../apimachinery/object.ts"
import { notFound } from "../apimachinery/status.ts"
import { clusterKey } from "../apimachinery/tenancy.ts"
import { clusterVersions, namespaces, secrets, virtualClusters } from "../client/resources.ts"
import { finalizer } from "./virtual-cluster.ts"
import {
  create,
  inPhase,
  markDeleted,
  named,
  operator,
  start,
  superCluster,
  tenants,
  useOperator,
} from "./testing/operator.ts"

useOperator()

describe("the operator", () => {
  test("creates a tenant, its root namespace and its kubeconfig", async () => {
    await create("default", "acme", {
      clusterDomain: "acme.local",
      opaqueMetaPrefixes: ["ops.example.com"],
      quota: { objects: 1000, bytes: 1_000_000 },
    })
    const { metadata, status } = await inPhase("default", "acme", "Running")
    const key = clusterKey({ namespace: "default", name: "acme", uid: metadata.uid! })
    expect(metadata.finalizers).toEqual([finalizer])
    expect(status).toMatchObject({
      clusterNamespace: key,
      reason: "TenantControlPlaneRunning",
      conditions: [{ type: "Ready", status: "True" }],
    })
    expect(tenants.get("acme")).toMatchObject({
      clusterKey: key,
      quota: { objects: 1000, bytes: 1_000_000 },
      clusterDomain: "acme.local",
      opaqueMetaPrefixes: ["ops.example.com"],
      controllers: true,
    })
    expect(superCluster.find(namespaces, undefined, key)?.metadata.annotations).toMatchObject({
      "tenancy.x-k8s.io/vcrootns": "true",
      "tenancy.x-k8s.io/vcname": "acme",
      "tenancy.x-k8s.io/vcnamespace": "default",
      "tenancy.x-k8s.io/vcuid": metadata.uid,
    })
    const secret = superCluster.find<Secret>(secrets, key, "admin-kubeconfig")
    expect(Buffer.from(secret!.data!["admin-kubeconfig"]!, "base64").toString()).toContain("https://one/tenants/acme")
  })

  test("takes the names of namespaces from nobody who may write the status", async () => {
    tenants.failures = 1
    const { metadata } = await create("default", "demo")
    superCluster.edit(virtualClusters, "default", "demo", { status: { clusterNamespace: "kube-demo" } })
    const { status } = await inPhase("default", "demo", "Running")
    expect(status?.clusterNamespace).toBe(clusterKey({ namespace: "default", name: "demo", uid: metadata.uid! }))
    expect(superCluster.find(namespaces, undefined, "kube-demo")).toBeUndefined()
  })

  test("makes nothing for a VirtualCluster that is gone, though it has not heard of that", async () => {
    const get = superCluster.get.bind(superCluster)
    const asked = Promise.withResolvers<void>()
    const missing = vi.spyOn(superCluster, "get").mockImplementation(async (resource, namespace, name) => {
      if (resource !== virtualClusters) return get(resource, namespace, name)
      asked.resolve()
      throw notFound(virtualClusters, name)
    })
    const made = vi.spyOn(tenants, "create")
    await superCluster.create(virtualClusters, {
      apiVersion: "tenancy.x-k8s.io/v1alpha1",
      kind: "VirtualCluster",
      metadata: { namespace: "default", name: "acme", finalizers: [finalizer] },
      spec: { clusterVersionName: "default" },
    } as KubeObject)
    await asked.promise
    missing.mockRestore()
    await create("default", "later")
    await inPhase("default", "later", "Running")
    expect(made.mock.calls.map(([{ name }]) => name)).not.toContain("acme")
  })

  test("takes turns with all that were there before when one is created", async () => {
    await operator[Symbol.asyncDispose]()
    const before = Array.from({ length: 500 }, (_, index) => `before-${index}`)
    for (const name of before) await create("default", name)
    const make = tenants.create.bind(tenants)
    const gate = Promise.withResolvers<void>()
    const made = vi.spyOn(tenants, "create").mockImplementation(async (request) => {
      await gate.promise
      return make(request)
    })
    await start()
    await operator.whenReady()
    await create("default", "acme")
    await new Promise(setImmediate) // it is queued
    gate.resolve()
    await inPhase("default", "acme", "Running")
    await inPhase("default", before.at(-1)!, "Running")
    const order = made.mock.calls.map(([{ name }]) => name)
    expect(order.slice(0, 400)).toContain("acme")
  })

  test("waits for a missing ClusterVersion", async () => {
    await create("default", "acme", { clusterVersionName: "v2" })
    const waiting = await inPhase("default", "acme", "Pending")
    expect(waiting.status?.reason).toBe("ClusterVersionNotFound")
    await superCluster.create(clusterVersions, named("ClusterVersion", undefined, "v2"))
    await inPhase("default", "acme", "Running")
  })

  test("reports names that are too long together", async () => {
    const long = "n".repeat(30)
    await superCluster.create(namespaces, named("Namespace", undefined, long))
    await create(long, "a".repeat(40))
    expect((await inPhase(long, "a".repeat(40), "Error")).status?.reason).toBe("NameTooLong")
  })

  test("rejects a second tenant of the same name and creates it when the first is deleted", async () => {
    await create("default", "acme")
    await inPhase("default", "acme", "Running")
    await create("other", "acme")
    const second = await inPhase("other", "acme", "Error")
    expect(second.status?.reason).toBe("NameTaken")
    expect(second.status?.message).toContain("default/acme")
    markDeleted("default", "acme")
    await inPhase("other", "acme", "Running")
  })

  test("retries after a failure and reports it", async () => {
    tenants.failures = 2
    await create("default", "acme")
    await inPhase("default", "acme", "Running")
  })
})
