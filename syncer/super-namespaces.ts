// Tenants' namespaces in the super cluster, as far as they are made before the syncer makes them: for the addresses of Services. Shared by
// all tenants of a process.

import type { KubeObject } from "../apimachinery/object.ts"
import { isAlreadyExists, isNotFound, serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { namespaces } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { superKeys } from "./conversion/metadata.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { NamespaceCounts } from "./namespace-counts.ts"

export class SuperNamespaces {
  readonly #superClient: () => KubeClient
  readonly #counts: NamespaceCounts
  /** By name in super, for Services that need the same one at the same time. */
  readonly #ensuring = new Map<string, Promise<void>>()

  /** `superClient` is first called when a namespace is needed. */
  constructor(superClient: () => KubeClient) {
    this.#superClient = superClient
    this.#counts = new NamespaceCounts(superClient)
  }

  /** Marked as the tenant's without a uid: the syncer adds the namespace's uid when it sees it. */
  ensure(tenant: Tenant, namespace: string): Promise<void> {
    const name = superNamespace(tenant.clusterKey, namespace)
    let ensuring = this.#ensuring.get(name)
    if (ensuring === undefined) {
      ensuring = this.#ensure(tenant, namespace, name).finally(() => this.#ensuring.delete(name))
      this.#ensuring.set(name, ensuring)
    }
    return ensuring
  }

  async #ensure(tenant: Tenant, namespace: string, name: string): Promise<void> {
    const superClient = this.#superClient()
    try {
      const owner = recordedOwner(await superClient.get(namespaces, undefined, name))
      if (owner?.clusterKey === tenant.clusterKey && owner.namespace === namespace) return
      throw serviceUnavailable(`namespace "${namespace}" needs a name that the super cluster uses itself`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    const namespaceObject: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }
    const { labels, annotations } = superKeys("Namespace", namespaceObject, tenant)
    const marks = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== ""))
    const ended = await this.#counts.claim(tenant, namespace)
    try {
      await superClient.create(namespaces, { ...namespaceObject, metadata: { name, labels, annotations: marks } })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    } finally {
      ended()
    }
  }
}
