// What a tenant's write of a Service changes in super's, and what the addresses that super assigned change in the tenant's. For
// service-addresses.ts.

import { equalIgnoringNulls } from "../apimachinery/equality.ts"
import type { Service } from "../apimachinery/object.ts"
import type { StatusError } from "../apimachinery/status.ts"
import { syncerLimits } from "./options.ts"
import { samePort, withoutRefused } from "./resources/refused-numbers.ts"
import { specChange, withoutExternalIPs } from "./resources/service.ts"

type Spec = NonNullable<Service["spec"]>

/**
 * The change of super's Service for a tenant's write to `before`. External IPs are left to the syncer, which decides whether the
 * tenant may have them: super does not assign any.
 */
export function changeOf(
  wanted: Service,
  present: Service,
  before: Service | undefined,
): Record<string, unknown> | undefined {
  const none = {} as Spec
  const there = present.spec ?? none
  const spec = specChange(withoutExternalIPs(wanted.spec ?? none), withoutExternalIPs(there))
  const families = familyChange(wanted.spec ?? none, there, before?.spec ?? none)
  return families === undefined ? spec : { ...spec, ...families }
}

/**
 * The IP families that the write changes: super's present ones may differ from the tenant's. The first address and family are kept,
 * and super itself removes the second if the policy does not permit it.
 */
function familyChange(wanted: Spec, there: Spec, before: Spec): Partial<Spec> | undefined {
  const change: Partial<Spec> = {}
  const { ipFamilyPolicy } = wanted
  if (![undefined, before.ipFamilyPolicy, there.ipFamilyPolicy].includes(ipFamilyPolicy)) {
    Object.assign(change, { ipFamilyPolicy })
  }
  for (const field of ["ipFamilies", "clusterIPs"] as const) {
    const list = wanted[field] ?? []
    if (list.length <= (before[field] ?? []).length) continue
    const first = there[field]?.[0]
    const asked = first === undefined ? list : [first, ...list.slice(1)]
    if (equalIgnoringNulls(asked, there[field])) continue
    change[field] = asked
    if (field === "clusterIPs" && asked[0] !== undefined) change.clusterIP = asked[0]
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/**
 * What is left of `asked`, a new copy or a change of `present`, without the numbers that super has refused, if they are those that the tenant's
 * write to `before` leaves as they were: somebody has taken them while the copy did not have them. undefined: the write asks for them.
 */
export function withoutTaken(
  asked: Spec,
  error: StatusError,
  present: Spec | undefined,
  before: Spec,
): Spec | undefined {
  const rest = withoutRefused(asked, error, present)
  if (rest === undefined) return undefined
  const isKept = (field: keyof Spec): boolean => equalIgnoringNulls(asked[field], before[field])
  if (rest.clusterIP !== asked.clusterIP || rest.clusterIPs !== asked.clusterIPs) {
    // Nobody takes families: those that the write asks for stay, and if it is they that are refused, nothing else can be given up for them.
    const { clusterIP, clusterIPs = [], ...others } = asked
    const had = before.clusterIPs ?? []
    if (clusterIP !== before.clusterIP || !clusterIPs.every((one) => had.includes(one))) return undefined
    return rest.clusterIP === clusterIP ? rest : others
  }
  if (rest.healthCheckNodePort !== asked.healthCheckNodePort && !isKept("healthCheckNodePort")) return undefined
  const refused = (asked.ports ?? []).filter(({ nodePort }, index) => rest.ports?.[index]?.nodePort !== nodePort)
  const isBefore = refused.every((port) => samePort(port, before.ports ?? [])?.nodePort === port.nodePort)
  return isBefore ? rest : undefined
}

/** Marks the change as ahead of the tenant's write, so that the syncer does not revert it before it has seen that write. */
export const markOf = (current: Service): string =>
  `${current.metadata.resourceVersion ?? ""} ${new Date().toISOString()}`

/** The write that has made the copy may still be in progress. */
export function isYoung({ metadata }: Service): boolean {
  return Date.now() - Date.parse(metadata.creationTimestamp ?? "") < syncerLimits.claimGraceMs
}

/** Copies the addresses that super assigned to the tenant's object. */
export function copyAddresses(service: Service, made: Service): void {
  const spec = service.spec
  const given = made.spec
  if (spec === undefined || given === undefined) return
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"] as const) {
    if (given[field] !== undefined) Object.assign(spec, { [field]: structuredClone(given[field]) })
  }
  spec.ports?.forEach((port, index) => {
    const same =
      given.ports?.[index]?.port === port.port
        ? given.ports[index]
        : given.ports?.find((other) => other.port === port.port && other.protocol === port.protocol)
    if (same?.nodePort !== undefined) port.nodePort = same.nodePort
  })
}
