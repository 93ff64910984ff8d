// Computes replica counts from metrics. Pure.
// Source: k8s.io/kubernetes/pkg/controller/podautoscaler/replica_calculator.go.

import { milliValue, parseQuantity } from "../../apimachinery/quantity.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { podAmounts } from "../../apimachinery/quota/usage.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { isReady, isTerminating, podCondition } from "../pods/pod-state.ts"
import type { PodMetrics } from "./metrics-client.ts"

/** While a pod is this young, its CPU sample counts only if it was taken while the pod was ready: starting uses more CPU. */
const cpuInitializationMs = 300_000
/** A pod that became unready within this time after its start has never been ready. */
const initialReadinessMs = 30_000
const maxReplicas = 2 ** 31 - 1

export interface Tolerances {
  up: number
  down: number
}

export interface Proposal {
  replicas: number
  /** In thousandths. */
  usage: number
  /** In percent of the requests. */
  utilization?: number
}

interface Groups {
  ready: number
  unready: string[]
  missing: string[]
}

/** Sorts the pods into groups, and removes the metrics of pods that do not count from `metrics`. */
function groupPods(pods: readonly Pod[], metrics: PodMetrics, resource: string, now: number): Groups {
  if (pods.length === 0) throw new Error("no pods returned by selector while calculating replica count")
  const groups: Groups = { ready: 0, unready: [], missing: [] }
  const drop = (name: string): void => void metrics.delete(name)
  for (const pod of pods) {
    const { name = "" } = pod.metadata
    if (isTerminating(pod) || pod.status?.phase === "Failed") drop(name)
    else if (pod.status?.phase === "Pending") {
      groups.unready.push(name)
      drop(name)
    } else if (!metrics.has(name)) groups.missing.push(name)
    else if (resource === "cpu" && isStarting(pod, metrics, now)) {
      groups.unready.push(name)
      drop(name)
    } else groups.ready++
  }
  if (metrics.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)")
  return groups
}

function isStarting(pod: Pod, metrics: PodMetrics, now: number): boolean {
  const condition = podCondition(pod, "Ready")
  const startTime = pod.status?.startTime
  if (condition === undefined || startTime === undefined) return true
  const started = Date.parse(startTime)
  const changed = Date.parse(condition.lastTransitionTime ?? "") || 0
  if (started + cpuInitializationMs > now) {
    const metric = metrics.get(pod.metadata.name ?? "")
    return condition.status === "False" || (metric?.at ?? 0) < changed + (metric?.windowMs ?? 0)
  }
  return condition.status === "False" && started + initialReadinessMs > changed
}

interface Ratio {
  ratio: number
  usage: number
  utilization?: number
}

interface Question {
  current: number
  pods: readonly Pod[]
  metrics: PodMetrics
  resource: string
  tolerances: Tolerances
  now: number
}

/** From the average usage per pod; `target` in thousandths. */
export function byAverageValue(question: Question, target: number): Proposal {
  const ratioOf = (metrics: PodMetrics): Ratio => {
    const usage = Math.trunc(total(metrics) / metrics.size)
    return { ratio: usage / target, usage }
  }
  return propose(question, ratioOf, () => target)
}

/** From the usage relative to the requests; `target` in percent. */
export function byUtilization(question: Question, target: number, container: string | undefined): Proposal {
  let requests: Map<string, number> | undefined
  const ratioOf = (metrics: PodMetrics): Ratio => {
    requests ??= requestsOf(question.pods, question.resource, container)
    let [used, requested, count] = [0, 0, 0]
    for (const [name, { value }] of metrics) {
      const request = requests.get(name)
      if (request === undefined) continue
      used += value
      requested += request
      count++
    }
    if (requested === 0) throw new Error("no metrics returned matched known pods")
    const utilization = Math.trunc((used * 100) / requested)
    return { ratio: utilization / target, usage: Math.trunc(used / count), utilization }
  }
  const assumed = Math.max(100, target)
  return propose(question, ratioOf, (name) => Math.trunc(((requests?.get(name) ?? 0) * assumed) / 100))
}

