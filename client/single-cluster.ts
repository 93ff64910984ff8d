// Presents one cluster as Tenants with a single tenant, so that controllers of tenants can also run on a super cluster.

import { notFound } from "../apimachinery/status.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import { silentLog, type Log } from "./log.ts"
import { reflect } from "./informers/reflector.ts"
import type { KubeClient, Resource } from "./rest.ts"
import { asGiven, type Tenant, type Tenants, type TenantWatchHandler } from "./tenants.ts"

export function singleCluster(client: KubeClient, name = "super", log: Log = silentLog): Tenants {
  const tenant: Tenant = {
    name,
    uid: name,
    virtualCluster: { namespace: "", name, uid: "" },
    clusterKey: "",
    clusterDomain: "cluster.local",
    transparentMetaPrefixes: [],
    opaqueMetaPrefixes: [],
    controllers: true,
  }
  return {
    get: (wanted) => (wanted === name ? tenant : undefined),
    list: () => [tenant],
    subscribe(handler) {
      handler.added?.(tenant)
      return () => undefined
    },
    client(wanted) {
      const given = asGiven(wanted)
      if (given.name === name) return client
      throw notFound({ group: "tenancy.x-k8s.io", resource: "virtualclusters" }, given.name)
    },
    // It never sleeps.
    wake: () => undefined,
    register: () => () => undefined,
    pause: () => undefined,
    watch: (resource, handler, signal) => watchOne(client, name, resource, handler, signal, log),
  }
}

function watchOne<T extends KubeObject>(
  client: KubeClient,
  tenant: string,
  resource: Resource,
  handler: TenantWatchHandler<T>,
  signal: AbortSignal,
  log: Log,
): void {
  const running = reflect<T>({
    client,
    resource,
    signal,
    log,
    sink: {
      restarted: () => handler.restarted(tenant),
      changed: (type, object) => handler.event({ tenant, type, object }),
      synced: () => handler.synced(tenant),
    },
  })
  running.catch((error: unknown) => log.error({ resource: resource.resource, err: error }, "watch stopped"))
}
