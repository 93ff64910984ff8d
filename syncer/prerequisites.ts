// What must be in the super cluster before a copy is made there: its namespace, the objects that it refers to, and a pod's tokens.

import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import { namespaces, pods } from "../client/resources.ts"
import type { Tenant, TenantUse } from "../client/tenants.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { superPlace } from "./conversion/super-object.ts"
import { RefusedError, isRefusal, isRefusedByTenant } from "./failures.ts"
import { keyOf, type SyncKey } from "./keys.ts"
import type { Reports, Subject } from "./reports.ts"
import { syncOf } from "./resources/index.ts"
import type { SyncContext } from "./resources/resource-sync.ts"

interface PrerequisiteParts {
  reports: Reports
  /** Creates the Secret with the pod's tokens in the super cluster. */
  ensureTokens(tenant: Tenant, pod: Pod, use: TenantUse): Promise<void>
  /** Of an object on which another one depends. */
  reconcile(key: SyncKey): Promise<unknown>
}

/** The copy that is to be made. */
interface Dependent extends Subject {
  context: SyncContext
  use: TenantUse
}

export class Prerequisites {
  readonly #parts: PrerequisiteParts

  constructor(parts: PrerequisiteParts) {
    this.#parts = parts
  }

  /** Throws what keeps the copy of `object` from being made, of which the tenant has been told. */
  async ensure(work: Dependent, object: KubeObject): Promise<void> {
    if (work.sync.resource.namespaced) await this.#ensureNamespace(work, object.metadata.namespace ?? "")
    await this.#ensureDependencies(work, object)
    if (work.sync.resource === pods) await this.#ensureTokens(work, object)
  }

  /** A pod needs its tokens. If the tenant refuses them (no such service account), the error is reported as the kubelet would. */
  async #ensureTokens(work: Dependent, pod: Pod): Promise<void> {
    try {
      await this.#parts.ensureTokens(work.context.tenant, pod, work.use)
    } catch (error) {
      const byTenant = isRefusedByTenant(error)
      const cause = byTenant ? error.cause : error
      if (!isNotFound(cause) && !isRefusal(cause)) throw error
      this.#parts.reports.refuse(work, "FailedCreate", `service account token: ${cause.message}`, { byTenant, cause })
    }
  }

  /** Refuses namespaces that belong to another tenant, or to another namespace of this tenant. */
  async #ensureNamespace(work: Dependent, namespace: string): Promise<void> {
    const { tenant, view } = work.context
    const sync = syncOf(namespaces)
    if (sync === undefined) return
    const place = superPlace(sync, tenant, undefined, namespace)
    const present = view.superObject(namespaces, undefined, place.name)
    const owner = present === undefined ? undefined : recordedOwner(present)
    const isTenants = owner?.clusterKey === tenant.clusterKey && owner.namespace === namespace
    const living = view.tenantObject(namespaces, undefined, namespace)?.metadata.uid
    // The namespace of an earlier tenant namespace is deleted with its contents, which must not include new objects.
    const isStale = owner?.uid !== undefined && living !== undefined && owner.uid !== living
    if (isTenants && !isStale) return
    if (owner !== undefined && !isTenants) {
      this.#parts.reports.refuse(
        work,
        "FailedCreate",
        `namespace "${namespace}": its name is taken in the super cluster`,
      )
    }
    await this.#parts.reconcile(keyOf(tenant.name, namespaces, undefined, namespace))
  }

  /** Creates dependencies that exist in the tenant and not in the super cluster, by the same rules. */
  async #ensureDependencies({ sync, context }: Dependent, object: KubeObject): Promise<void> {
    const { tenant, view } = context
    for (const { resource, namespace, name } of sync.dependencies?.(object, context) ?? []) {
      const kind = syncOf(resource)
      if (kind === undefined || view.tenantObject(resource, namespace, name) === undefined) continue
      const place = superPlace(kind, tenant, namespace, name)
      if (view.superObject(resource, place.namespace, place.name) !== undefined) continue
      try {
        await this.#parts.reconcile(keyOf(tenant.name, resource, namespace, name))
      } catch (error) {
        // Reported on that object, which has its own key; the pod may not need it (optional volumes).
        if (!(error instanceof RefusedError)) throw error
      }
    }
  }
}
