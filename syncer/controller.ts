// Executes the decisions of decision.ts, for every kind that tenants own, with the writes of writes.ts.

import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, StatusError } from "../apimachinery/status.ts"
import type { Clock } from "../client/clock.ts"
import type { EventRecorder } from "../client/events.ts"
import { nodes, pods } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { buildSuperObject, superPlace, type Place } from "./conversion/super-object.ts"
import type { CopyQuota } from "./copy-quota.ts"
import { claimedFor, decide, type Decision } from "./decision.ts"
import { RefusedError, type TenantFailure, inTenant, isOfTenant, isRefusal } from "./failures.ts"
import type { SyncKey } from "./keys.ts"
import type { SyncSettings } from "./options.ts"
import { NumberWaits } from "./number-waits.ts"
import { Prerequisites } from "./prerequisites.ts"
import { RepeatedChanges } from "./repeated-changes.ts"
import { Reports } from "./reports.ts"
import { syncOf } from "./resources/index.ts"
import { currentOf, existsInTenant, findCopy, isAsSeen } from "./live-lookup.ts"
import type { Patch, ResourceSync, SyncContext, TenantStep } from "./resources/resource-sync.ts"
import { bind, createCopy, deleteSeen, type FallingBack, LaterError, patchSuper, patchTenant } from "./writes.ts"

/**
 * When to look at the key again. `recurs`: that may go on for ever, so it neither keeps the tenant awake nor wakes it often; otherwise it is
 * due then.
 */
export type Outcome = void | { requeueAfterMs: number; recurs?: boolean }

interface ControllerParts {
  tenants: Tenants
  superClient: KubeClient
  caches: Caches
  events: EventRecorder
  settings: SyncSettings
  quota: CopyQuota
  clock: Clock
  /** Creates the Secret with the pod's tokens in the super cluster before the pod. */
  ensureTokens(tenant: Tenant, pod: Pod, use: TenantUse): Promise<void>
  /** Creates the Node in the tenant before a pod is bound to it. */
  ensureNode(tenant: Tenant, name: string, use: TenantUse): Promise<void>
}

/** One reconcile: the tenant, the object, and its known state on both sides. */
interface Work {
  sync: ResourceSync
  context: SyncContext
  use: TenantUse
  client: KubeClient
  place: Place
  object: KubeObject | undefined
  superObject: KubeObject | undefined
}

export class SyncController {
  readonly #parts: ControllerParts
  readonly #repeated: RepeatedChanges
  readonly #waits: NumberWaits
  readonly #reports: Reports
  readonly #prerequisites: Prerequisites

