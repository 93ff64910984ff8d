// Computes when pods must leave the devices of a claim. Pure.

import type { ResourceClaim, ResourceSlice } from "../../apimachinery/object.ts"

type Allocation = NonNullable<NonNullable<ResourceClaim["status"]>["allocation"]>
export type AllocatedDevice = NonNullable<NonNullable<Allocation["devices"]>["results"]>[number]
export type DeviceTaint = NonNullable<NonNullable<ResourceSlice["spec"]["devices"]>[number]["taints"]>[number]
type DeviceToleration = NonNullable<AllocatedDevice["tolerations"]>[number]

/** Identifies a pool, whose name is unique only among those of its driver. */
export const poolOf = (driver: string, pool: string): string => `${driver}/${pool}`

/** The taints of a device in the newest generation of its pool, which has these slices. */
export function taintsOf(ofPool: readonly ResourceSlice[], { device }: AllocatedDevice): DeviceTaint[] {
  const newest = Math.max(...ofPool.map(({ spec }) => spec.pool.generation))
  return ofPool
    .filter(({ spec }) => spec.pool.generation === newest)
    .flatMap(({ spec }) => spec.devices ?? [])
    .filter(({ name }) => name === device)
    .flatMap(({ taints = [] }) => taints)
}

/** Milliseconds since the epoch; undefined: never. */
export function evictionTime(
  claim: ResourceClaim,
  taints: (device: AllocatedDevice) => readonly DeviceTaint[],
): number | undefined {
  let first: number | undefined
  for (const device of claim.status?.allocation?.devices?.results ?? []) {
    for (const taint of taints(device)) {
      if (taint.effect !== "NoExecute") continue
      const at = toleratedUntil(taint, device.tolerations ?? [])
      if (at !== undefined && (first === undefined || at < first)) first = at
    }
  }
  return first
}

/** The shortest of the matching tolerations. One without tolerationSeconds never ends; one without an effect matches no taint. */
function toleratedUntil(taint: DeviceTaint, tolerations: readonly DeviceToleration[]): number | undefined {
  const since = taint.timeAdded === undefined ? 0 : Date.parse(taint.timeAdded)
  const matching = tolerations.filter((toleration) => tolerates(toleration, taint))
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return undefined
  const seconds = matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))
  return since + (seconds.length === 0 ? 0 : Math.min(...seconds)) * 1000
}

function tolerates({ effect, key = "", operator = "", value = "" }: DeviceToleration, taint: DeviceTaint): boolean {
  if (effect !== taint.effect) return false
  if (key !== "" && key !== taint.key) return false
  return operator === "Exists" || ((operator === "" || operator === "Equal") && value === (taint.value ?? ""))
}
