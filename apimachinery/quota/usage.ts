// The usage of an object in a ResourceQuota: pure arithmetic, shared by admission and the quota controller. Source:
// k8s.io/kubernetes/pkg/quota/v1/evaluator/core and k8s.io/component-helpers/resource.

import { isFinished } from "../core/pod-phase.ts"
import { classOf } from "../core/storage-classes.ts"
import { addAmounts, addTo, type Amounts, largest, parseAmounts, raise } from "./amounts.ts"
import { deviceUsage, isDeviceClaim, isExtended, limitsDevices, noOffers } from "./device-usage.ts"
import type { Container, KubeObject, PersistentVolumeClaim, Pod, PodSpec, Service } from "../object.ts"
import { addQuantities, compareQuantities, parseQuantity, printQuantity, roundUp, zeroQuantity } from "../quantity.ts"
import { ownValue, setOwn } from "../schema/json-object.ts"

const one = parseQuantity("1")

/** The resources of a pod's containers: the sum of containers and sidecars, or the maximum of init containers if that is greater. */
export function containerAmounts(spec: PodSpec, kind: "requests" | "limits"): Amounts {
  const sum: Amounts = {}
  for (const container of spec.containers ?? []) addTo(sum, parseAmounts(container.resources?.[kind]))
  const sidecars: Amounts = {}
  // At least the sidecars that are running by then.
  const greediest: Amounts = {}
  for (const container of spec.initContainers ?? []) {
    const own = parseAmounts(container.resources?.[kind])
    const stays = container.restartPolicy === "Always"
    if (stays) addTo(sum, own)
    for (const [name, amount] of Object.entries(own)) {
      const running = ownValue(sidecars, name) ?? zeroQuantity
      // A sum has the format of what comes first.
      const together = stays ? addQuantities(running, amount) : addQuantities(amount, running)
      if (stays) setOwn(sidecars, name, together)
      raise(greediest, name, together)
    }
  }
  return largest([sum, greediest])
}

/** The resources of a whole pod: those of its containers, unless it has its own, and its overhead. */
export function podAmounts(spec: PodSpec, kind: "requests" | "limits"): Amounts {
  const total = { ...containerAmounts(spec, kind), ...parseAmounts(spec.resources?.[kind]) }
  const overhead = parseAmounts(spec.overhead)
  if (kind === "requests") return addAmounts(total, overhead)
  const limited = (name: string): boolean =>
    compareQuantities(ownValue(total, name) ?? zeroQuantity, zeroQuantity) !== 0
  return addAmounts(total, Object.fromEntries(Object.entries(overhead).filter(([name]) => limited(name))))
}

/** The quota resource for the number of objects: "count/deployments.apps". */
function countName(group: string, resource: string): string {
  return `count/${resource}${group === "" ? "" : `.${group}`}`
}

/** Core resources that are also counted under their plain name. */
const counted = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
])

/** Resources that quotas do not count: they are not stored, or are created and deleted automatically. */
const uncounted: ReadonlySet<string> = new Set([
  "/bindings",
  "/events",
  "authorization.k8s.io/localsubjectaccessreviews",
  "events.k8s.io/events",
])

/** Whether a quota can count objects of this resource. */
export function isCountable(group: string, resource: string): boolean {
  return !uncounted.has(`${group}/${resource}`)
}

/** `offers`: needed for ResourceClaims only. */
export function usageOf(group: string, resource: string, object: KubeObject, offers = noOffers): Amounts {
  const usage: Amounts = { [countName(group, resource)]: one }
  if (isDeviceClaim(group, resource)) return { ...usage, ...deviceUsage(object, offers) }
  if (group !== "") return usage
  if (resource === "pods") return { ...usage, ...podUsage(object) }
  if (counted.has(resource)) usage[resource] = one
  if (resource === "services") return { ...usage, ...serviceUsage(object) }
  if (resource === "persistentvolumeclaims") return { ...usage, ...claimUsage(object) }
  return usage
}

/** A terminated pod uses only its place in count/pods. */
function podUsage(pod: Pod): Amounts {
  if (isFinished(pod) || isOverdue(pod)) return {}
  const spec = asHeld(pod)
  return { pods: one, ...computeUsage(podAmounts(spec, "requests"), podAmounts(spec, "limits")) }
}

type Resources = NonNullable<Container["resources"]>

