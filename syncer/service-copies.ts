// A tenant's copies of Services in the super cluster, as the claims of their addresses (service-addresses.ts) read and write them: every
// write names the copy in the state that was read.

import type { Service } from "../apimachinery/object.ts"
import { isConflict, isNotFound, StatusError } from "../apimachinery/status.ts"
import { claimedAfterAnnotation, superNamespace } from "../apimachinery/tenancy.ts"
import { services } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { markOf, withoutTaken } from "./address-changes.ts"
import { ownership } from "./conversion/ownership.ts"
import { buildSuperObject } from "./conversion/super-object.ts"
import { defaultSettings } from "./options.ts"
import { service as serviceSync } from "./resources/service.ts"
import { emptyView, type ResourceSync, type SyncContext } from "./resources/resource-sync.ts"

export interface CopyChange {
  /** A merge patch; undefined: nothing is written. */
  spec: Record<string, unknown> | undefined
  /** The mark of address-changes.ts, or null to remove it. */
  claimedAfter: string | null
  dryRun?: boolean
}

export class ServiceCopies {
  readonly #superClient: KubeClient
  readonly #tenant: Tenant

  constructor(superClient: KubeClient, tenant: Tenant) {
    this.#superClient = superClient
    this.#tenant = tenant
  }

  get context(): SyncContext {
    return { tenant: this.#tenant, settings: defaultSettings, now: Date.now(), view: emptyView }
  }

  get({ metadata }: Service): Promise<Service> {
    const namespace = superNamespace(this.#tenant.clusterKey, metadata.namespace ?? "")
    return this.#superClient.get(services, namespace, metadata.name ?? "")
  }

  /** `current`: the syncer, which knows the Service in that state, must wait for the write. */
  create(service: Service, current?: Service, dryRun = false): Promise<Service> {
    const made = buildSuperObject(serviceSync as unknown as ResourceSync, service, this.context) as Service
    if (current !== undefined)
      made.metadata.annotations = { ...made.metadata.annotations, [claimedAfterAnnotation]: markOf(current) }
    return this.#superClient.create(services, made, dryRun ? { dryRun } : {})
  }

  async patch(present: Service, { spec, claimedAfter, dryRun = false }: CopyChange): Promise<Service> {
    if (spec === undefined) return present
    const { namespace, name = "", uid, resourceVersion } = present.metadata
    const annotations = { [claimedAfterAnnotation]: claimedAfter }
    const patch = { metadata: { uid, resourceVersion, annotations }, spec }
    return this.#superClient.patch(services, namespace, name, patch, { type: "merge", dryRun })
  }

  /** For a write of the tenant to `before`, which gets the node ports that work if the former ones are taken. */
  async change(present: Service, change: CopyChange, before: Service): Promise<Service> {
    try {
      return await this.patch(present, change)
    } catch (error) {
      if (change.spec === undefined || !(error instanceof StatusError)) throw error
      const spec = withoutTaken(change.spec, error, present, before)
      if (spec === undefined) throw error
      return this.change(present, { ...change, spec }, before)
    }
  }

  /** The copy of exactly this Service, if there is one. */
  async deleteOf(service: Service): Promise<void> {
    try {
      const present = await this.get(service)
      if (ownership(present, this.#tenant, service) === "ours") await this.delete(present)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async delete({ metadata }: Service): Promise<void> {
    const { namespace, name = "", uid } = metadata
    try {
      await this.#superClient.delete(services, namespace, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}
