// The usage of a ResourceClaim in a ResourceQuota: devices by DeviceClass, and by the extended resource that a class offers, which
// pods request without a claim. Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core/resource_claims.go, KEP-5004.

import { addTo, type Amounts, largest } from "./amounts.ts"
import { controllerOf, type KubeObject, type Pod } from "../object.ts"
import { compareQuantities, parseQuantity, subtractQuantities, zeroQuantity } from "../quantity.ts"
import { ownValue } from "../schema/json-object.ts"

export const isDeviceClaim = (group: string, resource: string): boolean =>
  group === "resource.k8s.io" && resource === "resourceclaims"

/** A request for one class. */
interface DeviceRequest {
  deviceClassName?: string
  allocationMode?: string
  count?: number
}

/** v1beta1 requests contain the fields that are in `exactly` in later versions. */
type AnyDeviceRequest = DeviceRequest & { exactly?: DeviceRequest; firstAvailable?: DeviceRequest[] }

const devicesSuffix = ".deviceclass.resource.k8s.io/devices"
/** Maximum number of devices for a request for all devices of a class. */
const maxAllocatedDevices = 32

/** Devices by class; of alternatives, the maximum for each class. */
function devicesByClass(object: KubeObject): Amounts {
  const { spec } = object as KubeObject & { spec?: { devices?: { requests?: AnyDeviceRequest[] } } }
  const usage: Amounts = {}
  for (const request of spec?.devices?.requests ?? []) {
    const { firstAvailable = [], exactly = request } = request
    const alternatives = firstAvailable.length > 0 ? firstAvailable : [exactly]
    addTo(usage, largest(alternatives.map(devicesOf)))
  }
  return usage
}

function devicesOf({ deviceClassName = "", allocationMode = "ExactCount", count = 1 }: DeviceRequest): Amounts {
  const devices = allocationMode === "All" ? maxAllocatedDevices : allocationMode === "ExactCount" ? count : 0
  return deviceClassName === "" ? {} : { [`${deviceClassName}${devicesSuffix}`]: parseQuantity(devices) }
}

const requests = "requests."
/** Each class offers a resource of this name, besides the one that it may name itself. */
const implicitPrefix = "deviceclass.resource.kubernetes.io/"
const ofPodAnnotation = "resource.kubernetes.io/extended-resource-claim"

/** The other objects that determine what a claim counts for. */
export interface DeviceOffers {
  /** The extended resources that DeviceClasses offer by a name of their own, "" if none, by class. */
  classes: ReadonlyMap<string, string>
  /** The amounts that pods count for already, by the name of the claim that was created for their extended resources. */
  counted: ReadonlyMap<string, Amounts>
}

export const noOffers: DeviceOffers = { classes: new Map(), counted: new Map() }

/** Whether the name is that of an extended resource, so that {@link DeviceOffers} are needed. */
export function isExtended(name: string): boolean {
  if (name.startsWith(implicitPrefix)) return true
  return name.includes("/") && !name.includes("kubernetes.io/")
}

export function mayNeedOffers(names: readonly string[]): boolean {
  return names.some((name) => name.startsWith(requests) && isExtended(name.slice(requests.length)))
}

/** The claim that the scheduler has created for the pod's extended resources. The types of the client package lack the field. */
export function extendedClaimOf({ status }: Pod): string | undefined {
  const known = status as { extendedResourceClaimStatus?: { resourceClaimName?: string } } | undefined
  return known?.extendedResourceClaimStatus?.resourceClaimName
}

type DeviceClass = KubeObject & { spec?: { extendedResourceName?: string } }

/** `claims` and `pods` of one namespace; `usageOfPod`: what a pod counts for. */
export function deviceOffers(
  classes: readonly DeviceClass[],
  claims: readonly KubeObject[],
  pods: readonly Pod[],
  usageOfPod: (pod: Pod) => Amounts,
): DeviceOffers {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]))
  const counted = new Map<string, Amounts>()
  const unnamed = new Map<Pod, KubeObject>()
  for (const claim of claims) {
    const pod = podOf(claim, byName)
    if (pod === undefined) continue
    const named = extendedClaimOf(pod)
    if (named === undefined) unnamed.set(pod, earlier(unnamed.get(pod), claim))
    else if (named === claim.metadata.name) counted.set(named, usageOfPod(pod))
  }
  // The status may not have been written yet; there is one such claim per pod.
  for (const [pod, { metadata }] of unnamed) counted.set(metadata.name ?? "", usageOfPod(pod))
  return {
    classes: new Map(classes.map(({ metadata, spec }) => [metadata.name ?? "", spec?.extendedResourceName ?? ""])),
    counted,
  }
}

function podOf(claim: KubeObject, pods: ReadonlyMap<string | undefined, Pod>): Pod | undefined {
  if (ownValue(claim.metadata.annotations, ofPodAnnotation) !== "true") return undefined
  const owner = controllerOf(claim)
  if (owner?.kind !== "Pod" || owner.apiVersion !== "v1") return undefined
  const pod = pods.get(owner.name)
  return pod?.metadata.uid === owner.uid ? pod : undefined
}

function earlier(one: KubeObject | undefined, other: KubeObject): KubeObject {
  if (one === undefined) return other
  const key = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`
  return key(other) < key(one) ? other : one
}

export function deviceUsage(claim: KubeObject, { classes, counted }: DeviceOffers): Amounts {
  const usage = devicesByClass(claim)
  const ofPod = counted.get(claim.metadata.name ?? "") ?? {}
  for (const [name, amount] of Object.entries(usage)) {
    const deviceClass = name.slice(0, -devicesSuffix.length)
    const own = classes.get(deviceClass) ?? ""
    for (const resource of own === "" ? [implicitPrefix + deviceClass] : [implicitPrefix + deviceClass, own]) {
      const rest = subtractQuantities(amount, ownValue(ofPod, requests + resource) ?? zeroQuantity)
      if (compareQuantities(rest, zeroQuantity) > 0) usage[requests + resource] = rest
    }
  }
  return usage
}

/** Whether the name in a quota limits claims, besides their number. */
export function limitsDevices(name: string, { classes }: DeviceOffers): boolean {
  if (name.endsWith(devicesSuffix)) return true
  if (!name.startsWith(requests)) return false
  const resource = name.slice(requests.length)
  if (resource.startsWith(implicitPrefix)) return classes.has(resource.slice(implicitPrefix.length))
  return isExtended(resource) && [...classes.values()].includes(resource)
}
