// What super says of a Service, in the tenant's. All of that is super's as long as its load balancer has an address there; otherwise a controller
// of the tenant may say something, too, and what super has given is recorded on the copy, so that it can be taken back.

import type { Service } from "../../apimachinery/object.ts"
import { balancedAnnotation, givenConditionsAnnotation, superNamespace } from "../../apimachinery/tenancy.ts"
import { scrubMessages } from "../../apimachinery/tenant-texts.ts"
import type { Tenant } from "../../client/tenants.ts"
import { changedConditions, mergeDiff } from "../conversion/equality.ts"
import type { Patch } from "./resource-sync.ts"

type Status = NonNullable<Service["status"]>

/** The change of the tenant's status. */
export function statusChange(object: Service, superObject: Service, tenant: Tenant): Patch | undefined {
  const namespace = object.metadata.namespace ?? ""
  const names = { tenant, namespace, superNamespace: superNamespace(tenant.clusterKey, namespace) }
  const wanted = normalStatus(scrubMessages(superObject.status ?? {}, names))
  const before = normalStatus(object.status)
  if (isBalanced(superObject) || isMarkedBalanced(superObject)) {
    const status = mergeDiff(before, wanted)
    return status === undefined ? undefined : { patch: { status }, subresource: "status" }
  }
  const [here, there] = [typesOf(object), typesOf(superObject)]
  const takenBack = givenTypes(superObject).filter((type) => here.includes(type) && !there.includes(type))
  const conditions = [
    ...changedConditions(before.conditions ?? [], wanted.conditions ?? []),
    ...takenBack.map((type) => ({ type, $patch: "delete" })),
  ]
  return conditions.length === 0
    ? undefined
    : { patch: { status: { conditions } }, subresource: "status", strategic: true }
}

/** Annotations of the copy: what super has given, or is about to. */
export function givenMarks(superObject: Service): Record<string, string> {
  const types = new Set([...givenTypes(superObject), ...typesOf(superObject)])
  return {
    ...(isBalanced(superObject) ? { [balancedAnnotation]: "true" } : {}),
    ...(types.size > 0 ? { [givenConditionsAnnotation]: printTypes(types) } : {}),
  }
}

/**
 * Removes the marks of what neither has any more: what the tenant shows from now on is its own, which must not be what it was given last and
 * has not been seen showing yet.
 */
export function unmarking(object: Service, superObject: Service): Patch | undefined {
  const annotations: Record<string, string | null> = {}
  if (isMarkedBalanced(superObject) && !isBalanced(superObject) && !isBalanced(object))
    annotations[balancedAnnotation] = null
  const shown = new Set([...typesOf(object), ...typesOf(superObject)])
  const given = givenTypes(superObject)
  const left = given.filter((type) => shown.has(type))
  if (left.length < given.length)
    annotations[givenConditionsAnnotation] = printTypes(new Set([...left, ...typesOf(superObject)])) || null
  return Object.keys(annotations).length === 0 ? undefined : { patch: { metadata: { annotations } }, isOfSeen: true }
}

/** It shows addresses of a load balancer. */
const isBalanced = ({ status }: Service): boolean => (status?.loadBalancer?.ingress ?? []).length > 0

const isMarkedBalanced = ({ metadata }: Service): boolean => metadata.annotations?.[balancedAnnotation] !== undefined

const typesOf = ({ status }: Service): string[] => (status?.conditions ?? []).map(({ type }) => type)

/** Types of conditions contain no commas. */
const givenTypes = ({ metadata }: Service): string[] =>
  (metadata.annotations?.[givenConditionsAnnotation] ?? "").split(",").filter((type) => type !== "")

const printTypes = (types: ReadonlySet<string>): string => [...types].sort().join(",")

/** Servers differ in whether they store an empty loadBalancer. */
function normalStatus(status: Service["status"]): Status {
  const { loadBalancer, ...rest } = status ?? {}
  return loadBalancer === undefined || Object.keys(loadBalancer).length === 0 ? rest : { ...rest, loadBalancer }
}
