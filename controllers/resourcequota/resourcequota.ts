// Recounts a namespace's usage against its quotas. Admission increases the numbers with each write; this decreases them when
// objects are deleted, and corrects drift. Source: k8s.io/kubernetes/pkg/controller/resourcequota.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { type DeviceOffers, deviceOffers, mayNeedOffers, noOffers } from "../../apimachinery/quota/device-usage.ts"
import type { KubeObject, Pod, ResourceQuota } from "../../apimachinery/object.ts"
import { compareQuantities, printQuantity, zeroQuantity } from "../../apimachinery/quantity.ts"
import { equalByAmounts } from "../../apimachinery/schema/quantities.ts"
import { classesOf, hasDeadline, quotaMatches } from "../../apimachinery/quota/scopes.ts"
import { addAmounts, type Amounts, parseAmounts } from "../../apimachinery/quota/amounts.ts"
import { quotaNamesOf, usageOf } from "../../apimachinery/quota/usage.ts"
import { inTurns } from "../../client/in-turns.ts"
import { listAll } from "../../client/pages.ts"
import { deviceClasses, pods as podResource, resourceClaims, resourceQuotas } from "../../client/resources.ts"
import type { DiscoveredResource, KubeClient, Resource } from "../../client/rest.ts"
import type { ReconcileResult, Untried } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"

/** Interval of full recounts while the tenant is awake, even if no change was observed. */
const resyncMs = 300_000
/** After usage has become less: what admission had charged for may have been on its way to the store. */
const recheckMs = 1_000
const kind = { group: "", version: "v1", kind: "ResourceQuota" }

export function runResourceQuotas(ctx: ControllerContext): Promise<void> {
  const quotas = ctx.informers.of<ResourceQuota>(resourceQuotas)
  const pods = ctx.informers.of<Pod>(podResource)
  const controller = new Controller<ResourceQuota>(ctx, {
    name: "resourcequota",
    primary: quotas,
    reads: [pods],
    // Admission increases the usage before it stores the object; a recount in between would revert that.
    matters: (quota, previous) => !equalByAmounts({ spec: quota.spec }, { spec: previous.spec }, kind),
    wakesInMs: () => "never",
  })
  pods.subscribe({
    updated(tenant, pod, previous) {
      if (
        isFinished(pod) !== isFinished(previous) ||
        isTerminating(pod) !== isTerminating(previous) ||
        // Admission charges the quotas whose scope it enters, this relieves those whose scope it leaves.
        hasDeadline(pod) !== hasDeadline(previous) ||
        !equalIgnoringNulls(heldBy(pod), heldBy(previous))
      ) {
        controller.enqueueAll(tenant, pod.metadata.namespace)
      }
    },
    deleted: (tenant, pod) => controller.enqueueAll(tenant, pod.metadata.namespace),
  })
  const deletions = new Deletions(
    ctx,
    (tenant, namespace) => controller.enqueueAll(tenant, namespace),
    ({ group, resource }, tenant, namespace) =>
      quotas
        .list(tenant, namespace)
        .some(({ spec }) => quotaNamesOf(group, resource, Object.keys(spec?.hard ?? {})).length > 0),
  )
  return controller.run((key, actor) => reconcile(ctx, actor, deletions, key))
}

/** Resources allocated to its containers, which follow their requests with a delay. */
function heldBy({ status }: Pod): unknown {
  return [status?.containerStatuses, status?.initContainerStatuses].map((statuses) =>
    statuses?.map(({ resources, allocatedResources }) => [resources, allocatedResources]),
  )
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  deletions: Deletions,
  key: Key,
): Promise<ReconcileResult | Untried> {
  const quota = ctx.informers.of<ResourceQuota>(resourceQuotas).get(key.tenant, key.namespace, key.name)
  // One that only finalizers hold still bounds what is created.
  if (quota === undefined) return
  const client = actor.client
  const hard = quota.spec?.hard ?? {}
  const names = Object.keys(hard)
  const used: Amounts = dictionary({})
  /** Names of what cannot be listed, such as custom resources without their conversion webhook; the others are in force all the same. */
  const unknown = new Set<string>()
  // The spec decides which quotas count an object, not the status.
  const wanted: ResourceQuota = { ...quota, status: { ...quota.status, hard } }
  const offers = mayNeedOffers(names) ? await offersIn(ctx, client, key) : noOffers
  const failures: unknown[] = []
  for (const resource of await countable(client, names, offers)) {
    deletions.watch(key.tenant, resource)
    const counted = new Set(quotaNamesOf(resource.group, resource.resource, names, offers))
    const objects = await objectsOf(ctx, client, key, resource).catch((error: unknown) => void failures.push(error))
    if (objects === undefined) {
      for (const name of counted) unknown.add(name)
      continue
    }
    for (const name of counted) used[name] ??= zeroQuantity
    await inTurns(objects, (object) => {
      if (!quotaMatches(wanted, resource.group, resource.resource, object, offers)) return
      const usage = Object.entries(usageOf(resource.group, resource.resource, object, offers)).filter(([name]) =>
        counted.has(name),
      )
      // An object uses only a few of the names in a large quota.
      const before = Object.fromEntries(usage.map(([name]) => [name, used[name] ?? zeroQuantity]))
      Object.assign(used, addAmounts(before, Object.fromEntries(usage)))
    })
  }
  for (const name of unknown) delete used[name]
  const printed = Object.fromEntries(Object.entries(used).map(([name, amount]) => [name, printQuantity(amount)]))
  // Usage of resources that nothing counts, or that cannot be listed, keeps its last reported value.
  const reported = Object.entries(quota.status?.used ?? {}).filter(([name]) => Object.hasOwn(hard, name))
  const status = { hard, used: { ...Object.fromEntries(reported), ...printed } }
  if (!equalByAmounts({ status }, { status: quota.status }, kind)) {
    await client.update(resourceQuotas, { ...quota, status }, { subresource: "status" })
  }
  const mayMiss = isLess(used, quota) || isNew(quota)
  // What has failed is tried again by then as well; until then its failures are neither forgotten nor counted.
  if (mayMiss && failures.length > 0) return { isUntried: true, requeueAfterMs: recheckMs }
  if (failures.length > 0) throw failures[0]
  return { requeueAfterMs: mayMiss ? recheckMs : resyncMs }
}

