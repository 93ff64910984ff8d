// A syncer between a super cluster of one node and one tenant, both in memory.

import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { namespaces, nodes, pods, serviceAccounts, services } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually } from "../../test/harness/eventually.ts"
import { startSyncer, type Syncer } from "../main.ts"
import { FakeTenants, fakeTenant } from "./fake-tenants.ts"

export const object = (kind: string, namespace: string | undefined, name: string, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  ...more,
})

/** A pod of the namespace default. */
export const podOf = (name: string, spec: object = {}): KubeObject =>
  object("Pod", "default", name, {
    spec: { serviceAccountName: "default", containers: [{ name: "main", image: "nginx:1" }], ...spec },
  })

/** `of`: what the tenant has that others have not. */
export async function startHarness(of: Partial<Tenant> = {}): Promise<SyncerHarness> {
  const harness = new SyncerHarness(of)
  await harness.prepare()
  await harness.start()
  return harness
}

class SyncerHarness implements AsyncDisposable {
  readonly superCluster = new FakeCluster({ isSuper: true })
  readonly tenants = new FakeTenants()
  readonly tenant: Tenant
  readonly cluster: FakeCluster
  /** The namespace default of the tenant in super. */
  readonly home: string
  #syncer: Syncer | undefined

  constructor(of: Partial<Tenant>) {
    this.tenant = fakeTenant("acme", of)
    this.cluster = this.tenants.add(this.tenant)
    this.home = superNamespace(this.tenant.clusterKey, "default")
  }

  get syncer(): Syncer {
    if (this.#syncer === undefined) throw new Error("the syncer has not been started")
    return this.#syncer
  }

  async prepare(): Promise<void> {
    const { cluster, superCluster } = this
    await cluster.create(namespaces, object("Namespace", undefined, "default"))
    await cluster.create(serviceAccounts, object("ServiceAccount", "default", "default"))
    await cluster.create(
      services,
      object("Service", "default", "kubernetes", { spec: { clusterIP: "10.0.0.1", ports: [{ port: 443 }] } }),
    )
    await superCluster.create(
      nodes,
      object("Node", undefined, "node-1", { spec: {}, metadata: { name: "node-1", labels: { zone: "a" } } }),
    )
    superCluster.edit(nodes, undefined, "node-1", {
      status: { capacity: { cpu: "8" }, conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "1" }] },
    })
  }

  /** Starts it, and waits until it has seen both clusters. */
  async start(): Promise<void> {
    await this.startUnsynced()
    await this.syncer.whenSynced()
  }

  async startUnsynced(): Promise<void> {
    const { tenants, superCluster } = this
    this.#syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  }

  /** No key is queued or being processed. */
  async settled(): Promise<void> {
    await this.syncer.patrol()
    await eventually(() => this.syncer.pending === 0, { what: "the queue is empty" })
  }

  /** The copy of the tenant's object. */
  inSuper<T extends KubeObject>(resource: Resource, name: string): Promise<T> {
    const find = (): T | undefined => this.superCluster.find<T>(resource, this.home, name)
    return eventually(find, { what: `${resource.resource} ${name} in super` })
  }

  /** A new pod of the tenant that runs on the node. */
  async running(name: string): Promise<Pod> {
    await this.cluster.create(pods, podOf(name))
    await this.inSuper(pods, name)
    const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
    this.superCluster.edit(pods, this.home, name, { spec: { nodeName: "node-1" }, status })
    const find = (): Pod | undefined => {
      const pod = this.cluster.find<Pod>(pods, "default", name)
      return pod?.status?.phase === "Running" ? pod : undefined
    }
    return eventually(find, { what: "running" })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#syncer?.[Symbol.asyncDispose]()
  }
}
