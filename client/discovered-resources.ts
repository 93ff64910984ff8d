// Discovery as client-go's controllers see it.

import type { DiscoveredResource } from "./rest.ts"

/** Whether a resource with these subresources has a scale. */
export function scaleIn(subresources: Iterable<{ name: string; kind: string }>): Pick<DiscoveredResource, "hasScale"> {
  for (const { name, kind } of subresources) if (name === "scale" && kind === "Scale") return { hasScale: true }
  return {}
}

/** Each resource once, in the first version of the list that contains it; the rest are its further versions. */
export function inPreferredVersions(all: Iterable<DiscoveredResource>): DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>()
  for (const resource of all) {
    const id = `${resource.group}/${resource.resource}`
    const preferred = found.get(id)
    if (preferred === undefined) found.set(id, resource)
    else if (preferred.version !== resource.version) {
      found.set(id, { ...preferred, otherVersions: [...(preferred.otherVersions ?? []), resource.version] })
    }
  }
  return [...found.values()]
}
