// What the syncer still has to do, as the stored objects say, whatever its caches say.

import type { KubeObject } from "../../apimachinery/object.ts"
import { clusterAnnotation, tokenPodUIDAnnotation } from "../../apimachinery/tenancy.ts"
import { namespaces, pods } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { ownership } from "../conversion/ownership.ts"
import { superPlace } from "../conversion/super-object.ts"
import { decide } from "../decision.ts"
import { settingsOf, type SyncSettings } from "../options.ts"
import { Publisher, type PublisherParts } from "../publisher.ts"
import { publications, resourceSyncs } from "../resources/index.ts"

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ""

/** That compares, and has published nothing anew. */
function publisherOf(superCluster: FakeCluster): Publisher {
  const informer = {
    get: (namespace: string | undefined, name: string) => superCluster.find(namespaces, namespace, name),
  }
  return new Publisher({ caches: { superInformer: () => informer } } as unknown as PublisherParts)
}

/** The decisions that remain. */
export function differences(
  superCluster: FakeCluster,
  known: Iterable<{ tenant: Tenant; cluster: FakeCluster }>,
  settings: Partial<SyncSettings> = {},
): string[] {
  const found: string[] = []
  const publisher = publisherOf(superCluster)
  for (const { tenant, cluster } of known) {
    const view = {
      tenantObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        cluster.find<T>(resource, namespace, name),
      tenantObjects: <T extends KubeObject>(resource: Resource, namespace?: string) =>
        cluster.all<T>(resource, namespace),
      superObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        superCluster.find<T>(resource, namespace, name),
      nominatedPods: () => [],
    }
    const context = { tenant, view, settings: settingsOf(settings), now: Date.now() }
    for (const kind of publications) {
      const names = new Set([...superCluster.all(kind.resource), ...cluster.all(kind.resource)].map(nameOf))
      const differing = [...names].filter((name) => publisher.differs(kind, context, name))
      found.push(...differing.map((name) => `publish ${kind.resource.resource} ${name}`))
    }
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
        const { annotations } = left.metadata
        const isTenants = annotations?.[clusterAnnotation] === tenant.clusterKey
        const isOfPod = cluster.all(pods).some(({ metadata }) => metadata.uid === annotations?.[tokenPodUIDAnnotation])
        if (isTenants && !isOfPod) found.push(`orphan ${sync.kind} ${left.metadata.namespace}/${left.metadata.name}`)
      }
    }
  }
  return found
}
