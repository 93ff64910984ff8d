// Plays a scenario on one cluster. Nodes and scheduler are played too (kubelets.ts): the statuses of pods are what the steps say.

import { setTimeout as delay } from "node:timers/promises"
import type { KubeObject, Pod } from "../../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../../apimachinery/status.ts"
import { customResourceDefinitions, events, namespaces, pods, serviceAccounts } from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import type { Value } from "./custom-metrics.ts"
import { deploymentsFollow } from "./followed.ts"
import { kindOf, ownKind } from "./kinds.ts"
import { bind, playNodes, report } from "./kubelets.ts"
import { setQueue, setUsage } from "./metrics.ts"
import type { Action, Scenario, Snapshot, Step } from "./scenario.ts"
import type { Side } from "./side.ts"
import { takeSnapshot } from "./snapshot.ts"

const pollMs = 200
/** As long must nothing have changed; upstream's Jobs wait a second between rounds. */
const stillMs = 2_500
/** After which a change is seen that has been made. */
const seenMs = 500
const patienceMs = 45_000
/** For what upstream's clocks let happen after a minute, and looks at every 20 s. */
const longPatienceMs = 180_000

/** Each time it is played a scenario has a namespace of its own, with which no other's begins. */
function namespaceOf({ name }: Scenario, time: number): string {
  const words = `s${time}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`
  return `${words.slice(0, 59).replace(/-$/, "")}-ns`
}

/** Its namespace, and what is done before. */
export async function prepare(side: Side, scenario: Scenario, time: number): Promise<void> {
  const { client } = side
  const namespace = namespaceOf(scenario, time)
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await exists(() => client.get(serviceAccounts, namespace, "default"))
  for (const step of scenario.before ?? []) {
    // What is refused is not kept: what there is then shows it.
    const refusals = step.mayBeRefused === true ? [] : undefined
    await attempt(refusals, async () => take(side, namespace, await named(side, namespace, step), refusals))
  }
}

export async function play(side: Side, scenario: Scenario, time: number): Promise<Snapshot> {
  const namespace = namespaceOf(scenario, time)
  const stop = new AbortController()
  const { nodes: mode } = scenario
  const kubelet = mode === undefined ? Promise.resolve() : playNodes(side, namespace, mode, stop.signal)
  try {
    const refused: StatusError[] = []
    for (const step of scenario.steps) {
      const refusals = step.mayBeRefused === true ? refused : undefined
      await attempt(refusals, async () => take(side, namespace, await named(side, namespace, step), refusals))
    }
    await settle(side, namespace)
    return await takeSnapshot(side, namespace, refused, scenario.ignoreConditions)
  } finally {
    stop.abort()
    side.heartbeats.endAll(namespace)
    await kubelet
  }
}

/** Takes steps while no controllers run: nothing is waited for that they do, and what is refused is passed over. */
export async function takeMeanwhile(
  side: Side,
  scenario: Scenario,
  time: number,
  steps: readonly Step[],
): Promise<void> {
  const namespace = namespaceOf(scenario, time)
  const stop = new AbortController()
  const { nodes: mode } = scenario
  const kubelet = mode === undefined ? Promise.resolve() : playNodes(side, namespace, mode, stop.signal)
  try {
    for (const step of steps) {
      await attempt([], async () => take(side, namespace, await named(side, namespace, step), []))
      // The nodes bind what has been made, and end what has been deleted.
      await delay(3 * pollMs)
    }
  } finally {
    stop.abort()
    await kubelet
  }
}

/** Refusals go where there is a place for them. */
async function attempt(refusals: StatusError[] | undefined, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (refusals === undefined || !(error instanceof StatusError)) throw error
    refusals.push(error)
  }
}

/** A step with the names and uids of this time. */
async function named({ client, ranges }: Side, namespace: string, step: Step): Promise<Step> {
  const { four, six } = ranges.of(namespace)
  const texts = JSON.stringify(step).replaceAll("RANGE4", four).replaceAll("RANGE6", six)
  let text = texts.replaceAll("NAMESPACE", namespace)
  for (const [found, elsewhere, resource = "", name = ""] of text.matchAll(/UID:(?:([^/"]+)\/)?([a-z]+)\/([^/"]+)/g)) {
    const place = elsewhere ?? placeOf(resource, namespace)
    const { metadata } = await client.get(kindOf(resource, namespace), place, name)
    text = text.replaceAll(`${found}"`, `${metadata.uid}"`)
  }
  return JSON.parse(text) as Step
}

export async function exists(get: () => Promise<unknown>): Promise<void> {
  for (const end = Date.now() + patienceMs; ; await delay(pollMs)) {
    try {
      await get()
      return
    } catch (error) {
      if (!isNotFound(error) || Date.now() > end) throw error
    }
  }
}

async function take(side: Side, namespace: string, step: Step, refusals?: StatusError[]): Promise<void> {
  const { client } = side
  if ("create" in step) return create(side, namespace, step.create as KubeObject)
  if ("patch" in step) {
    const [resource, name, elsewhere] = step.patch
    const { subresource } = step
    const options = { type: "merge" as const, ...(subresource === undefined ? {} : { subresource }) }
    try {
      await client.patch(
        kindOf(resource, namespace),
        placeOf(resource, elsewhere ?? namespace),
        name,
        step.with,
        options,
      )
    } catch (error) {
      if (step.mayBeGone !== true || !isNotFound(error)) throw error
    }
    return
  }
  if ("delete" in step) {
    const [resource, name, elsewhere] = step.delete
    await client.delete(kindOf(resource, namespace), placeOf(resource, elsewhere ?? namespace), name, {
      propagationPolicy: step.policy ?? "Background",
    })
    return
  }
  if ("deleteAll" in step) {
    const kind = kindOf(step.deleteAll, namespace)
    for (const { metadata } of await oldestFirst(client, kind, namespace)) {
      await client.delete(kind, namespace, metadata.name ?? "")
    }
    return
  }
  if ("patchAll" in step) {
    const kind = kindOf(step.patchAll, namespace)
    for (const { metadata } of await oldestFirst(client, kind, namespace)) {
      await client.patch(kind, namespace, metadata.name ?? "", step.with, { type: "merge" })
    }
    return
  }
  if ("until" in step) return until(client, namespace, step)
  if ("pods" in step) {
    for (const pod of await chosen(client, namespace, step.labels, step.count)) {
      await report(client, pod, step.pods)
      await side.endpointsFollow(namespace)
      await deploymentsFollow(client, namespace)
    }
    return
  }
  if ("beats" in step) return step.is ? side.heartbeats.begin(step.beats) : side.heartbeats.end(step.beats)
  if ("bind" in step) return bind(client, namespace, ...step.bind)
  if ("usage" in step) return setUsage(client, await chosen(client, namespace, {}, step.count), step.usage)
  if ("custom" in step) return setCustom(side, namespace, step)
  if ("queue" in step) return setQueue(client, namespace, step.queue)
  if ("deletePods" in step) {
    for (const { metadata } of await chosen(client, namespace, step.deletePods, step.count)) {
      await client.delete(pods, namespace, metadata.name ?? "", { gracePeriodSeconds: 0 })
    }
    return
  }
  if ("patchPods" in step) {
    const options = {
      type: "merge" as const,
      ...(step.subresource === undefined ? {} : { subresource: step.subresource }),
    }
    for (const { metadata } of await chosen(client, namespace, step.patchPods, step.count)) {
      await client.patch(pods, namespace, metadata.name ?? "", step.with, options)
    }
    return
  }
  if ("evictPods" in step) {
    for (const { metadata } of await chosen(client, namespace, step.evictPods, step.count)) {
      const { name = "" } = metadata
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } }
      await attempt(refusals, () => client.create(pods, eviction as KubeObject, { subresource: "eviction" }))
    }
    return
  }
  if ("atOnce" in step) return takeAtOnce(side, namespace, step.atOnce, refusals)
  await settle(side, namespace)
}

async function takeAtOnce(
  side: Side,
  namespace: string,
  actions: readonly Action[],
  refusals: StatusError[] | undefined,
): Promise<void> {
  const refused = actions.map((): StatusError[] | undefined => refusals && [])
  await Promise.all(
    actions.map((action, index) => attempt(refused[index], () => take(side, namespace, action, refused[index]))),
  )
  refusals?.push(...refused.flatMap((each) => each ?? []))
}

/** Not by name, which may have a hash that each side computes in its own way. */
async function oldestFirst(client: KubeClient, kind: Resource, namespace: string): Promise<KubeObject[]> {
  const { items } = await client.list(kind, { namespace })
  const rank = ({ metadata: { creationTimestamp, name } }: KubeObject): string => `${creationTimestamp} ${name}`
  return items.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

async function setCustom(side: Side, namespace: string, step: Extract<Step, { custom: unknown }>): Promise<void> {
  const { customMetrics } = side
  if (customMetrics === undefined) throw new Error("there is no custom metrics API")
  const { custom, is, count } = step
  if (typeof is !== "string") return customMetrics.set(namespace, custom, is)
  const pods = await chosen(side.client, namespace, {}, count)
  const of = ({ metadata: { name = "" } }: Pod): Value => ({ name, value: is })
  customMetrics.set(namespace, custom, pods.map(of))
}

async function create(side: Side, namespace: string, object: KubeObject): Promise<void> {
  const { client, kinds } = side
  const { metadata, kind } = object
  const known = [...kinds.namespaced, ...kinds.cluster, events, customResourceDefinitions, ownKind(namespace)]
  const resource = known.find(({ resource: plural }) => {
    const singular = kind.toLowerCase()
    return [`${singular}s`, `${singular}es`, `${singular.slice(0, -1)}ies`, singular].includes(plural)
  })
  if (resource === undefined) throw new Error(`scenarios know no ${kind}`)
  const place = resource.namespaced ? { namespace } : {}
  await client.create(resource, { ...object, metadata: { ...place, ...metadata } })
  if (kind === "Service") await side.hasService(namespace)
}

const placeOf = (resource: string, namespace: string): string | undefined =>
  kindOf(resource, namespace).namespaced ? namespace : undefined

async function until(client: KubeClient, namespace: string, step: Extract<Step, { until: unknown }>): Promise<void> {
  const [resource, name, elsewhere] = step.until
  let seen: unknown
  for (
    const end = Date.now() + (step.late === true ? longPatienceMs : patienceMs);
    Date.now() < end;
    await delay(pollMs)
  ) {
    try {
      seen = await client.get(kindOf(resource, namespace), placeOf(resource, elsewhere ?? namespace), name)
      const isLacking = step.lacks === undefined || !contains(seen, step.lacks)
      if (step.has !== null && contains(seen, step.has) && isLacking) return
    } catch (error) {
      if (!isNotFound(error)) throw error
      if (step.has === null) return
    }
  }
  const { has, lacks } = step
  throw new Error(`${resource} ${name} is not ${JSON.stringify({ has, lacks })} but ${JSON.stringify(seen)}`)
}

function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return (actual ?? 0) === wanted
  if (Array.isArray(wanted)) {
    return Array.isArray(actual) && wanted.every((item) => actual.some((other) => contains(other, item)))
  }
  if (typeof actual !== "object" || actual === null) return false
  return Object.entries(wanted).every(([key, value]) => contains((actual as Record<string, unknown>)[key], value))
}

async function settle(side: Side, namespace: string): Promise<void> {
  const begin = Date.now()
  await side.autoscalersFollow()
  const followed = Date.now() + seenMs
  for (const end = followed + patienceMs; Date.now() < end;) {
    const still = Math.max(begin, side.changedAt(namespace)) + stillMs
    const wait = Math.max(still, followed) - Date.now()
    if (wait <= 0) return
    await delay(wait)
  }
  throw new Error(`${namespace} does not come to rest`)
}

async function chosen(
  client: KubeClient,
  namespace: string,
  labels: Record<string, string> = {},
  count = Number.POSITIVE_INFINITY,
): Promise<Pod[]> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join()
  const { items } = await client.list<Pod>(pods, { namespace, labelSelector })
  const alive = items.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && !hasEnded(status?.phase),
  )
  // Names of pods are left to chance, and so would be which of them is first when others have come since.
  const rank = ({ spec, metadata }: Pod): string =>
    `${spec?.nodeName ?? ""} ${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`
  return alive.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, count)
}

const hasEnded = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed"