/** Admission counts nothing before the status says what is limited: what has been created meanwhile may not be in these amounts. */
function isNew({ spec, status }: ResourceQuota): boolean {
  return Object.keys(spec?.hard ?? {}).some((name) => !Object.hasOwn(status?.hard ?? {}, name))
}

function isLess(used: Amounts, { status }: ResourceQuota): boolean {
  const before = parseAmounts(status?.used)
  return Object.entries(used).some(([name, amount]) => compareQuantities(amount, before[name] ?? zeroQuantity) < 0)
}

/** Objects that can only be read, such as metrics, are not counted. */
const countedVerbs = ["create", "list", "watch", "delete"]

/** Resources that these names limit. */
async function countable(
  client: KubeClient,
  names: readonly string[],
  offers: DeviceOffers,
): Promise<DiscoveredResource[]> {
  const all = await client.discover()
  return all.filter(
    ({ namespaced, group, resource, verbs }) =>
      namespaced &&
      countedVerbs.every((verb) => verbs.includes(verb)) &&
      quotaNamesOf(group, resource, names, offers).length > 0,
  )
}

async function offersIn(ctx: ControllerContext, client: KubeClient, key: Key): Promise<DeviceOffers> {
  const classes = await client.list(deviceClasses)
  const claims = await objectsOf(ctx, client, key, resourceClaims)
  const pods = ctx.informers.of<Pod>(podResource).list(key.tenant, key.namespace)
  return deviceOffers(classes.items, claims, pods, (pod) => usageOf("", "pods", pod))
}

async function objectsOf(
  ctx: ControllerContext,
  client: KubeClient,
  { tenant, namespace }: Key,
  resource: Resource,
): Promise<KubeObject[]> {
  const informer = ctx.informers.existing(resource)
  if (informer?.isSynced(tenant) === true) return informer.list(tenant, namespace)
  return listAll(client, resource, { namespace })
}

/** Reports deletions of objects that a quota counts, without caching the objects. */
class Deletions {
  readonly #ctx: ControllerContext
  readonly #deleted: (tenant: string, namespace?: string) => void
  readonly #watched = new Set<string>(["/pods"])

  /** `isCounted`: by a quota there. */
  constructor(
    ctx: ControllerContext,
    deleted: (tenant: string, namespace?: string) => void,
    isCounted: (resource: Resource, tenant: string, namespace?: string) => boolean,
  ) {
    this.#ctx = ctx
    this.#deleted = deleted
    ctx.aggregated.subscribe({
      // Deletions may have been missed.
      replaced: (tenant, resource) => {
        if (isCounted(resource, tenant)) deleted(tenant)
      },
      changed: (tenant, resource, type, { metadata: { namespace = "" } }) => {
        if (type === "DELETED" && isCounted(resource, tenant, namespace)) deleted(tenant, namespace)
      },
      forgotten: () => undefined,
      complete: () => undefined,
    })
  }

  /** Watched from the first quota that counts them. Those of aggregated APIs are followed anyway. */
  watch(tenant: string, resource: Resource): void {
    if (this.#ctx.aggregated.has(tenant, resource)) return
    const id = `${resource.group}/${resource.resource}`
    if (this.#watched.has(id)) return
    this.#watched.add(id)
    const recount = (tenant: string, { metadata }: KubeObject): void => this.#deleted(tenant, metadata.namespace ?? "")
    const informer = this.#ctx.informers.existing(resource)
    if (informer !== undefined) {
      const usage = (object: KubeObject): unknown => [
        Object.entries(usageOf(resource.group, resource.resource, object)).map(([name, one]) => [
          name,
          printQuantity(one),
        ]),
        resource.resource === "persistentvolumeclaims" ? classesOf(object) : [],
      ]
      informer.subscribe({
        deleted: recount,
        // Only changes of usage matter: a recount while another object is about to be stored would miss that object.
        updated: (tenant, object, previous) => {
          if (!equalIgnoringNulls(usage(object), usage(previous))) recount(tenant, object)
        },
      })
      return
    }
    const nothing = (): void => undefined
    const event = ({ tenant, type, object }: { tenant: string; type: string; object: KubeObject }): void => {
      if (type === "DELETED") recount(tenant, object)
    }
    this.#ctx.tenants.watch(
      resource,
      { event, synced: nothing, removed: nothing, restarted: nothing },
      this.#ctx.signal,
      { mentioning: [] },
    )
  }
}
