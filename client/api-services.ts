// APIServices as objects: group versions that a server of the tenant serves, behind a Service of the tenant.

import type { KubeObject } from "../apimachinery/object.ts"
import type { Resource } from "./rest.ts"

interface APIServiceCondition {
  type: string
  status?: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface APIServiceSpec {
  group?: string
  version?: string
  groupPriorityMinimum?: number
  versionPriority?: number
  /** Absent for this server's own group versions. */
  service?: { name?: string; namespace?: string; port?: number } | null
  insecureSkipTLSVerify?: boolean
  caBundle?: string
}

export type APIService = KubeObject & {
  spec?: APIServiceSpec
  status?: { conditions?: APIServiceCondition[] | null }
}

export const apiServices: Resource = {
  group: "apiregistration.k8s.io",
  version: "v1",
  resource: "apiservices",
  namespaced: false,
}

export const defaultPort = 443

/** Marks those that the server makes for its own group versions. Without it, an APIService is its users' own. */
export const managedLabel = "kube-aggregator.kubernetes.io/automanaged"

export const isManaged = ({ metadata }: APIService): boolean => metadata.labels?.[managedLabel] !== undefined

export function isRemote({ spec }: APIService): boolean {
  return spec?.service !== undefined && spec.service !== null
}

function availableCondition({ status }: APIService): APIServiceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Available")
}

/** Of this server's own group versions. */
export const localCondition = { status: "True", reason: "Local", message: "Local APIServices are always available" }

/** With that condition in the place of the former one. undefined: it has it. `now`: the time if the status changes. */
export function withAvailability(
  service: APIService,
  { status, reason, message }: Required<Pick<APIServiceCondition, "status" | "reason" | "message">>,
  now: string,
): APIService | undefined {
  const before = availableCondition(service)
  if (before?.status === status && before.reason === reason && before.message === message) return undefined
  const since = before?.status === status ? before.lastTransitionTime : now
  const condition: APIServiceCondition = { type: "Available", status, reason, message }
  if (since !== undefined) condition.lastTransitionTime = since
  const all = service.status?.conditions ?? []
  const conditions =
    before === undefined ? [...all, condition] : all.map((each) => (each === before ? condition : each))
  return { ...service, status: { ...service.status, conditions } }
}

export const isAvailable = (service: APIService): boolean => availableCondition(service)?.status === "True"
