// A tenant's namespaces in the super cluster, as far as they are made before the syncer makes them: for the addresses of its Services.

import type { KubeObject } from "../apimachinery/object.ts"
import { isAlreadyExists, isNotFound, serviceUnavailable } from "../apimachinery/status.ts"
import { clusterLabel, controlledLabel, superNamespace } from "../apimachinery/tenancy.ts"
import { systemClock } from "../client/clock.ts"
import { pagesOf } from "../client/pages.ts"
import { namespaces } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { superKeys } from "./conversion/metadata.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { exceeded, maxNamespaces } from "./copy-quota.ts"
import { syncerLimits } from "./options.ts"

export class SuperNamespaces {
  readonly #superClient: KubeClient
  readonly #tenant: Tenant
  /** As they were counted last, and those that were made here since. */
  #counted = { used: 0, at: -Infinity }
  #counting: Promise<void> | undefined

  constructor(superClient: KubeClient, tenant: Tenant) {
    this.#superClient = superClient
    this.#tenant = tenant
  }

  /** Marked as the tenant's without a uid: the syncer adds the namespace's uid when it sees it. */
  async ensure(namespace: string): Promise<void> {
    const name = superNamespace(this.#tenant.clusterKey, namespace)
    try {
      const owner = recordedOwner(await this.#superClient.get(namespaces, undefined, name))
      if (owner?.clusterKey === this.#tenant.clusterKey && owner.namespace === namespace) return
      throw serviceUnavailable(`namespace "${namespace}" needs a name that the super cluster uses itself`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    const namespaceObject: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }
    const { labels, annotations } = superKeys("Namespace", namespaceObject, this.#tenant)
    const marks = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== ""))
    await this.#confirm(namespace)
    try {
      await this.#superClient.create(namespaces, { ...namespaceObject, metadata: { name, labels, annotations: marks } })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  /**
   * Confirms that the tenant may have another namespace in super. They are counted there, as all copies are (copy-quota.ts), but not for each:
   * in between, those that are made here are added, and those that the syncer makes are counted by it.
   */
  async #confirm(namespace: string): Promise<void> {
    const limited = maxNamespaces(this.#tenant.quota ?? {})
    const { used, at } = this.#counted
    const { namespacesKnownMs, namespacesFullMs } = syncerLimits
    if (systemClock.elapsed() - at >= (used < limited ? namespacesKnownMs : namespacesFullMs))
      await (this.#counting ??= this.#count().finally(() => (this.#counting = undefined)))
    const { used: now } = this.#counted
    if (now >= limited) throw exceeded(namespaces, namespace, { used: now, limited })
    this.#counted.used++
  }

  async #count(): Promise<void> {
    const { clusterKey } = this.#tenant
    const labelSelector = `${clusterLabel}=${clusterKey},${controlledLabel}=true`
    let used = 0
    for await (const { items } of pagesOf(this.#superClient, namespaces, { labelSelector, metadataOnly: true }))
      used += items.filter((namespace) => recordedOwner(namespace)?.clusterKey === clusterKey).length
    this.#counted = { used, at: systemClock.elapsed() }
  }
}
