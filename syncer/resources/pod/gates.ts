// Scheduling gates. Those of the tenant go when it removes them; what super's admission adds, such as a queue for pods, is for super to
// remove. None can be added later. Pure.

import type { Pod, PodSpec } from "../../../apimachinery/object.ts"
import { gatesAnnotation, placementAnnotation } from "../../../apimachinery/tenancy.ts"

type Gates = NonNullable<PodSpec["schedulingGates"]>

/** Names contain no commas. */
export function gatesRecord({ spec }: Pod): Record<string, string> {
  return { [gatesAnnotation]: (spec?.schedulingGates ?? []).map(({ name }) => name).join(",") }
}

/** The gates that the copy should have; undefined if it has them. */
export function gatesChange({ spec }: Pod, superPod: Pod): Gates | undefined {
  const current = superPod.spec?.schedulingGates ?? []
  const wanted = new Set(spec?.schedulingGates?.map(({ name }) => name))
  const isOwn = ownGates(superPod)
  const kept = current.filter(({ name }) => wanted.has(name) || !isOwn(name))
  return kept.length === current.length ? undefined : kept
}

/** An ungated pod with its own placement has none, which an earlier version has not recorded. */
function ownGates({ metadata: { annotations } }: Pod): (name: string) => boolean {
  const recorded = annotations?.[gatesAnnotation]
  if (recorded === undefined) return () => annotations?.[placementAnnotation] !== undefined
  const names = new Set(recorded.split(","))
  return (name) => names.has(name)
}
