// What the syncer still has to do, as the stored objects say, whatever its caches say.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { ownership } from "../conversion/ownership.ts"
import { superPlace } from "../conversion/super-object.ts"
import { decide } from "../decision.ts"
import { settingsOf } from "../options.ts"
import { resourceSyncs } from "../resources/index.ts"

/** The decisions that remain. */
export function differences(
  superCluster: FakeCluster,
  known: Iterable<{ tenant: Tenant; cluster: FakeCluster }>,
): string[] {
  const found: string[] = []
  for (const { tenant, cluster } of known) {
    const view = {
      tenantObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        cluster.find<T>(resource, namespace, name),
      tenantObjects: <T extends KubeObject>(resource: Resource, namespace?: string) =>
        cluster.all(resource).filter(({ metadata }) => metadata.namespace === namespace) as T[],
      superObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        superCluster.find<T>(resource, namespace, name),
      nominatedPods: () => [],
    }
    const context = { tenant, view, settings: settingsOf({}), now: Date.now() }
    for (const sync of resourceSyncs) {
      const copies = new Set(superCluster.all(sync.resource))
      for (const one of cluster.all(sync.resource)) {
        const place = superPlace(sync, tenant, one.metadata.namespace, one.metadata.name ?? "")
        const copy = superCluster.find(sync.resource, place.namespace, place.name)
        const decision = decide(sync, one, copy, context)
        if (decision.do !== "nothing") found.push(`${decision.do} ${sync.kind} ${place.namespace}/${place.name}`)
        if (copy !== undefined && ownership(copy, tenant, one) === "ours") copies.delete(copy)
      }
      for (const left of copies) {
        const isTenants = left.metadata.annotations?.["tenancy.x-k8s.io/cluster"] === tenant.clusterKey
        if (isTenants) found.push(`orphan ${sync.kind} ${left.metadata.namespace}/${left.metadata.name}`)
      }
    }
  }
  return found
}
