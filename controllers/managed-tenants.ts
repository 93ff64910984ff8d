// The tenants that these controllers manage: all except those that run their own controller manager.

import type { KubeObject } from "../apimachinery/object.ts"
import { notFound } from "../apimachinery/status.ts"
import { withFieldManager } from "../client/writes-as.ts"
import type { Resource } from "../client/rest.ts"
import { identityOf, type Tenants, type TenantWatchHandler, type TenantWatchOptions } from "../client/tenants.ts"

/** The field manager of all writes: tools recognize it and leave these fields alone. */
const fieldManager = "kube-controller-manager"

export function managedTenants(tenants: Tenants): Tenants {
  // A tenant that has already left the list when its last events arrive was managed, because its events are only delivered if it
  // was.
  const managed = (name: string): boolean => tenants.get(name)?.controllers ?? true
  return {
    get: (name) => (managed(name) ? tenants.get(name) : undefined),
    list: () => tenants.list().filter((tenant) => tenant.controllers),
    subscribe: (handler) =>
      tenants.subscribe({
        added: (tenant) => {
          if (tenant.controllers) handler.added?.(tenant)
        },
        removed: (tenant) => {
          if (tenant.controllers) handler.removed?.(tenant)
        },
        switched: (tenant) => {
          if (tenant.controllers) handler.added?.(tenant)
          else handler.removed?.(tenant)
        },
      }),
    wake: (name, use) => tenants.wake(name, use),
    register: (worker) => tenants.register(worker),
    pause: (name) => tenants.pause(name),
    client(tenant, use) {
      const { name } = identityOf(tenants, tenant)
      if (managed(name)) return withFieldManager(tenants.client(tenant, use), fieldManager)
      throw notFound({ group: "tenancy.x-k8s.io", resource: "virtualclusters" }, name)
    },
    watch<T extends KubeObject>(
      resource: Resource,
      handler: TenantWatchHandler<T>,
      signal: AbortSignal,
      options?: TenantWatchOptions,
    ) {
      if (signal.aborted) return
      const stop = tenants.subscribe({
        switched: ({ name, controllers }) => {
          if (!controllers) handler.removed(name)
        },
      })
      signal.addEventListener("abort", stop, { once: true })
      tenants.watch<T>(resource, onlyOf(managed, handler), signal, options)
    },
  }
}

/** The removal of a tenant and its sleep are passed on unconditionally: they end what the handler knows of it. */
function onlyOf<T extends KubeObject>(
  managed: (tenant: string) => boolean,
  handler: TenantWatchHandler<T>,
): TenantWatchHandler<T> {
  return {
    event: (event) => {
      if (managed(event.tenant)) handler.event(event)
    },
    synced: (tenant) => {
      if (managed(tenant)) handler.synced(tenant)
    },
    restarted: (tenant) => {
      if (managed(tenant)) handler.restarted(tenant)
    },
    removed: (tenant) => handler.removed(tenant),
    asleep: (tenant) => handler.asleep?.(tenant),
  }
}