  constructor(parts: ControllerParts) {
    this.#parts = parts
    this.#repeated = new RepeatedChanges(parts.clock)
    this.#waits = new NumberWaits(parts.clock)
    this.#reports = new Reports(parts)
    this.#prerequisites = new Prerequisites({
      reports: this.#reports,
      ensureTokens: (tenant, pod, use) => parts.ensureTokens(tenant, pod, use),
      reconcile: (key) => this.reconcile(key, { needed: true }),
    })
  }

  contextOf(tenant: Tenant): SyncContext {
    const { caches, settings, clock } = this.#parts
    return { tenant, view: caches.view(tenant.name), settings, now: clock.now() }
  }

  /** `needed`: an object that is being created in the super cluster depends on it. */
  async reconcile(key: SyncKey, { needed = false, ...use }: TenantUse & { needed?: boolean } = {}): Promise<Outcome> {
    const tenant = this.#parts.tenants.get(key.tenant)
    const sync = syncOf({ resource: key.resource })
    if (tenant === undefined || sync === undefined) return
    const context = { ...this.contextOf(tenant), needed }
    const { view } = context
    const place = superPlace(sync, tenant, key.namespace, key.name)
    return this.#carryOut({
      sync,
      context,
      use,
      client: this.#parts.tenants.client(tenant, use),
      place,
      object: view.tenantObject(sync.resource, key.namespace, key.name),
      superObject: view.superObject(sync.resource, place.namespace, place.name),
    })
  }

  async #carryOut(work: Work): Promise<Outcome> {
    const { sync, object, superObject, context } = work
    const decision = decide(sync, object, superObject, context)
    switch (decision.do) {
      case "nothing":
        return
      case "create":
        return object === undefined ? undefined : this.#create(work, object)
      case "update":
        return this.#update(work, decision)
      case "remove":
        return superObject === undefined ? undefined : this.#remove(work, superObject, decision)
      case "lose":
        return object === undefined ? undefined : this.#lose(work, object, decision.tenantSteps)
      case "finish":
        return object === undefined ? undefined : this.#finish(work, object)
      case "refuse":
        return this.#reports.refuse(work, "FailedSync", decision.message)
    }
  }

  async #create(work: Work, object: KubeObject): Promise<Outcome> {
    const { sync, context } = work
    // Of a copy that super refuses again and again the tenant is asked each time: it may sleep.
    const client = this.#parts.tenants.client(context.tenant, { isUse: false })
    const release = this.#claimPlace(work)
    let made: boolean | undefined
    let current: KubeObject | undefined
    try {
      current = await currentOf(sync, client, object)
      const isWanted = current === object || decide(sync, current, undefined, context).do === "create"
      if (current !== undefined && isWanted) made = await this.#createCopy(work, current)
    } catch (error) {
      if (error instanceof LaterError) return { requeueAfterMs: error.afterMs }
      throw error
    } finally {
      if (made !== true) release()
    }
    if (made === undefined) return this.#carryOut({ ...work, object: current })
    if (!made) return this.#meet({ ...work, object: current })
  }

  /** The copy is not in the cache (not yet, or because it has no Polyplane marks): reads it, and decides again. */
  async #meet(work: Work): Promise<Outcome> {
    const { sync, place } = work
    const present = await this.#parts.superClient.get(sync.resource, place.namespace, place.name)
    try {
      return await this.#carryOut({ ...work, superObject: present })
    } catch (error) {
      // Of an object without marks no informer tells when it is gone.
      if (!(error instanceof RefusedError) || recordedOwner(present) !== undefined) throw error
      throw new RefusedError(error.message, { mayChangeUnseen: true, cause: error })
    }
  }

  /** Within the tenant's quota. Returns a function to call if the copy is not created. */
  #claimPlace(work: Work): () => void {
    const { sync, context, place } = work
    try {
      return this.#parts.quota.claim(context.tenant, sync.resource, place)
    } catch (error) {
      return this.#reports.failed(work, "FailedCreate", error)
    }
  }

  /** false: there is an object of that name. */
  async #createCopy(work: Work, object: KubeObject): Promise<boolean> {
    const { sync, context } = work
    await this.#prerequisites.ensure(work, object)
    const [{ name: tenant }, uid] = [context.tenant, object.metadata.uid ?? ""]
    // Addresses of Services that it is given stay as they are.
    const waitMs = sync.resource === pods ? this.#waits.ofTenant(tenant) : 0
    if (waitMs > 0) throw new LaterError(waitMs)
    try {
      const desired = buildSuperObject(sync, object, context)
      const falling = { ...this.#falling(work), waitMs: () => this.#waits.refused(tenant, uid) }
      await createCopy(this.#parts.superClient, sync, object, desired, falling)
      this.#waits.end(tenant, uid)
      return true
    } catch (error) {
      return isAlreadyExists(error) ? false : this.#reports.failed(work, "FailedCreate", error)
    }
  }

  /**
   * The super cluster first. What it refuses, or does not answer, keeps neither its other changes nor the tenant from what is known of the
   * copy: the tenant's object never reports more than has happened.
   */
  async #update(work: Work, { superPatches, tenantSteps }: Extract<Decision, { do: "update" }>): Promise<Outcome> {
    let failure: unknown
    const waits: number[] = []
    for (const step of superPatches) {
      const waitMs = this.#repeated.wait(work.superObject, step)
      if (waitMs > 0) {
        waits.push(waitMs)
        continue
      }
      try {
        if (step.isOfSeen === true && !(await this.#isAsSeen(work))) continue
        const changed = (): void => this.#repeated.note(work.superObject, step)
        await patchSuper(this.#parts.superClient, work.sync, work.place, work, step, changed, this.#falling(work))
      } catch (error) {
        failure ??= error
        if (!isRefusal(error)) break
      }
    }
    // Another state of the copy is decided upon anew.
    const inTheTenant = isConflict(failure) ? undefined : await this.#stepsInTenant(work, tenantSteps)
    // What super has not done is still to be done, whatever becomes of the tenant's.
    if (failure !== undefined) this.#reports.failed(work, "FailedUpdate", failure)
    if (waits.length > 0) return { requeueAfterMs: Math.min(...waits), recurs: true }
    if (inTheTenant !== undefined) throw inTheTenant
  }

  #falling(work: Work): FallingBack {
    return { fellBack: (error) => this.#reports.fellBack(work, error) }
  }

  async #isAsSeen({ sync, client, object }: Work): Promise<boolean> {
    return object !== undefined && (await inTenant(isAsSeen(sync, client, object)))
  }

  /** Returns what the tenant refuses, or fails to do. Of a step that is apart it is what counts least. */
  async #stepsInTenant(work: Work, steps: readonly TenantStep[]): Promise<RefusedError | TenantFailure | undefined> {
    let ofApart: unknown
    for (const step of steps) {
      try {
        await this.#stepInTenant(work, step)
      } catch (error) {
        if (step.isApart === true && (isOfTenant(error) || error instanceof StatusError)) ofApart = error
        else if (isOfTenant(error)) return error
        else throw error
      }
    }
    if (ofApart === undefined || isOfTenant(ofApart)) return ofApart
    throw ofApart
  }

  async #stepInTenant({ sync, object, use, client, context }: Work, step: TenantStep): Promise<void> {
    if (object === undefined) return
    if (!("bind" in step)) return patchTenant(client, sync, object, step)
    if (context.view.tenantObject(nodes, undefined, step.bind) === undefined) {
      await this.#parts.ensureNode(context.tenant, step.bind, use)
    }
    await bind(client, sync, object, step.bind)
  }

  async #remove(work: Work, superObject: KubeObject, decision: Extract<Decision, { do: "remove" }>): Promise<Outcome> {
    const { sync, place } = work
    const { why, gracePeriodSeconds } = decision
    if (why === "gone" || why === "stale") {
      const wait = claimedFor(sync, superObject, work.context.now)
      if (await existsInTenant(sync, work.client, superObject)) return
      if (wait > 0) return { requeueAfterMs: wait }
    }
    if (why === "outdated") {
      const waitMs = this.#repeated.wait(work.object, madeAnew(work))
      if (waitMs > 0) return { requeueAfterMs: waitMs }
    }
    const { resourceVersion } = superObject.metadata
    // Only in the state that was seen: it may be in use since, or not the tenant's any more. The end of a pod must not wait for its reports.
    const isAnyState = sync.graceful !== undefined && why !== "outdated"
    const isDeleted = await deleteSeen(this.#parts.superClient, sync, place, superObject, {
      ...(isAnyState || resourceVersion === undefined ? {} : { resourceVersion }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      propagationPolicy: "Background",
    })
    if (why !== "outdated") return
    this.#repeated.note(work.object, madeAnew(work))
    const message = isDeleted && work.object !== undefined ? sync.remadeMessage?.(work.object, superObject) : undefined
    if (message !== undefined) this.#reports.tell(work, "FailedSync", message)
  }

  /** The tenant's object shows that it has run. If its copy is really gone, it will not run again. */
  async #lose(work: Work, object: KubeObject, tenantSteps: TenantStep[]): Promise<Outcome> {
    const superObject = await findCopy(work.sync, this.#parts.superClient, work.context.tenant, object)
    if (superObject !== undefined) return this.#carryOut({ ...work, superObject })
    for (const step of tenantSteps) await this.#stepInTenant(work, step)
  }

  /** Removes the tenant's pod, which only waited for the deletion of its copy. */
  async #finish(work: Work, object: KubeObject): Promise<Outcome> {
    const superObject = await findCopy(work.sync, this.#parts.superClient, work.context.tenant, object)
    if (superObject !== undefined) return this.#carryOut({ ...work, superObject })
    const { namespace, name = "" } = object.metadata
    await inTenant(deleteSeen(work.client, work.sync, { namespace, name }, object, { gracePeriodSeconds: 0 }))
  }
}

/** For super's admission a new copy may be outdated from the start. Each is another one, so that they are counted by the tenant's object. */
const madeAnew = ({ object }: Work): Patch => ({
  patch: { metadata: { resourceVersion: object?.metadata.resourceVersion } },
})
