// Claims the addresses of a tenant's Services in the super cluster before the tenant's write is answered: the super Service is
// written first, and the addresses assigned there are stored in the tenant, so the address in the response to a create works. The
// syncer keeps the super Service up to date. If the tenant's write fails, the super Service is restored or deleted.

import type { Service } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import {
  alreadyExists,
  hasReason,
  isAlreadyExists,
  isConflict,
  isNotFound,
  restated,
  serviceUnavailable,
  StatusError,
} from "../apimachinery/status.ts"
import type { Clock } from "../client/clock.ts"
import { silentLog, type Log } from "../client/log.ts"
import { isNamespaceTerminating } from "../client/namespace-terminating.ts"
import { services } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { changeOf, copyAddresses, isYoung, markOf } from "./address-changes.ts"
import { ownership, recordedOwner } from "./conversion/ownership.ts"
import { scrubMessages, scrubText, tenantMessage } from "../apimachinery/tenant-texts.ts"
import { clockOf } from "./options.ts"
import { service as serviceSync } from "./resources/service.ts"
import { ServiceCopies } from "./service-copies.ts"
import type { SuperNamespaces } from "./super-namespaces.ts"

/** Exactly one of the two functions is called. What cannot be taken back is logged: the tenant is told why its write has failed. */
interface AddressClaim {
  commit(): void
  rollback(): Promise<void>
}

export interface ServiceAddressClaims {
  claim(service: Service, current: Service | undefined): Promise<AddressClaim>
  preview(service: Service, current: Service | undefined): Promise<void>
  release(service: Service): Promise<void>
}

interface ServiceAddressOptions {
  /** Client of the tenant's API, used to check whether the Service that a copy belongs to still exists. */
  tenantClient?: () => KubeClient
  /** Other processes may write the tenant's Services as well. */
  isShared?: boolean
  /** Shared by the tenants of a process. */
  superNamespaces: SuperNamespaces
  clock?: Clock
  log?: Log
}

/** After so many attempts the tenant's write fails with the conflict. */
const changeAttempts = 5

/** How long a create waits for another one of the same name, which a webhook of the tenant may hold up. */
const otherCreateMs = 1000

const noClaim: AddressClaim = { commit: () => undefined, rollback: () => Promise.resolve() }

export function createServiceAddresses(
  superClient: KubeClient,
  tenant: Tenant,
  options: ServiceAddressOptions,
): ServiceAddressClaims {
  const claims = new Claims(superClient, tenant, options)
  return {
    claim: (service, current) => claims.claim(service, current),
    preview: (service, current) => claims.preview(service, current),
    release: (service) => claims.release(service),
  }
}

class Claims {
  readonly #copies: ServiceCopies
  readonly #tenant: Tenant
  readonly #options: ServiceAddressOptions
  /** By uid, Services being written, with their end: their copies are not orphans. */
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(superClient: KubeClient, tenant: Tenant, options: ServiceAddressOptions) {
    this.#copies = new ServiceCopies(superClient, tenant, clockOf(options))
    this.#tenant = tenant
    this.#options = options
  }

  async claim(service: Service, current: Service | undefined): Promise<AddressClaim> {
    // An ExternalName Service has no address.
    if (service.spec?.type === "ExternalName") return noClaim
    const end = this.#begin(service.metadata.uid ?? "")
    try {
      return current === undefined ? await this.#create(service, end) : await this.#change(service, current, end)
    } catch (error) {
      end()
      throw this.#translate(error, service)
    }
  }

  #begin(uid: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#underWay.set(uid, promise)
    return () => {
      if (this.#underWay.get(uid) === promise) this.#underWay.delete(uid)
      resolve()
    }
  }

