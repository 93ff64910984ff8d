// What discovery says of the resources of aggregated APIs.

import { inPreferredVersions, scaleIn } from "../../client/discovered-resources.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { AggregatedVersion } from "./aggregator.ts"
import type { ListedResource } from "./listed-resources.ts"
import { inOrder } from "./priorities.ts"

/** client-go's view: the resources of available APIs, each in its preferred version. */
export function discoveredResources(all: readonly AggregatedVersion[]): DiscoveredResource[] {
  const available = [...inOrder(all, ({ group }) => group).values()].flat().filter(({ isCurrent }) => isCurrent)
  return inPreferredVersions(
    available.flatMap(({ group, version, resources }) =>
      resources.map(({ resource, scope, responseKind: { kind }, verbs, subresources = [] }) => {
        const scale = scaleIn(subresources.map((of) => ({ name: of.subresource, kind: of.responseKind.kind })))
        return { group, version, resource, namespaced: scope === "Namespaced", kind, verbs: verbs ?? [], ...scale }
      }),
    ),
  )
}

/** An APIVersionDiscovery. */
export function versionDiscovery({ version, isCurrent, resources }: AggregatedVersion): {
  version: string
  resources?: readonly ListedResource[]
  freshness: string
} {
  const freshness = isCurrent ? "Current" : "Stale"
  return { version, ...(resources.length === 0 ? {} : { resources }), freshness }
}
