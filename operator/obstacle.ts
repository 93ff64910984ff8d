// What keeps a VirtualCluster from having its tenant until a user resolves it.

import { adoptAnnotation } from "../apimachinery/tenancy.ts"
import type { Tenant } from "../client/tenants.ts"
import type { Phase } from "./types.ts"

/** Reported in the status, and checked again periodically. */
export class Obstacle extends Error {
  readonly phase: Phase
  readonly reason: string

  constructor(phase: Phase, reason: string, message: string) {
    super(message)
    this.name = "Obstacle"
    this.phase = phase
    this.reason = reason
  }
}

/** `by`: the VirtualCluster whose tenant would have the name of this one. */
export function nameTaken({ name, virtualCluster }: Tenant, by: Tenant["virtualCluster"]): Obstacle {
  const owner = `${virtualCluster.namespace}/${virtualCluster.name}`
  const message = `there is a tenant "${name}" already: that of VirtualCluster "${owner}"`
  const isGone = virtualCluster.namespace === by.namespace && virtualCluster.name === by.name
  if (!isGone) return new Obstacle("Error", "NameTaken", message)
  const advice = `which is gone; to have it, annotate this one with ${adoptAnnotation}=${virtualCluster.uid}`
  return new Obstacle("Error", "NameTaken", `${message}, ${advice}`)
}

export function namespaceTaken(message: string): Obstacle {
  return new Obstacle("Error", "NamespaceTaken", message)
}

export function noSuchVersion(name: string): Obstacle {
  const message = `there is no ClusterVersion "${name}"; "default" always exists`
  return new Obstacle("Pending", "ClusterVersionNotFound", message)
}
