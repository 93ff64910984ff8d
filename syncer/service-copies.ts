// A tenant's copies of Services in the super cluster, as the claims of their addresses (service-addresses.ts) read and write them: every
// write names the copy in the state that was read.

import type { Service } from "../apimachinery/object.ts"
import { isConflict, isNotFound, StatusError } from "../apimachinery/status.ts"
import { claimedAfterAnnotation, superNamespace } from "../apimachinery/tenancy.ts"
import type { Clock } from "../client/clock.ts"
import { services } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { markOf, withoutTaken } from "./address-changes.ts"
import { ownership } from "./conversion/ownership.ts"
import { buildSuperObject } from "./conversion/super-object.ts"
import { defaultSettings, syncerLimits } from "./options.ts"
import { mayPass } from "./resources/refused-numbers.ts"
import { service as serviceSync } from "./resources/service.ts"
import { emptyView, type SyncContext } from "./resources/resource-sync.ts"

type Spec = NonNullable<Service["spec"]>

interface CopyChange {
  /** A merge patch; undefined: nothing is written. */
  spec: Record<string, unknown> | undefined
  /** The mark of address-changes.ts, or null to remove it. */
  claimedAfter: string | null
  dryRun?: boolean
}

export class ServiceCopies {
  readonly #superClient: KubeClient
  readonly #tenant: Tenant
  readonly #clock: Clock

  constructor(superClient: KubeClient, tenant: Tenant, clock: Clock) {
    this.#superClient = superClient
    this.#tenant = tenant
    this.#clock = clock
  }

  get context(): SyncContext {
    return { tenant: this.#tenant, settings: defaultSettings, now: Date.now(), view: emptyView }
  }

  get({ metadata }: Service): Promise<Service> {
    const namespace = superNamespace(this.#tenant.clusterKey, metadata.namespace ?? "")
    return this.#superClient.get(services, namespace, metadata.name ?? "")
  }

  create(service: Service, dryRun = false): Promise<Service> {
    return this.#superClient.create(services, this.#desired(service), { dryRun })
  }

  /**
   * For a write of the tenant to `before`, which gets other numbers if somebody has taken the former ones. The syncer, which knows the Service in
   * that state, must wait for the write.
   */
  createFor(service: Service, before: Service): Promise<Service> {
    const desired = this.#desired(service)
    const annotations = { ...desired.metadata.annotations, [claimedAfterAnnotation]: markOf(before) }
    const metadata = { ...desired.metadata, annotations }
    return this.#unlessTaken(desired.spec, undefined, before, (spec) =>
      this.#superClient.create(services, { ...desired, metadata, ...(spec === undefined ? {} : { spec }) }),
    )
  }

  #desired(service: Service): Service {
    return buildSuperObject(serviceSync, service, this.context)
  }

  async patch(present: Service, { spec, claimedAfter, dryRun = false }: CopyChange): Promise<Service> {
    if (spec === undefined) return present
    const { namespace, name = "", uid, resourceVersion } = present.metadata
    const annotations = { [claimedAfterAnnotation]: claimedAfter }
    const patch = { metadata: { uid, resourceVersion, annotations }, spec }
    return this.#superClient.patch(services, namespace, name, patch, { type: "merge", dryRun })
  }

  /** For a write of the tenant to `before`, which gets the numbers that work if somebody has taken the former ones. */
  change(present: Service, change: CopyChange, before: Service): Promise<Service> {
    return this.#unlessTaken(change.spec, present.spec, before, (spec) => this.patch(present, { ...change, spec }))
  }

  /** A new copy waits as that of a reconcile does (number-waits.ts): `waits` are the milliseconds before further attempts. */
  async #unlessTaken(
    asked: Spec | undefined,
    present: Spec | undefined,
    before: Service,
    write: (asked: Spec | undefined) => Promise<Service>,
    waits: readonly number[] = present === undefined ? syncerLimits.numberWaits.afterMs : [],
  ): Promise<Service> {
    try {
      return await write(asked)
    } catch (error) {
      if (asked === undefined || !(error instanceof StatusError)) throw error
      const rest = withoutTaken(asked, error, present, before.spec ?? {})
      if (rest === undefined) throw error
      const [waitMs, ...later] = mayPass(error) ? waits : []
      if (waitMs === undefined) return this.#unlessTaken(rest, present, before, write, waits)
      await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve))
      return this.#unlessTaken(asked, present, before, write, later)
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
