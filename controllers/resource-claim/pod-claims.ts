// The ResourceClaims that a pod needs. Pure. Source: k8s.io/dynamic-resource-allocation/resourceclaim.

import { extendedClaimOf } from "../../apimachinery/quota/device-usage.ts"
import { controllerOf, type Pod, type ResourceClaim } from "../../apimachinery/object.ts"
import { byName } from "../../apimachinery/repeats.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"

export type PodClaim = NonNullable<NonNullable<Pod["spec"]>["resourceClaims"]>[number]

export type Wanted =
  /** The claim has not been created yet. */
  | { state: "missing" }
  /** No claim is needed. */
  | { state: "none" }
  /** `generated`: created from a template for this pod only. */
  | { state: "named"; name: string; generated: boolean }

/** Tells what each of the pod's claims wants. */
export function wantedBy({ status }: Pod): (claim: PodClaim) => Wanted {
  const made = byName(status?.resourceClaimStatuses ?? [])
  return ({ name, resourceClaimName, resourceClaimTemplateName }) => {
    if (resourceClaimName !== undefined) return { state: "named", name: resourceClaimName, generated: false }
    if (resourceClaimTemplateName === undefined) return { state: "none" }
    const found = made.get(name)
    if (found === undefined) return { state: "missing" }
    const { resourceClaimName: madeName } = found
    return madeName === undefined ? { state: "none" } : { state: "named", name: madeName, generated: true }
  }
}

export const claimsOf = ({ spec }: Pod): readonly PodClaim[] => spec?.resourceClaims ?? []

/** Names of the pod's claims, including the one that the scheduler generates for extended resources. */
export function claimNames(pod: Pod): string[] {
  const extended = extendedClaimOf(pod)
  const wantedOf = wantedBy(pod)
  const names = claimsOf(pod).flatMap((each) => {
    const wanted = wantedOf(each)
    return wanted.state === "named" ? [wanted.name] : []
  })
  return extended === undefined ? names : [...names, extended]
}

/** Of the templates of the pod's claims, each once. */
export function templateNames(pod: Pod): readonly string[] {
  const names = claimsOf(pod).flatMap(({ resourceClaimTemplateName: name }) => (name === undefined ? [] : [name]))
  return [...new Set(names)]
}

export const isFor = (claim: ResourceClaim, { metadata }: Pod): boolean =>
  controllerOf(claim)?.uid === metadata.uid && claim.metadata.namespace === metadata.namespace

export const isReservedFor = ({ status }: ResourceClaim, { metadata }: Pod): boolean =>
  (status?.reservedFor ?? []).some(({ uid }) => uid === metadata.uid)

/** Keeps an allocated claim until it is released. */
export const finalizer = "resource.kubernetes.io/delete-protection"
/** As many as a claim's status may name. */
const mostConsumers = 256

export function needsReservation(claim: ResourceClaim, pod: Pod): boolean {
  const { allocation, reservedFor = [] } = claim.status ?? {}
  if (allocation === undefined || isReservedFor(claim, pod)) return false
  // It is released at once, and with it the allocation. Upstream goes on for ever with those that stay allocated.
  if (isFinished(pod)) return reservedFor.length === 0 && (claim.metadata.finalizers ?? []).includes(finalizer)
  return reservedFor.length < mostConsumers
}

/**
 * A claim is to be made or reserved. Upstream asks this first, so that a claim that was taken from its pod is only replaced when something
 * else is to be done. A pod that has finished is treated as others, but what was made for it and is gone is not made again.
 */
export function needsWork(pod: Pod, find: (name: string) => ResourceClaim | undefined): boolean {
  const wantedOf = wantedBy(pod)
  return claimsOf(pod).some((podClaim) => {
    const wanted = wantedOf(podClaim)
    if (wanted.state !== "named") return wanted.state === "missing"
    const claim = find(wanted.name)
    if (claim === undefined) return wanted.generated && !isFinished(pod)
    if (wanted.generated && !isFor(claim, pod)) return false
    return (pod.spec?.nodeName ?? "") !== "" && needsReservation(claim, pod)
  })
}

/** The pod does not run any more, or never will. */
export const needsNoClaims = (pod: Pod): boolean =>
  isFinished(pod) || (isTerminating(pod) && (pod.spec?.nodeName ?? "") === "")

/** Leaves room for a hyphen and five characters; both names are shortened in proportion. */
export function generatedPrefix(pod: string, claim: string): string {
  const most = 57
  const whole = `${pod}-${claim}-`
  if (whole.length <= most) return whole
  const part = (text: string): string => text.slice(0, Math.floor((text.length * most) / whole.length))
  return `${part(pod)}-${part(claim)}`
}
