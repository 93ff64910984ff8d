import { randomUUID } from "node:crypto"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { KubeObject, Secret } from "../apimachinery/object.ts"
import { alreadyExists, noSuchPath, notFound, serviceUnavailable } from "../apimachinery/status.ts"
import { clusterKey } from "../apimachinery/tenancy.ts"
import { silentLog } from "../client/log.ts"
import { ClientMetrics } from "../client/metrics/client-metrics.ts"
import {
  clusterVersions,
  customResourceDefinitions,
  events,
  namespaces,
  secrets,
  virtualClusters,
} from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { applySettings } from "../client/tenant-settings.ts"
import type { Tenant, TenantAddress, TenantAdmin, TenantFault } from "../client/tenants.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants } from "../syncer/testing/fake-tenants.ts"
import { startOperator, type Operator, type VirtualCluster } from "./main.ts"
import { operatorLimits } from "./options.ts"
import { finalizer } from "./virtual-cluster.ts"

class FakeTenantAdmin extends FakeTenants implements TenantAdmin {
  failures = 0
  broken: TenantFault[] = []
  deletionFailures = 0
  /** Names of tenants that another process has created, and of which this one does not know yet. */
  readonly unlisted = new Set<string>()
  server = "https://one"

  async create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    if (this.failures-- > 0) throw serviceUnavailable("the gateway is not there")
    const present = this.get(request.name)
    if (present !== undefined) {
      if (present.virtualCluster.uid === request.virtualCluster.uid) {
        applySettings(present, request)
        return present
      }
      throw alreadyExists({ group: "", resource: "tenants" }, request.name)
    }
    const tenant = { ...request, uid: randomUUID() }
    this.add(tenant)
    return tenant
  }

  async delete(name: string): Promise<void> {
    if (this.deletionFailures-- > 0) throw serviceUnavailable("the gateway is not there")
    this.remove(name)
  }

  async faults(): Promise<TenantFault[]> {
    return this.broken
  }

  async address(name: string): Promise<TenantAddress> {
    if (!this.unlisted.has(name) && this.get(name) === undefined)
      throw notFound({ group: "", resource: "tenants" }, name)
    return { server: `${this.server}/tenants/${name}`, certificateAuthority: "ca" }
  }

  async kubeconfig(name: string): Promise<string> {
    const { server, certificateAuthority } = await this.address(name)
    const data = Buffer.from(certificateAuthority).toString("base64")
    const cluster = `certificate-authority-data: ${data}\n    server: ${server}\n`
    return `clusters:\n- cluster:\n    ${cluster}user: ${randomUUID()}\n`
  }
}

