// In-place resize: copies CPU and memory that the tenant changed through pods/resize to super. Resources that super's admission added
// (a default limit, for example) remain, because a resize can change amounts but not remove them.

import { byName } from "../../../apimachinery/repeats.ts"
import type { Container, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../apimachinery/quantity.ts"

type Resources = NonNullable<Container["resources"]>
type Amounts = Record<string, string>

const resizable = ["cpu", "memory"]

/** The patch for super's subresource "resize"; undefined if the amounts agree. */
export function resizeChange(object: Pod, superObject: Pod): Partial<PodSpec> | undefined {
  const wanted = object.spec
  const current = superObject.spec
  if (wanted === undefined || current === undefined) return undefined
  const patch: Partial<PodSpec> = {}
  const containers = resized(wanted.containers, current.containers)
  if (containers !== undefined) patch.containers = containers
  const initContainers = resized(wanted.initContainers ?? [], current.initContainers ?? [])
  if (initContainers !== undefined) patch.initContainers = initContainers
  if (wanted.resources !== undefined) {
    const resources = withAmounts(current.resources ?? {}, wanted.resources)
    if (resources !== undefined) patch.resources = resources
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Super's containers with the tenant's amounts, matched by name. */
function resized(wanted: readonly Container[], current: readonly Container[]): Container[] | undefined {
  let changed = false
  const named = byName(wanted)
  const containers = current.map((container) => {
    const own = named.get(container.name)
    const resources = withAmounts(container.resources ?? {}, own?.resources ?? {})
    if (resources === undefined) return container
    changed = true
    return { ...container, resources }
  })
  return changed ? containers : undefined
}

function withAmounts(current: Resources, wanted: Resources): Resources | undefined {
  const requests = merged(current.requests, wanted.requests)
  const limits = merged(current.limits, wanted.limits)
  if (requests === undefined && limits === undefined) return undefined
  return { ...current, ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) }
}

function merged(current: Amounts = {}, wanted: Amounts = {}): Amounts | undefined {
  const changes = resizable.filter((name) => {
    const amount = wanted[name]
    return amount !== undefined && !sameAmount(amount, current[name])
  })
  if (changes.length === 0) return undefined
  return { ...current, ...Object.fromEntries(changes.map((name) => [name, wanted[name] ?? ""])) }
}

/** Servers may print the same quantity differently. */
function sameAmount(a: string, b: string | undefined): boolean {
  return a === b || (b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0)
}
