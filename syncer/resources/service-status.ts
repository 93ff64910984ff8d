// What super says of a Service, in the tenant's. All of that is super's as long as its load balancer has an address there; otherwise a controller
// of the tenant may say something, too, and what super has given is recorded, so that it can be taken back: conditions beside them, in the
// tenant's Service, where the record lasts as long as they do, also if the copy is made anew.

import type { Service } from "../../apimachinery/object.ts"
import { balancedAnnotation, givenConditionsAnnotation, superNamespace } from "../../apimachinery/tenancy.ts"
import { scrubMessages } from "../../apimachinery/tenant-texts.ts"
import type { Tenant } from "../../client/tenants.ts"
import { changedConditions, mergeDiff } from "../conversion/equality.ts"
import type { Patch } from "./resource-sync.ts"

type Status = NonNullable<Service["status"]>

/** The change of the tenant's status, and of the record in its annotations: servers let both be written at once. */
export function statusChange(object: Service, superObject: Service, tenant: Tenant): Patch | undefined {
  const namespace = object.metadata.namespace ?? ""
  const names = { tenant, namespace, superNamespace: superNamespace(tenant.clusterKey, namespace) }
  const wanted = normalStatus(scrubMessages(superObject.status ?? {}, names))
  const before = normalStatus(object.status)
  const isSupers = isBalanced(superObject) || isMarkedBalanced(superObject)
  const status = isSupers ? mergeDiff(before, wanted) : conditionsChange(object, before, wanted)
  const given = printTypes(wanted)
  const marked = markOf(object)
  if (status === undefined && given === marked) return undefined
  const annotations = given === marked ? undefined : { [givenConditionsAnnotation]: given ?? null }
  // What is taken back or given otherwise in between would not be in the record.
  const isRecorded = given !== undefined || marked !== undefined
  return {
    patch: {
      ...(isRecorded ? { metadata: { resourceVersion: object.metadata.resourceVersion, annotations } } : {}),
      ...(status === undefined ? {} : { status }),
    },
    subresource: "status",
    ...(isSupers ? {} : { strategic: true }),
  }
}

/** Others than super's stay. */
function conditionsChange(object: Service, before: Status, wanted: Status): Record<string, unknown> | undefined {
  const [here, there] = [typesOf(before), typesOf(wanted)]
  const given = markOf(object)?.split(",") ?? []
  const takenBack = given.filter((type) => here.includes(type) && !there.includes(type))
  const conditions = [
    ...changedConditions(before.conditions ?? [], wanted.conditions ?? []),
    ...takenBack.map((type) => ({ type, $patch: "delete" })),
  ]
  return conditions.length === 0 ? undefined : { conditions }
}

/** Annotations of the copy. */
export const balancedMark = (superObject: Service): Record<string, string> =>
  isBalanced(superObject) ? { [balancedAnnotation]: "true" } : {}

/** What the tenant shows from now on is its own, which must not be what it was given last and has not been seen showing yet. */
export function unmarking(object: Service, superObject: Service): Patch | undefined {
  if (!isMarkedBalanced(superObject) || isBalanced(superObject) || isBalanced(object)) return undefined
  return { patch: { metadata: { annotations: { [balancedAnnotation]: null } } }, isOfSeen: true }
}

/** It shows addresses of a load balancer. */
const isBalanced = ({ status }: Service): boolean => (status?.loadBalancer?.ingress ?? []).length > 0

const isMarkedBalanced = ({ metadata }: Service): boolean => metadata.annotations?.[balancedAnnotation] !== undefined

const typesOf = ({ conditions = [] }: Status): string[] => conditions.map(({ type }) => type)

const markOf = ({ metadata }: Service): string | undefined => metadata.annotations?.[givenConditionsAnnotation]

/** Types of conditions contain no commas. */
const printTypes = (status: Status): string | undefined => typesOf(status).sort().join(",") || undefined

/** Servers differ in whether they store an empty loadBalancer. */
function normalStatus(status: Service["status"]): Status {
  const { loadBalancer, ...rest } = status ?? {}
  return loadBalancer === undefined || Object.keys(loadBalancer).length === 0 ? rest : { ...rest, loadBalancer }
}