describe("the operator", () => {
  let superCluster: FakeCluster
  let tenants: FakeTenantAdmin
  let operator: Operator

  beforeEach(async () => {
    superCluster = new FakeCluster({ isSuper: true })
    tenants = new FakeTenantAdmin()
    for (const name of ["default", "other"]) await superCluster.create(namespaces, named("Namespace", undefined, name))
    operator = await startOperator({ superClient: superCluster, tenants })
    await operator.whenReady()
  })

  afterEach(async () => {
    await operator[Symbol.asyncDispose]()
  })

  const named = (kind: string, namespace: string | undefined, name: string, spec: object = {}): KubeObject => ({
    apiVersion: "tenancy.x-k8s.io/v1alpha1",
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec,
  })

  const create = (namespace: string, name: string, spec: object = {}): Promise<KubeObject> =>
    superCluster.create(
      virtualClusters,
      named("VirtualCluster", namespace, name, { clusterVersionName: "default", ...spec }),
    )

  const inPhase = (namespace: string, name: string, phase: string): Promise<VirtualCluster> =>
    eventually(
      () => {
        const found = superCluster.find<VirtualCluster>(virtualClusters, namespace, name)
        return found?.status?.phase === phase ? found : undefined
      },
      { what: `${name} ${phase}` },
    )

  /** Deletes like a server if there are finalizers. */
  const markDeleted = (namespace: string, name: string): KubeObject =>
    superCluster.edit(virtualClusters, namespace, name, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })

  test("defines its resources and a default ClusterVersion", () => {
    const defined = superCluster.all(customResourceDefinitions).map(({ metadata }) => metadata.name)
    expect(defined).toEqual(["clusterversions.tenancy.x-k8s.io", "virtualclusters.tenancy.x-k8s.io"])
    expect(superCluster.find(clusterVersions, undefined, "default")).toBeDefined()
  })

  test("keeps a tenant whose VirtualCluster was removed with its finalizer, and logs a warning", async () => {
    await operator[Symbol.asyncDispose]()
    const warnings: string[] = []
    const warn = (_: object, message: string): void => void warnings.push(message)
    operator = await startOperator({ superClient: superCluster, tenants, log: { ...silentLog, warn } })
    await operator.whenReady()
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
    operator = await startOperator({ superClient: superCluster, tenants, log: { ...silentLog, warn } })
    await asked.promise
    await operator[Symbol.asyncDispose]()
    await operator.whenReady()
    expect(warnings).toEqual([])
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

  test("keeps the finalizer of a tenant that is in the gateway, but not in the list of tenants yet", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    tenants.unlisted.add("demo")
    const list = vi.spyOn(tenants, "get").mockReturnValue(undefined)
    markDeleted("default", "demo")
    const message = 'tenant "demo" exists, but is not known here yet'
    await expect.poll(() => superCluster.all(events)).toContainEqual(expect.objectContaining({ message }))
    expect(superCluster.find(virtualClusters, "default", "demo")?.metadata.finalizers).toEqual([finalizer])
    tenants.unlisted.clear()
    list.mockRestore()
    await expect.poll(() => superCluster.find(virtualClusters, "default", "demo")).toBeUndefined()
    expect(tenants.get("demo")).toBeUndefined()
  })

  test("removes a tenant that becomes known when the gateway is asked for it", async () => {
    await create("default", "demo")
    await inPhase("default", "demo", "Running")
    tenants.unlisted.add("demo")
    const list = vi.spyOn(tenants, "get").mockReturnValue(undefined)
    const address = tenants.address.bind(tenants)
    vi.spyOn(tenants, "address").mockImplementation((name) => {
      list.mockRestore()
      return address(name)
    })
    markDeleted("default", "demo")
    await expect.poll(() => superCluster.find(virtualClusters, "default", "demo")).toBeUndefined()
    expect(tenants.get("demo")).toBeUndefined()
  })

  test("takes the names of namespaces from nobody who may write the status", async () => {
    tenants.failures = 1
    const { metadata } = await create("default", "demo")
    superCluster.edit(virtualClusters, "default", "demo", { status: { clusterNamespace: "kube-demo" } })
    const { status } = await inPhase("default", "demo", "Running")
    expect(status?.clusterNamespace).toBe(clusterKey({ namespace: "default", name: "demo", uid: metadata.uid! }))
    expect(superCluster.find(namespaces, undefined, "kube-demo")).toBeUndefined()
  })

  test("counts VirtualClusters by phase", async () => {
    await operator[Symbol.asyncDispose]()
    const metrics = new ClientMetrics()
    operator = await startOperator({ superClient: superCluster, tenants, metrics })
    await operator.whenReady()
    await create("default", "one")
    await create("default", "two")
    await create("other", "one")
    await create("default", "late", { clusterVersionName: "none" })
    const printed = () => metrics.print().match(/^polyplane_virtualclusters\{.*$/gm)
    const counts = { Error: 1, Pending: 1, Running: 2 }
    const lines = Object.entries(counts).map(([phase, n]) => `polyplane_virtualclusters{phase="${phase}"} ${n}`)
    await expect.poll(printed).toEqual(lines)
  })

  test("restores changed definitions and does not write others", async () => {
    const versions = () => superCluster.all(customResourceDefinitions).map(({ metadata }) => metadata.resourceVersion)
    const before = versions()
    const restart = async () => {
      await operator[Symbol.asyncDispose]()
      operator = await startOperator({ superClient: superCluster, tenants })
      await operator.whenReady()
    }
    await restart()
    expect(versions()).toEqual(before)
    const name = "virtualclusters.tenancy.x-k8s.io"
    superCluster.edit(customResourceDefinitions, undefined, name, { spec: { scope: "Cluster" } })
    await restart()
    expect(superCluster.find(customResourceDefinitions, undefined, name)).toMatchObject({
      spec: { scope: "Namespaced" },
    })
  })

  test("recreates the default ClusterVersion when it is deleted", async () => {
    superCluster.remove(clusterVersions, undefined, "default")
    await eventually(() => superCluster.find(clusterVersions, undefined, "default"), { what: "default" })
  })

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

  test("changes the quota and the controllers of a tenant, and reports the quota", async () => {
    await create("default", "acme", { quota: { objects: 10, bytes: 1000 } })
    const { status } = await inPhase("default", "acme", "Running")
    expect(status?.quota).toEqual({ objects: 10, bytes: 1000 })
    superCluster.edit(virtualClusters, "default", "acme", { spec: { quota: { bytes: null }, controllers: false } })
    const found = () => superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status
    await expect.poll(() => found()?.quota).toEqual({ objects: 10 })
    expect(tenants.get("acme")).toMatchObject({ quota: { objects: 10 }, controllers: false })
    superCluster.edit(virtualClusters, "default", "acme", { spec: { quota: null } })
    await expect.poll(() => found()).not.toHaveProperty("quota")
    expect(tenants.get("acme")).not.toHaveProperty("quota")
    const told = () =>
      superCluster
        .all<KubeObject & { reason: string; message: string }>(events)
        .map(({ reason, message }) => `${reason}: ${message}`)
    await expect
      .poll(told)
      .toEqual([
        'TenantControlPlaneRunning: tenant "acme" is served',
        "QuotaChanged: the tenant's quota is now objects=10",
        "QuotaChanged: the tenant has no quota of its own now",
      ])
  })

  test("reports that a tenant cannot be served, and that it can be again", async () => {
    await operator[Symbol.asyncDispose]()
    const clock = new FakeClock()
    operator = await startOperator({ superClient: superCluster, tenants, clock })
    await operator.whenReady()
    for (const name of ["acme", "other"]) {
      await create("default", name)
      await inPhase("default", name, "Running")
    }
    const others = superCluster.find(virtualClusters, "default", "other")
    const message = "store /data/stores/1 is damaged: bad block"
    tenants.broken = [{ tenant: "acme", message }]
    clock.advance(operatorLimits.faultsMs)
    const { status } = await inPhase("default", "acme", "Error")
    const reason = "TenantStoreUnusable"
    expect(status).toMatchObject({ reason, message, conditions: [{ type: "Ready", status: "False", reason, message }] })
    await expect
      .poll(() => superCluster.all(events))
      .toContainEqual(expect.objectContaining({ type: "Warning", reason, message }))
    // Another operator does not say that it runs before the gateway has opened it.
    tenants.broken = []
    const kubeconfig = vi.spyOn(tenants, "kubeconfig").mockRejectedValue(serviceUnavailable("it is damaged"))
    await operator[Symbol.asyncDispose]()
    operator = await startOperator({ superClient: superCluster, tenants, clock })
    await expect.poll(() => kubeconfig.mock.calls).toEqual([["acme"]])
    expect(superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status).toEqual(status)
    kubeconfig.mockRestore()
    await operator.whenReady()
    await expect.poll(() => clock.timers).toBeGreaterThan(1) // the key is queued again
    clock.advance(operatorLimits.recheckMs)
    await inPhase("default", "acme", "Running")
    expect(superCluster.find(virtualClusters, "default", "other")).toEqual(others)
  })

  test.each<[what: string, resource: Resource]>([
    ["it", secrets],
    ["its namespace", namespaces],
  ])("makes a kubeconfig again when somebody deletes %s", async (_what, resource) => {
    await create("default", "acme")
    const { status } = await inPhase("default", "acme", "Running")
    const key = status!.clusterNamespace!
    const find = () => superCluster.find<Secret>(secrets, key, "admin-kubeconfig")
    const before = find()
    if (resource === namespaces) await superCluster.delete(namespaces, undefined, key)
    else await superCluster.delete(secrets, key, "admin-kubeconfig")
    await eventually(() => find() !== undefined && find() !== before, { what: "another kubeconfig" })
    expect(superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status).toEqual(status)
  })

  test("defines its resources again when the super cluster does not serve them any more", async () => {
    await operator[Symbol.asyncDispose]()
    const clock = new FakeClock()
    const name = "virtualclusters.tenancy.x-k8s.io"
    superCluster.fail = (verb, resource) =>
      verb === "list" &&
      resource === "virtualclusters" &&
      superCluster.find(customResourceDefinitions, undefined, name) === undefined
        ? noSuchPath()
        : undefined
    const watch = superCluster.watch.bind(superCluster)
    const ended = new AbortController()
    superCluster.watch = (resource, options) =>
      watch(resource, { ...options, signal: AbortSignal.any([options.signal, ended.signal]) })
    operator = await startOperator({ superClient: superCluster, tenants, clock })
    await operator.whenReady()
    superCluster.watch = watch
    for (const { metadata } of superCluster.all(customResourceDefinitions))
      superCluster.remove(customResourceDefinitions, undefined, metadata.name!)
    ended.abort()
    await eventually(() => {
      clock.advance(1000)
      return superCluster.find(customResourceDefinitions, undefined, name)
    })
    await create("default", "late")
    await eventually(() => {
      clock.advance(1000)
      return superCluster.find<VirtualCluster>(virtualClusters, "default", "late")?.status?.phase === "Running"
    })
  })

  test("renews the kubeconfig when the gateway's address changes", async () => {
    await create("default", "acme")
    const { status } = await inPhase("default", "acme", "Running")
    await operator[Symbol.asyncDispose]()
    tenants.server = "https://two"
    operator = await startOperator({ superClient: superCluster, tenants })
    await eventually(
      () => {
        const secret = superCluster.find<Secret>(secrets, status!.clusterNamespace!, "admin-kubeconfig")
        return Buffer.from(secret!.data!["admin-kubeconfig"]!, "base64").toString().includes("https://two")
      },
      { what: "the new address" },
    )
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
    operator = await startOperator({ superClient: superCluster, tenants })
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

  test("retries after a failure and reports it", async () => {
    tenants.failures = 2
    await create("default", "acme")
    await inPhase("default", "acme", "Running")
  })

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
})
