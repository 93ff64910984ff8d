// Adds aggregated APIs to discovery, in both of its forms.

import { type Json, printGroupVersion } from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { AggregatedVersion } from "./aggregator.ts"
import type { ListedResource } from "./listed-resources.ts"

/** Preferred versions first. */
export function versionsOfGroup(all: readonly AggregatedVersion[], group: string): readonly AggregatedVersion[] {
  return all
    .filter((each) => each.group === group)
    .sort((a, b) => b.versionPriority - a.versionPriority || (a.version < b.version ? -1 : 1))
}

/** By priority, then by name. */
export function groupsOfAggregated(all: readonly AggregatedVersion[]): string[] {
  const priority = (group: string): number =>
    Math.max(...all.filter((each) => each.group === group).map(({ groupPriority }) => groupPriority))
  return [...new Set(all.map(({ group }) => group))].sort((a, b) => priority(b) - priority(a) || (a < b ? -1 : 1))
}

/** client-go's view: the resources of available APIs, in the preferred versions of their groups. */
export function discoveredResources(all: readonly AggregatedVersion[]): DiscoveredResource[] {
  const ordered = groupsOfAggregated(all).flatMap((group) => versionsOfGroup(all, group))
  return ordered
    .filter(({ isCurrent }) => isCurrent)
    .flatMap(({ group, version, resources }) =>
      resources
        .filter(({ name }) => !name.includes("/"))
        .map(({ name, namespaced = false, kind = "", verbs = [] }) => ({
          group,
          version,
          resource: name,
          namespaced,
          kind,
          verbs,
        })),
    )
}

/** An APIVersionDiscovery; subresources are below their resources. Source: k8s.io/apiserver/pkg/endpoints/discovery/aggregated. */
export function versionDiscovery({ group, version, isCurrent, resources }: AggregatedVersion): Json {
  const kindOf = ({ kind = "", ...of }: ListedResource): Json => ({
    group: of.group || group,
    version: of.version || version,
    kind,
  })
  const found = resources
    .filter(({ name }) => !name.includes("/"))
    .map((resource): { [key: string]: Json } => {
      const below = resources.filter(({ name }) => name.startsWith(`${resource.name}/`))
      return {
        resource: resource.name,
        responseKind: kindOf(resource),
        scope: resource.namespaced === true ? "Namespaced" : "Cluster",
        singularResource: resource.singularName ?? "",
        verbs: resource.verbs ?? [],
        ...(resource.shortNames === undefined ? {} : { shortNames: resource.shortNames }),
        ...(resource.categories === undefined ? {} : { categories: resource.categories }),
        ...(below.length === 0
          ? {}
          : {
              subresources: below.map((each) => ({
                subresource: each.name.slice(resource.name.length + 1),
                responseKind: kindOf(each),
                verbs: each.verbs ?? [],
              })),
            }),
      }
    })
  return { version, resources: found, freshness: isCurrent ? "Current" : "Stale" }
}

/** An APIGroup, without kind and apiVersion. */
export function groupDiscovery(all: readonly AggregatedVersion[], group: string): { [key: string]: Json } {
  const versions = versionsOfGroup(all, group).map(({ version }) => ({
    groupVersion: printGroupVersion({ group, version }),
    version,
  }))
  return { name: group, versions, preferredVersion: versions[0] ?? null }
}