  /**
   * A dry run of super's, in which nothing is stored, not even a namespace. Without that, or with a copy that a claim would replace, there
   * is nothing to tell.
   */
  async preview(service: Service, current: Service | undefined): Promise<void> {
    if (service.spec?.type === "ExternalName") return
    try {
      const made = await (current === undefined
        ? this.#copies.create(service, true)
        : this.#previewChange(service, current))
      if (made !== undefined) copyAddresses(service, made)
    } catch (error) {
      if (isNotFound(error) || isAlreadyExists(error) || isConflict(error)) return
      throw this.#translate(error, service)
    }
  }

  async #previewChange(service: Service, current: Service): Promise<Service | undefined> {
    const present = await this.#copies.get(service)
    if (ownership(present, this.#tenant, service) !== "ours") return undefined
    const change = { spec: changeOf(service, present, current), claimedAfter: null, dryRun: true }
    return this.#copies.change(present, change, current)
  }

  /** The tenant's Service is deleted anyway. */
  release(service: Service): Promise<void> {
    return this.#leftToPatrol(service, () => this.#copies.deleteOf(service))
  }

  async #leftToPatrol(service: Service, undo: () => Promise<unknown>): Promise<void> {
    try {
      await undo()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const { namespace, name } = service.metadata
      const { log = silentLog } = this.#options
      log.warn(
        { tenant: this.#tenant.name, namespace, name, error: error.message },
        "service address not released; the patrol will correct it",
      )
    }
  }

  async #create(service: Service, end: () => void, current?: Service): Promise<AddressClaim> {
    const made = await this.#createInSuper(service, current)
    copyAddresses(service, made)
    return {
      commit: end,
      rollback: () => this.#leftToPatrol(service, () => this.#copies.deleteOf(service)).finally(end),
    }
  }

  async #createInSuper(service: Service, current: Service | undefined): Promise<Service> {
    await this.#options.superNamespaces.ensure(this.#tenant, service.metadata.namespace ?? "")
    const create = (): Promise<Service> =>
      current === undefined ? this.#copies.create(service) : this.#copies.createFor(service, current)
    try {
      return await create()
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    const present = await this.#copies.get(service)
    if (ownership(present, this.#tenant, service) === "ours") {
      // The syncer created it first, possibly from the Service's state before this write.
      const spec = changeOf(service, present, current)
      if (current === undefined) return this.#copies.patch(present, { spec, claimedAfter: null })
      return this.#copies.change(present, { spec, claimedAfter: markOf(current) }, current)
    }
    await this.#removeOrphan(present, service)
    return create()
  }

  /** Removes only a copy that certainly has no owner: of an earlier Service with this name, which the tenant no longer has. */
  async #removeOrphan(present: Service, service: Service): Promise<void> {
    const { namespace, name = "" } = service.metadata
    const uid = recordedOwner(present)?.uid
    if (ownership(present, this.#tenant, service) !== "stale" || uid === undefined) {
      throw serviceUnavailable(`service "${name}" needs a name that the super cluster uses itself`)
    }
    const { tenantClient, isShared = false } = this.#options
    await this.#otherCreate(uid)
    if (this.#underWay.has(uid) || tenantClient === undefined) throw alreadyExists(services, name)
    try {
      const living = await tenantClient().get(services, namespace, name)
      if (living.metadata.uid === uid) throw alreadyExists(services, name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    if (isShared && isYoung(present)) throw serviceUnavailable("another request may be creating it")
    await this.#copies.delete(present)
  }

  /** If it fails, this one has the name. An apply that was refused at once would be repeated at once. */
  async #otherCreate(uid: string): Promise<void> {
    const other = this.#underWay.get(uid)
    if (other === undefined) return
    let timer: NodeJS.Timeout | undefined
    const longest = new Promise<void>((resolve) => (timer = setTimeout(resolve, otherCreateMs).unref()))
    await Promise.race([other, longest])
    clearTimeout(timer)
  }

  async #change(service: Service, current: Service, end: () => void, attempts = changeAttempts): Promise<AddressClaim> {
    let present: Service
    try {
      present = await this.#copies.get(service)
    } catch (error) {
      if (isNotFound(error)) return this.#create(service, end, current)
      throw error
    }
    const owner = ownership(present, this.#tenant, service)
    if (owner === "stale" && attempts > 1) {
      // The syncer is about to replace the copy of an earlier Service of this name, and may be the first.
      return this.#create(service, end, current).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error
        return this.#change(service, current, end, attempts - 1)
      })
    }
    if (owner !== "ours") {
      throw serviceUnavailable(`service "${service.metadata.name}" is not in the super cluster yet`)
    }
    // The syncer is about to make it like the Service was before this write, which need not change it then.
    const unchanged = serviceSync.changed(current, present, this.#copies.context).length > 0 ? {} : undefined
    let changed: Service
    try {
      const spec = changeOf(service, present, current) ?? unchanged
      changed = await this.#copies.change(present, { spec, claimedAfter: markOf(current) }, current)
    } catch (error) {
      // The syncer or super itself has written it meanwhile: read the new state.
      if (!isConflict(error) || attempts === 1) throw error
      return this.#change(service, current, end, attempts - 1)
    }
    copyAddresses(service, changed)
    const before = { spec: changeOf(present, changed, changed) ?? unchanged, claimedAfter: null }
    return {
      commit: end,
      rollback: () => this.#leftToPatrol(service, () => this.#copies.patch(changed, before)).finally(end),
    }
  }

  /** Errors that the tenant caused are passed on; for all others, the service is reported as unavailable. */
  #translate(error: unknown, service: Service): unknown {
    if (!(error instanceof StatusError)) return error
    const { namespace = "", name = "" } = service.metadata
    const tenant = this.#tenant
    const names = { tenant, namespace, superNamespace: superNamespace(tenant.clusterKey, namespace) }
    const message = tenantMessage(error, names)
    if (hasReason(error, "Invalid", "Forbidden", "AlreadyExists", "Conflict") && !isNamespaceTerminating(error)) {
      const { details, ...rest } = scrubMessages(error.status, names)
      // Of the namespace there, if that was refused.
      const named = details && { ...details, ...(details.name && { name: scrubText(details.name, names) }) }
      return restated(error, { ...rest, message, ...(named && { details: named }) }, { cause: error })
    }
    return serviceUnavailable(`service "${name}": no address from the super cluster: ${message}`, { cause: error })
  }
}
