// Under a quota on cpu or memory, pods are rejected unless every container specifies the resource, or the pod any of its own.

import type { Container, Pod } from "../../../apimachinery/object.ts"

const bound = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"]

/** "must specify limits.cpu for: a,b; …", or undefined if nothing is missing. `names`: the resources in the quota. */
export function missingRequirements(pod: Pod, names: readonly string[]): string | undefined {
  const spec = pod.spec ?? { containers: [] }
  const ofPod = [spec.resources?.requests, spec.resources?.limits].flatMap((list) => Object.keys(list ?? {}))
  if (ofPod.some((name) => name === "cpu" || name === "memory" || name.startsWith("hugepages-"))) return undefined
  const needed = bound.filter((name) => names.includes(name))
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const parts = needed.flatMap((name) => {
    const without = containers.filter((container) => !says(container, name)).map((container) => container.name)
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without)].sort().join(",")}`]
  })
  return parts.length === 0 ? undefined : `must specify ${parts.join("; ")}`
}

function says({ resources }: Container, name: string): boolean {
  const list = (name.startsWith("limits.") ? resources?.limits : resources?.requests) as
    | Record<string, string>
    | undefined
  return list?.[name.replace(/^(limits|requests)\./, "")] !== undefined
}
