// In-place resize: copies CPU and memory that the tenant changed through pods/resize to super. Resources that super's admission added
// (a default limit, for example) remain, because a resize can change amounts but not remove them, and so do those that it has changed
// (admitted.ts).

import { byName } from "../../../apimachinery/repeats.ts"
import type { Container, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { type Admission, admissionOf } from "./admitted.ts"
import { resizable, sameAmount } from "./amounts.ts"

type Resources = NonNullable<Container["resources"]>
type Amounts = Record<string, string>

/** The patch for super's subresource "resize"; undefined if the amounts agree. */
export function resizeChange(object: Pod, superObject: Pod): Partial<PodSpec> | undefined {
  const wanted = object.spec
  const current = superObject.spec
  if (wanted === undefined || current === undefined) return undefined
  const given = admissionOf(object, superObject)
  const patch: Partial<PodSpec> = {}
  const containers = resized(wanted.containers, current.containers, given)
  if (containers !== undefined) patch.containers = containers
  const initContainers = resized(wanted.initContainers ?? [], current.initContainers ?? [], given)
  if (initContainers !== undefined) patch.initContainers = initContainers
  if (wanted.resources !== undefined) {
    const resources = withAmounts("", current.resources ?? {}, wanted.resources, given)
    if (resources !== undefined) patch.resources = resources
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Super's containers with the tenant's amounts, matched by name. */
function resized(
  wanted: readonly Container[],
  current: readonly Container[],
  given: Admission,
): Container[] | undefined {
  let changed = false
  const named = byName(wanted)
  const containers = current.map((container) => {
    const own = named.get(container.name)
    const resources = withAmounts(container.name, container.resources ?? {}, own?.resources ?? {}, given)
    if (resources === undefined) return container
    changed = true
    return { ...container, resources }
  })
  return changed ? containers : undefined
}

function withAmounts(
  container: string,
  current: Resources,
  wanted: Resources,
  given: Admission,
): Resources | undefined {
  const merge = (list: "requests" | "limits"): Amounts | undefined => {
    const amounts = current[list] ?? {}
    const changes = resizable.flatMap((name): [string, string][] => {
      const amount = wanted[list]?.[name]
      const isSame = amount === undefined || sameAmount(amount, amounts[name])
      return isSame || given.hasGivenAmount(container, list, name, amount, amounts[name]) ? [] : [[name, amount]]
    })
    return changes.length === 0 ? undefined : { ...amounts, ...Object.fromEntries(changes) }
  }
  const [requests, limits] = [merge("requests"), merge("limits")]
  if (requests === undefined && limits === undefined) return undefined
  return { ...current, ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) }
}