/**
 * During a resize a pod counts for the maximum of requested and allocated resources; for the allocated ones if the resize is
 * infeasible.
 */
function asHeld({ spec = { containers: [] }, status }: Pod): PodSpec {
  const statuses = new Map(
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].map((one) => [one.name, one]),
  )
  const refused = status?.conditions?.some(({ type, reason }) => type === "PodResizePending" && reason === "Infeasible")
  const most = (asked: object | undefined, ...held: (object | undefined)[]): Record<string, string> => {
    const lists = (refused === true ? held : [asked, ...held]).map(parseAmounts)
    return Object.fromEntries(Object.entries(largest(lists)).map(([name, one]) => [name, printQuantity(one)]))
  }
  const hold = (container: Container): Container => {
    const held = statuses.get(container.name)
    if (held?.resources === undefined) return container
    const { requests, limits } = container.resources ?? {}
    const resources: Resources = {
      requests: most(requests, held.resources.requests, held.allocatedResources),
      limits: most(limits, held.resources.limits),
    }
    return { ...container, resources }
  }
  const sidecar = (container: Container): Container =>
    container.restartPolicy === "Always" ? hold(container) : container
  return {
    ...spec,
    containers: spec.containers.map(hold),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(sidecar) }),
  }
}

/** Deleted, with an expired grace period: its node is not responding. */
function isOverdue(pod: Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return Date.now() > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
}

function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage: Amounts = {}
  for (const name of ["cpu", "memory", "ephemeral-storage"]) {
    const request = requests[name]
    const limit = limits[name]
    if (request !== undefined) usage[name] = usage[`requests.${name}`] = request
    if (limit !== undefined) usage[`limits.${name}`] = limit
  }
  for (const [name, amount] of Object.entries(requests)) {
    if (name.startsWith("hugepages-")) usage[name] = usage[`requests.${name}`] = amount
    else if (isExtended(name)) usage[`requests.${name}`] = amount
  }
  return usage
}

function serviceUsage({ spec = {} }: Service): Amounts {
  const ports = spec.ports ?? []
  const balanced = spec.type === "LoadBalancer"
  let nodePorts = spec.type === "NodePort" || balanced ? ports.length : 0
  if (balanced && spec.allocateLoadBalancerNodePorts === false) {
    nodePorts = ports.filter((port) => (port.nodePort ?? 0) !== 0).length
  }
  return {
    "services.loadbalancers": balanced ? one : zeroQuantity,
    "services.nodeports": parseQuantity(String(nodePorts)),
  }
}

function claimUsage(claim: PersistentVolumeClaim): Amounts {
  const { spec, status } = claim
  const usage: Amounts = {}
  const asked = parseAmounts(spec?.resources?.requests)["storage"]
  const name = classOf(claim)
  const prefix = `${name}.storageclass.storage.k8s.io/`
  if (name !== "") usage[`${prefix}persistentvolumeclaims`] = one
  if (asked !== undefined) {
    // A claim whose requested size was increased and then decreased keeps its allocated size.
    const allocated = parseAmounts(status?.allocatedResources)["storage"] ?? zeroQuantity
    const storage = roundUp(compareQuantities(allocated, asked) > 0 ? allocated : asked)
    usage["requests.storage"] = storage
    if (name !== "") usage[`${prefix}requests.storage`] = storage
  }
  return usage
}

const podNames = new Set([
  "pods",
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
])

const serviceNames = new Set(["services.loadbalancers", "services.nodeports"])
const claimName = /^requests\.storage$|\.storageclass\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/

/** The names in a quota that refer to the resource. `offers`: needed for ResourceClaims only. */
export function quotaNamesOf(group: string, resource: string, names: readonly string[], offers = noOffers): string[] {
  const own = countName(group, resource)
  if (!isCountable(group, resource)) return []
  return names.filter((name) => {
    if (name === own) return true
    if (isDeviceClaim(group, resource)) return limitsDevices(name, offers)
    if (group !== "") return false
    if (resource === "pods") {
      return (
        podNames.has(name) ||
        name.startsWith("hugepages-") ||
        name.startsWith("requests.hugepages-") ||
        (name.startsWith("requests.") && isExtended(name.slice("requests.".length)))
      )
    }
    if (resource === "services" && serviceNames.has(name)) return true
    if (resource === "persistentvolumeclaims" && claimName.test(name)) return true
    return counted.has(resource) && name === resource
  })
}