function propose(
  question: Question,
  ratioOf: (metrics: PodMetrics) => Ratio,
  full: (name: string) => number,
): Proposal {
  const { current, pods, metrics, resource, tolerances, now } = question
  const { ready, unready, missing } = groupPods(pods, metrics, resource, now)
  const { ratio, usage, utilization } = ratioOf(metrics)
  const answer = (replicas: number): Proposal => ({
    replicas: Math.min(maxReplicas, replicas),
    usage,
    ...(utilization === undefined ? {} : { utilization }),
  })
  const growsWithUnready = unready.length > 0 && ratio > 1
  if (!growsWithUnready && missing.length === 0) {
    return answer(isWithin(tolerances, ratio) ? current : Math.ceil(ratio * ready))
  }
  // For missing metrics, the value is assumed that makes the change smaller.
  const assume = (names: readonly string[], value: (name: string) => number): void => {
    for (const name of names) metrics.set(name, { at: now, windowMs: 0, value: value(name) })
  }
  if (ratio < 1) assume(missing, full)
  else if (ratio > 1) assume(missing, () => 0)
  if (growsWithUnready) assume(unready, () => 0)
  const { ratio: adjusted } = ratioOf(metrics)
  const turns = (ratio < 1 && adjusted > 1) || (ratio > 1 && adjusted < 1)
  if (isWithin(tolerances, adjusted) || turns) return answer(current)
  const replicas = Math.ceil(adjusted * metrics.size)
  const contradicts = (adjusted < 1 && replicas > current) || (adjusted > 1 && replicas < current)
  return answer(contradicts ? current : replicas)
}

/** From one value for all pods together. */
export function byTotal(question: Omit<Question, "metrics" | "resource">, usage: number, target: number): Proposal {
  const { current, pods, tolerances } = question
  const ratio = usage / target
  if (current === 0) return { replicas: Math.min(maxReplicas, Math.ceil(ratio)), usage }
  if (isWithin(tolerances, ratio)) return { replicas: current, usage }
  if (pods.length === 0) {
    throw new Error("unable to calculate ready pods: no pods returned by selector while calculating replica count")
  }
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length
  return { replicas: Math.min(maxReplicas, Math.ceil(ratio * ready)), usage }
}

/** From one value for all pods together and a target per pod. */
export function byTotalPerPod(replicas: number, usage: number, target: number, tolerances: Tolerances): Proposal {
  const isEnough = isWithin(tolerances, usage / (target * replicas))
  const average = replicas === 0 ? Number.MAX_SAFE_INTEGER : Math.ceil(usage / replicas)
  return { replicas: isEnough ? replicas : Math.min(maxReplicas, Math.ceil(usage / target)), usage: average }
}

function isWithin({ up, down }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up
}

function total(metrics: PodMetrics): number {
  let sum = 0
  for (const { value } of metrics.values()) sum += value
  return sum
}

/** Requests in thousandths by pod name. */
function requestsOf(pods: readonly Pod[], resource: string, container: string | undefined): Map<string, number> {
  const amount = (text: string): number => milliValue(parseQuantity(text))
  return new Map(
    pods.map((pod) => {
      const { name = "" } = pod.metadata
      const ofPod = pod.spec?.resources?.requests
      if (container === undefined && ofPod !== undefined && Object.keys(ofPod).length > 0) {
        const request = ownValue(podAmounts(pod.spec ?? { containers: [] }, "requests"), resource)
        if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`)
        return [name, milliValue(request)]
      }
      const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always")
      const all = [...(pod.spec?.containers ?? []), ...sidecars]
      const counted = container === undefined ? all : all.filter((each) => each.name === container)
      if (container !== undefined && counted.length === 0) {
        throw new Error(`container ${container} not found in Pod ${name}`)
      }
      let sum = 0
      for (const each of counted) {
        const request = each.resources?.requests?.[resource]
        if (request === undefined) {
          throw new Error(`missing request for ${resource} in container ${each.name} of Pod ${name}`)
        }
        sum += amount(request)
      }
      return [name, sum]
    }),
  )
}
