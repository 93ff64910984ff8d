// What discovery says of the resources of aggregated APIs.

import type { Json } from "../../apimachinery/object.ts"
import { inPreferredVersions } from "../../client/discovered-resources.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { AggregatedVersion } from "./aggregator.ts"
import type { ListedResource } from "./listed-resources.ts"
import { inOrder } from "./priorities.ts"

/** client-go's view: the resources of available APIs, each in its preferred version. */
export function discoveredResources(all: readonly AggregatedVersion[]): DiscoveredResource[] {
  const available = [...inOrder(all, ({ group }) => group).values()].flat().filter(({ isCurrent }) => isCurrent)
  return inPreferredVersions(
    available.flatMap(({ group, version, resources }) =>
      resources
        .filter(({ name }) => !name.includes("/"))
        .map(({ name, namespaced = false, kind = "", verbs = [] }) => {
          return { group, version, resource: name, namespaced, kind, verbs }
        }),
    ),
  )
}

/** An APIVersionDiscovery; subresources are below their resources. Source: k8s.io/apiserver/pkg/endpoints/discovery/aggregated. */
export function versionDiscovery({ group, version, isCurrent, resources }: AggregatedVersion): Json {
  const kindOf = ({ kind = "", ...of }: ListedResource): Json => ({
    group: of.group || group,
    version: of.version || version,
    kind,
  })
  const subresources = Map.groupBy(
    resources.filter(({ name }) => name.includes("/")),
    ({ name }) => name.slice(0, name.indexOf("/")),
  )
  const parents = resources.filter(({ name }) => !name.includes("/"))
  // Of several resources with one name, as upstream the last one has the subresources.
  const named = new Map(parents.map((resource) => [resource.name, resource]))
  const found = parents.map((resource): { [key: string]: Json } => {
    const below = named.get(resource.name) === resource ? (subresources.get(resource.name) ?? []) : []
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
