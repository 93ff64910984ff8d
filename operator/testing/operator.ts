// The operator on a fake super cluster and fake tenants, for tests.

import { randomUUID } from "node:crypto"
import { afterEach, beforeEach } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { alreadyExists, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { namespaces, virtualClusters } from "../../client/resources.ts"
import { applySettings } from "../../client/tenant-settings.ts"
import {
  identityOf,
  isMeant,
  type MeantTenant,
  type Tenant,
  type TenantAddress,
  type TenantAdmin,
  type TenantFault,
  type TenantIdentity,
} from "../../client/tenants.ts"
import { eventually } from "../../test/harness/eventually.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { FakeTenants } from "../../syncer/testing/fake-tenants.ts"
import { startOperator, type Operator, type VirtualCluster } from "../main.ts"

export class FakeTenantAdmin extends FakeTenants implements TenantAdmin {
  failures = 0
  broken: TenantFault[] = []
  deletionFailures = 0
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

  async delete(tenant: string | MeantTenant): Promise<void> {
    if (this.deletionFailures-- > 0) throw serviceUnavailable("the gateway is not there")
    const meant = typeof tenant === "string" ? { name: tenant } : tenant
    const present = this.clusters.get(meant.name)?.tenant
    if (present !== undefined && isMeant(present, meant)) this.remove(meant.name)
  }

  async faults(): Promise<TenantFault[]> {
    return this.broken
  }

  async address(name: string): Promise<TenantAddress> {
    if (this.get(name) === undefined) throw notFound({ group: "", resource: "tenants" }, name)
    return { server: `${this.server}/tenants/${name}`, certificateAuthority: "ca" }
  }

  async kubeconfig(tenant: string | TenantIdentity): Promise<string> {
    const { name, uid } = identityOf(this, tenant)
    if (this.get(name)?.uid !== uid) throw notFound({ group: "", resource: "tenants" }, name)
    const { server, certificateAuthority } = await this.address(name)
    const data = Buffer.from(certificateAuthority).toString("base64")
    const cluster = `certificate-authority-data: ${data}\n    server: ${server}\n`
    return `clusters:\n- cluster:\n    ${cluster}user: ${randomUUID()}\n`
  }
}

export let superCluster: FakeCluster
export let tenants: FakeTenantAdmin
export let operator: Operator

/** Each test of the file has its own. */
export function useOperator(): void {
  beforeEach(async () => {
    superCluster = new FakeCluster({ isSuper: true })
    tenants = new FakeTenantAdmin()
    for (const name of ["default", "other"]) await superCluster.create(namespaces, named("Namespace", undefined, name))
    await start()
    await operator.whenReady()
  })
  afterEach(() => operator[Symbol.asyncDispose]())
}

type Options = Partial<Parameters<typeof startOperator>[0]>

/** Starts another operator, which is not ready yet, in place of one that has been stopped. */
export async function start(options: Options = {}): Promise<void> {
  operator = await startOperator({ superClient: superCluster, tenants, ...options })
}

export async function restart(options: Options = {}): Promise<void> {
  await operator[Symbol.asyncDispose]()
  await start(options)
  await operator.whenReady()
}

export const named = (kind: string, namespace: string | undefined, name: string, spec: object = {}): KubeObject => ({
  apiVersion: "tenancy.x-k8s.io/v1alpha1",
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec,
})

export const create = (namespace: string, name: string, spec: object = {}): Promise<KubeObject> =>
  superCluster.create(
    virtualClusters,
    named("VirtualCluster", namespace, name, { clusterVersionName: "default", ...spec }),
  )

export const inPhase = (namespace: string, name: string, phase: string): Promise<VirtualCluster> =>
  eventually(
    () => {
      const found = superCluster.find<VirtualCluster>(virtualClusters, namespace, name)
      return found?.status?.phase === phase ? found : undefined
    },
    { what: `${name} ${phase}` },
  )

/** Deletes like a server if there are finalizers. */
export const markDeleted = (namespace: string, name: string): KubeObject =>
  superCluster.edit(virtualClusters, namespace, name, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })
