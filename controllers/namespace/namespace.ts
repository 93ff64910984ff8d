// Empties a terminating namespace, pods first, and then removes its finalizer.
// Source: k8s.io/kubernetes/pkg/controller/namespace/deletion.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Namespace, Pod } from "../../apimachinery/object.ts"
import { hasReason, isNotFound } from "../../apimachinery/status.ts"
import { listAll } from "../../client/pages.ts"
import { namespaces } from "../../client/resources.ts"
import type { DiscoveredResource, KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isFinished } from "../pods/pod-state.ts"
import { namespaceConditions, type Remaining } from "./conditions.ts"

/** This controller's entry in spec.finalizers. */
const finalizer = "kubernetes"
/** Minimum and maximum interval between checks while objects remain. */
const firstRetryMs = 250
const longestRetryMs = 15_000
/** A sleeping tenant is woken for a namespace that remains for long after this part of its age. */
const sleepPart = 0.1
/** Resources emptied at the same time. */
const parallel = 16

export function runNamespaces(ctx: ControllerContext): Promise<void> {
  const informer = ctx.informers.of<Namespace>(namespaces)
  /** By tenant, then by name: until when the tenant may sleep although the namespace remains. */
  const sleeps = new Map<string, Map<string, number>>()
  const controller = new Controller<Namespace>(ctx, {
    name: "namespace",
    primary: informer,
    // What holds a namespace may do so forever, and must not keep the tenant awake as long.
    isPeriodic: true,
    wakesInMs: ({ tenant, name }) => (sleeps.get(tenant)?.get(name) ?? 0) - ctx.clock.elapsed(),
    forget: (tenant) => sleeps.delete(tenant),
  })
  return controller.run(async (key, actor) => {
    const { tenant, name } = key
    const deletedAt = informer.get(tenant, undefined, name)?.metadata.deletionTimestamp
    sleeps.get(tenant)?.delete(name)
    if (deletedAt === undefined) return
    const age = ctx.clock.now() - Date.parse(deletedAt)
    const began = ctx.clock.elapsed()
    const result = await reconcile(ctx, actor.client, key, age)
    if (result !== undefined) {
      const ofTenant = sleeps.get(tenant) ?? new Map<string, number>()
      sleeps.set(tenant, ofTenant.set(name, began + age * sleepPart))
    }
    return result
  })
}

