// Charges writes to the namespace's quotas before they are stored: the usage in a quota's status is incremented by a
// compare-and-swap that fails if it would exceed the limit, so concurrent writes cannot exceed it together. The status says what is
// limited: a controller copies the limits there once it has counted what they limit, and decrements the usage (deletes, failed
// writes). Runs last. Source: k8s.io/apiserver/pkg/admission/plugin/resourcequota.

import {
  type DeviceOffers,
  deviceOffers,
  isDeviceClaim,
  mayNeedOffers,
  noOffers,
} from "../../../apimachinery/quota/device-usage.ts"
import { FairPlaces } from "../../../apimachinery/fair-places.ts"
import type { KubeObject, Pod, ResourceQuota } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import {
  addQuantities,
  compareQuantities,
  printQuantity,
  subtractQuantities,
  zeroQuantity,
} from "../../../apimachinery/quantity.ts"
import { hasDeadline, quotaMatches } from "../../../apimachinery/quota/scopes.ts"
import { addAmounts, type Amounts, parseAmounts } from "../../../apimachinery/quota/amounts.ts"
import { isCountable, quotaNamesOf, usageOf } from "../../../apimachinery/quota/usage.ts"
import { deviceClasses, pods, resourceClaims, resourceQuotas } from "../../../client/resources.ts"
import type { RequestContext } from "../../request/context.ts"
import {
  builtIn,
  internalWrite,
  onBehalf,
  serverUser,
  withoutAdmission,
} from "../../registry/generic/internal-write.ts"
import type { AdmitFunctions } from "../../registry/rest.ts"
import { admitOwnUpdate } from "../admit.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { listAll } from "./lookup.ts"
import { missingRequirements } from "./quota-requirements.ts"
import { refuse } from "./refuse.ts"

export class ResourceQuotaPlugin implements AdmissionPlugin {
  /** Serializes writes per namespace, so that they do not cause each other's swaps to fail. */
  readonly #turns = new FairPlaces<string>({ all: Infinity, each: 1 })

  concerns(attributes: AdmissionAttributes): boolean {
    return attributes.namespace !== "" && attributes.object !== undefined && isCounted(attributes)
  }

  async validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const { namespace, object, resource } = attributes
    if (object === undefined) return
    const all = await listAll<ResourceQuota>(ctx, resourceQuotas, namespace)
    if (all.length === 0) return
    const { group, resource: plural } = resource
    const names = (): string[] => all.flatMap((quota) => Object.keys(hardOf(quota)))
    const offers = isDeviceClaim(group, plural) ? await offersIn(ctx, namespace, names(), object) : noOffers
    const quotas: ResourceQuota[] = []
    for (const quota of all) {
      if (quotaMatches(quota, group, plural, object, offers)) quotas.push(quota)
      await ctx.pause?.()
    }
    if (quotas.length === 0) return
    await this.#turns.run(namespace, () => reserveAll(ctx, attributes, object, quotas, offers))
  }
}

function isCounted({ resource, operation, subresource, object, current }: AdmissionAttributes): boolean {
  if (!isCountable(resource.group, resource.resource)) return false
  if (operation !== "CREATE" && operation !== "UPDATE") return false
  const isPod = resource.group === "" && resource.resource === "pods"
  if (isPod && subresource === "resize") return operation === "UPDATE"
  const claims = resource.group === "" && resource.resource === "persistentvolumeclaims"
  // The status of a claim contains its actual capacity and class.
  if (subresource !== "") return claims && subresource === "status"
  if (operation === "CREATE") return true
  if (isPod) return current !== undefined && object !== undefined && hasDeadline(object) !== hasDeadline(current)
  return claims || (resource.group === "" && resource.resource === "services")
}

async function reserveAll(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  object: KubeObject,
  quotas: readonly ResourceQuota[],
  offers: DeviceOffers,
): Promise<void> {
  const { group, resource } = attributes.resource
  // What any of them requires is missed before what any of them limits is counted.
  const charges: { quota: ResourceQuota; amounts: Amounts }[] = []
  // Once for all quotas: the object may be large, and the quotas many.
  const usage = usageOf(group, resource, object, offers)
  const before = attributes.current === undefined ? {} : usageOf(group, resource, attributes.current, offers)
  for (const quota of quotas) {
    const names = quotaNamesOf(group, resource, Object.keys(hardOf(quota)), offers)
    const missing = group === "" && resource === "pods" ? missingRequirements(object as Pod, names) : undefined
    if (missing !== undefined) throw refuse(attributes, `failed quota: ${quota.metadata.name}: ${missing}`)
    requireUsage(attributes, quota, names)
    const counted = isCountedBefore(attributes, quota, offers) ? before : {}
    charges.push({ quota, amounts: increase(usage, counted, names) })
    await ctx.pause?.()
  }
  const reserved: typeof charges = []
  try {
    for (const { quota, amounts } of charges) {
      if (Object.keys(amounts).length === 0) continue
      await reserve(ctx, attributes, quota, amounts)
      if (!attributes.dryRun) reserved.push({ quota, amounts })
    }
  } catch (error) {
    // One quota was exceeded: releases the amounts charged to the others.
    for (const { quota, amounts } of reserved) await giveBack(ctx, quota, amounts)
    throw error
  }
}

