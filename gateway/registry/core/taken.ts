// What an object of a tenant takes of the super cluster, under the names of ResourceQuota. Pure.

import { isFinished } from "../../../apimachinery/core/pod-phase.ts"
import type { KubeObject, Pod, Service } from "../../../apimachinery/object.ts"
import { isHeadless, needsClusterIP, needsNodePorts } from "./services/needs.ts"

export type TakenName = "pods" | "services" | "services.nodeports" | "namespaces" | "persistentvolumeclaims"

export type Taken = Partial<Record<TakenName, number>>

/** Pods that have ended take nothing any more. */
export function podsTaken(object: KubeObject): Taken {
  return isFinished(object as Pod) ? {} : { pods: 1 }
}

export const namespacesTaken = (): Taken => ({ namespaces: 1 })

export const claimsTaken = (): Taken => ({ persistentvolumeclaims: 1 })

/** Services that have an address, and all node ports, also those that a load balancer was given explicitly. */
export function servicesTaken(object: KubeObject): Taken {
  const { spec = {} } = object as Service
  if (!needsClusterIP(spec)) return {}
  const { ports = [], healthCheckNodePort = 0 } = spec
  const given = ports.filter(({ nodePort = 0 }) => nodePort !== 0).length
  const nodePorts = (needsNodePorts(spec) ? ports.length : given) + (healthCheckNodePort === 0 ? 0 : 1)
  const isAddressed = !isHeadless(spec) && spec.clusterIP !== "None"
  return { services: isAddressed ? 1 : 0, "services.nodeports": nodePorts }
}