/** `age`: milliseconds since its deletion. */
async function reconcile(ctx: ControllerContext, client: KubeClient, key: Key, age: number): Promise<ReconcileResult> {
  const namespace = await client.get<Namespace>(namespaces, undefined, key.name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  if (namespace?.metadata.deletionTimestamp === undefined) return
  // It is also emptied if only finalizers of others remain.
  if ((namespace.spec?.finalizers ?? []).length === 0) return
  const remaining = await empty(client, key.name, age)
  const isEmpty = remaining.objects.size === 0 && remaining.failures.length === 0 && !remaining.discoveryFailure
  const latest = await writeConditions(ctx, client, namespace, remaining)
  if (!isEmpty) {
    return { requeueAfterMs: Math.min(Math.max(firstRetryMs, age / 2), longestRetryMs) }
  }
  const finalizers = [...new Set(latest.spec?.finalizers)].filter((other) => other !== finalizer).sort()
  const finalized = { ...latest, spec: { ...latest.spec, finalizers } }
  await client.update(namespaces, finalized, { subresource: "finalize" })
}

async function writeConditions(
  ctx: ControllerContext,
  client: KubeClient,
  namespace: Namespace,
  remaining: Remaining,
): Promise<Namespace> {
  const current = namespace.status?.conditions ?? []
  const conditions = namespaceConditions(current, remaining, ctx.clock.now())
  if (equalIgnoringNulls(current, conditions)) return namespace
  return client.update<Namespace>(
    namespaces,
    { ...namespace, status: { ...namespace.status, conditions } },
    { subresource: "status" },
  )
}

async function empty(client: KubeClient, namespace: string, age: number): Promise<Remaining> {
  const remaining: Remaining = { objects: new Map(), finalizers: new Map(), failures: [], waitsForPods: false }
  let resources: readonly DiscoveredResource[]
  try {
    resources = await client.discover()
    const unavailable = await client.unavailable()
    // Objects of available APIs are deleted anyway.
    if (unavailable.length > 0) remaining.discoveryFailure = discoveryFailureOf(unavailable)
  } catch (error) {
    return { ...remaining, discoveryFailure: errorMessage(error) }
  }
  const deletable = resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes("delete"))
  // Pods may depend on all other objects, in particular NetworkPolicies, so they are deleted first.
  for (const pods of deletable.filter(isPods)) await emptyResource(client, pods, namespace, age, remaining)
  if (remaining.objects.size > 0) return { ...remaining, waitsForPods: true }
  const rest = deletable.filter((resource) => !isPods(resource)).values()
  const worker = async (): Promise<void> => {
    for (const resource of rest) await emptyResource(client, resource, namespace, age, remaining)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return remaining
}

/** In client-go's format. */
function discoveryFailureOf(groupVersions: readonly string[]): string {
  const each = groupVersions.map((each) => `${each}: stale GroupVersion discovery: ${each}`).sort()
  const list = `unable to retrieve the complete list of server APIs: ${each.join(", ")}`
  return `Discovery failed for some groups, ${groupVersions.length} failing: ${list}`
}

const isPods = ({ group, resource }: DiscoveredResource): boolean => group === "" && resource === "pods"

async function emptyResource(
  client: KubeClient,
  resource: DiscoveredResource,
  namespace: string,
  age: number,
  remaining: Remaining,
): Promise<void> {
  try {
    if (!resource.verbs.includes("list")) return
    const before = await listAll(client, resource, { namespace })
    if (before.length === 0) return
    if (!(await deleteTogether(client, resource, namespace)))
      for (const { metadata } of before) await deleteOne(client, resource, namespace, metadata.name ?? "")
    const left = await listAll(client, resource, { namespace })
    if (left.length === 0) return
    remaining.objects.set(resource, left.length)
    const isHeld = left.some(({ metadata }) => (metadata.finalizers ?? []).length > 0)
    if (!isHeld && !(isPods(resource) && age < longestGraceMs(before))) {
      const { group, version, resource: plural } = resource
      const where = `namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`
      remaining.failures.push(`unexpected items still remain in ${where}`)
    }
    for (const { metadata } of left) {
      for (const holder of metadata.finalizers ?? []) {
        remaining.finalizers.set(holder, (remaining.finalizers.get(holder) ?? 0) + 1)
      }
    }
  } catch (error) {
    // Discovery may be older than the resource's removal.
    if (!hasReason(error, "NotFound", "MethodNotAllowed")) remaining.failures.push(errorMessage(error))
  }
}

/** Of the pods that have not finished. */
export function longestGraceMs(pods: readonly Pod[]): number {
  let longest = 0
  for (const pod of pods) {
    if (!isFinished(pod)) longest = Math.max(longest, Number(pod.spec?.terminationGracePeriodSeconds ?? 0))
  }
  return longest * 1000
}

/** Returns false if that is not supported, whatever discovery says. */
async function deleteTogether(client: KubeClient, resource: DiscoveredResource, namespace: string): Promise<boolean> {
  if (!resource.verbs.includes("deletecollection")) return false
  try {
    await client.deleteCollection(resource, namespace, {}, { propagationPolicy: "Background" })
    return true
  } catch (error) {
    if (hasReason(error, "NotFound", "MethodNotAllowed")) return false
    throw error
  }
}

async function deleteOne(
  client: KubeClient,
  resource: DiscoveredResource,
  namespace: string,
  name: string,
): Promise<void> {
  try {
    await client.delete(resource, namespace, name, { propagationPolicy: "Background" })
  } catch (error) {
    if (!hasReason(error, "NotFound", "MethodNotAllowed")) throw error
  }
}