/** What somebody has removed from the status is known again once the controller has counted it. */
function requireUsage(attributes: AdmissionAttributes, quota: ResourceQuota, names: readonly string[]): void {
  const used = quota.status?.used ?? {}
  if (names.every((name) => Object.hasOwn(used, name))) return
  const resources = names.toSorted().join(",")
  throw refuse(attributes, `status unknown for quota: ${quota.metadata.name}, resources: ${resources}`)
}

/** An update of an object that the quota already counts adds only the difference. */
function isCountedBefore(
  { resource: { group, resource }, current }: AdmissionAttributes,
  quota: ResourceQuota,
  offers: DeviceOffers,
): boolean {
  return current !== undefined && quotaMatches(quota, group, resource, current, offers)
}

/** Of the quota's usage. */
function increase(usage: Amounts, before: Amounts, names: readonly string[]): Amounts {
  const delta: Amounts = {}
  for (const name of names) {
    const amount = subtractQuantities(usage[name] ?? zeroQuantity, before[name] ?? zeroQuantity)
    if (compareQuantities(amount, zeroQuantity) > 0) delta[name] = amount
  }
  return delta
}

async function reserve(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  quota: ResourceQuota,
  amounts: Amounts,
): Promise<void> {
  const behalf = onUsage(ctx, quota)
  const admit = admitOwnUpdate(behalf, builtIn(ctx, resourceQuotas).definition, attributes.dryRun)
  await changeUsage(behalf, attributes.dryRun, admit, (current) => {
    const hard = parseAmounts(hardOf(current))
    const used = parseAmounts(current.status?.used)
    const limited = Object.fromEntries(Object.entries(amounts).filter(([name]) => Object.hasOwn(hard, name)))
    const names = Object.keys(limited)
    requireUsage(attributes, current, names)
    // A status reports what is already so: its amounts are charged, but never too many.
    const bounded = attributes.subresource === "status" ? [] : names
    const exceeded = bounded.sort().filter((name) => {
      const wanted = addQuantities(used[name] ?? zeroQuantity, limited[name] ?? zeroQuantity)
      return compareQuantities(wanted, hard[name] ?? zeroQuantity) > 0
    })
    if (exceeded.length > 0) {
      const print = (list: Amounts): string =>
        exceeded.map((name) => `${name}=${printQuantity(list[name] ?? zeroQuantity)}`).join(",")
      throw refuse(
        attributes,
        `exceeded quota: ${quota.metadata.name}, requested: ${print(amounts)}, used: ${print(used)}, limited: ${print(hard)}`,
      )
    }
    return addAmounts(used, limited)
  })
}

async function giveBack(ctx: RequestContext, quota: ResourceQuota, amounts: Amounts): Promise<void> {
  await changeUsage(onUsage(ctx, quota), false, withoutAdmission, (current) => {
    const used = parseAmounts(current.status?.used)
    for (const [name, amount] of Object.entries(amounts)) {
      if (used[name] !== undefined) used[name] = subtractQuantities(used[name], amount)
    }
    return used
  })
}

/** For a write of the quota's usage. */
function onUsage(ctx: RequestContext, { metadata: { namespace = "", name = "" } }: ResourceQuota): RequestContext {
  return onBehalf(ctx, { ...resourceQuotas, namespace, name, subresource: "status" }, serverUser)
}

/** A quota that is gone limits nothing any more. */
async function changeUsage(
  ctx: RequestContext,
  dryRun: boolean,
  admit: AdmitFunctions,
  change: (current: ResourceQuota) => Amounts,
): Promise<void> {
  const { subresource, namespace, name } = ctx.info
  const changed = (current: KubeObject | undefined): KubeObject => {
    const next = current as ResourceQuota
    const used = change(next)
    const printed = Object.entries(used).map(([resource, amount]) => [resource, printQuantity(amount)])
    next.status = {
      hard: { ...hardOf(next) },
      used: Object.fromEntries(printed) as Record<string, string>,
    } as NonNullable<ResourceQuota["status"]>
    return next
  }
  try {
    const registry = builtIn(ctx, resourceQuotas)
    await registry.update(ctx, namespace, name, changed, internalWrite(subresource, dryRun), admit)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** `created`: a claim that is not stored yet. */
async function offersIn(
  ctx: RequestContext,
  namespace: string,
  names: readonly string[],
  created: KubeObject,
): Promise<DeviceOffers> {
  if (!mayNeedOffers(names)) return noOffers
  const claims = [...(await listAll(ctx, resourceClaims, namespace)), created]
  const [classes, ofNamespace] = [await listAll(ctx, deviceClasses), await listAll<Pod>(ctx, pods, namespace)]
  return deviceOffers(classes, claims, ofNamespace, (pod) => usageOf(pods.group, pods.resource, pod))
}

/** Those that are in force. */
function hardOf(quota: ResourceQuota): Record<string, string> {
  return (quota.status?.hard ?? {}) as Record<string, string>
}
