// Applies the defaults of a namespace's LimitRanges and rejects values outside their bounds. Source:
// k8s.io/kubernetes/plugin/pkg/admission/limitranger.

import type { Container, LimitRange, PersistentVolumeClaim, Pod, PodSpec } from "../../../apimachinery/object.ts"
import {
  compareQuantities,
  milliValue,
  parseQuantity,
  printQuantity,
  type Quantity,
} from "../../../apimachinery/quantity.ts"
import { type Amounts, parseAmounts } from "../../../apimachinery/quota/amounts.ts"
import { containerAmounts } from "../../../apimachinery/quota/usage.ts"
import { requestEntityTooLarge } from "../../../apimachinery/status.ts"
import { limitRanges } from "../../../client/resources.ts"
import { type LimitRangeItem, limitRangeItems } from "../../registry/core/limitranges/strategy.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { checkAwaited } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import { listAll } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

const annotation = "kubernetes.io/limit-ranger"
/** Of all annotations of an object. */
const maxAnnotations = 256 * 1024
/** Characters about the defaults of all LimitRanges. Beyond: 413. */
const maxNotes = 512 * 1024
/** Faults that are told. */
const maxFaults = 1_000

export const limitRanger: AdmissionPlugin = {
  concerns: isBounded,

  async mutate(ctx, attributes) {
    if (attributes.resource.resource !== "pods" || isLeaving(attributes)) return
    const pod = objectAs<Pod>(attributes)
    let length = 0
    for (const range of await listAll<LimitRange>(ctx, limitRanges, attributes.namespace)) {
      length += fill(pod, limitRangeItems(range))
      if (length > maxNotes) throw requestEntityTooLarge("Request entity too large: too many defaults of LimitRanges")
      await ctx.pause?.()
    }
  },

  async validate(ctx, attributes) {
    if (isLeaving(attributes)) return
    const ranges = await listAll<LimitRange>(ctx, limitRanges, attributes.namespace)
    if (ranges.length === 0) return
    const isPod = attributes.resource.resource === "pods"
    const measured = isPod ? measuredPod(objectAs<Pod>(attributes)) : undefined
    for (const range of ranges) {
      const faults = measured === undefined ? claimFaults(range, objectAs(attributes)) : podFaults(range, measured)
      const list = await distinct(ctx, faults)
      if (list.length > 0) throw refuse(attributes, list.length === 1 ? (list[0] ?? "") : `[${list.join(", ")}]`)
    }
  },
}

function isBounded(attributes: AdmissionAttributes): boolean {
  if (attributes.operation !== "CREATE" && attributes.operation !== "UPDATE") return false
  if (isOf(attributes, "", "persistentvolumeclaims")) return true
  if (isOf(attributes, "", "pods")) return attributes.operation === "CREATE"
  return isOf(attributes, "", "pods", "resize")
}

function isLeaving({ current }: AdmissionAttributes): boolean {
  return current?.metadata.deletionTimestamp !== undefined
}

/** The first of these faults. There may be one for each container and bound. */
async function distinct(ctx: RequestContext, faults: Iterable<string | undefined>): Promise<string[]> {
  const found = new Set<string>()
  for (const fault of faults) {
    if (fault !== undefined) found.add(fault)
    if (found.size >= maxFaults) break
    const waiting = ctx.pause?.()
    if (waiting === undefined) continue
    await waiting
    checkAwaited(ctx)
  }
  return [...found]
}

/** Returns the length of the notes about it: every default of every container has one. */
function fill(pod: Pod, items: readonly LimitRangeItem[]): number {
  const limits: Record<string, string> = {}
  const requests: Record<string, string> = {}
  for (const item of items) {
    if (item.type !== "Container") continue
    Object.assign(limits, item.default)
    Object.assign(requests, item.defaultRequest)
  }
  const notes: string[] = []
  let length = 0
  for (const [list, word] of [
    [pod.spec?.containers, "container"],
    [pod.spec?.initContainers, "init container"],
  ] as const) {
    for (const container of list ?? []) {
      for (const note of fillContainer(container, word, limits, requests)) {
        notes.push(note)
        length += note.length
      }
      // The pod is invalid with so long an annotation.
      if (length > maxAnnotations) break
    }
  }
  if (notes.length === 0) return 0
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${notes.join("; ")}`,
  }
  return length
}

function fillContainer(
  container: Container,
  word: string,
  limits: Record<string, string>,
  requests: Record<string, string>,
): string[] {
  const resources = (container.resources ??= {})
  const notes: string[] = []
  for (const [kind, defaults] of [
    ["requests", requests],
    ["limits", limits],
  ] as const) {
    const present = (resources[kind] ?? {}) as Record<string, string>
    const added = Object.keys(defaults).filter((name) => !Object.hasOwn(present, name))
    if (added.length === 0) continue
    resources[kind] = { ...defaults, ...present } as NonNullable<typeof resources.limits>
    notes.push(`${added.sort().join(", ")} ${kind === "requests" ? "request" : "limit"} for ${word} ${container.name}`)
  }
  return notes
}

interface Asked {
  requests: Amounts
  limits: Amounts
}

interface MeasuredPod {
  pod: Asked
  containers: readonly Asked[]
}

function measuredPod({ spec = { containers: [] } }: Pod): MeasuredPod {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => ({
    requests: parseAmounts(resources?.requests),
    limits: parseAmounts(resources?.limits),
  }))
  return { pod: { requests: limitedAmounts(spec, "requests"), limits: limitedAmounts(spec, "limits") }, containers }
}

function* podFaults(range: LimitRange, { pod, containers }: MeasuredPod): Generator<string | undefined> {
  for (const item of limitRangeItems(range)) {
    if (item.type === "Pod") yield* boundFaults(item, [pod])
    else if (item.type === "Container") yield* boundFaults(item, containers)
  }
}

/** Upstream's own sum for limits has no overhead, and no more of the pod's own resources than these. */
function limitedAmounts(spec: PodSpec, kind: "requests" | "limits"): Amounts {
  const { cpu, memory } = parseAmounts(spec.resources?.[kind])
  return {
    ...containerAmounts(spec, kind),
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
  }
}

/** Checks the requested amounts against each bound of the item. One by one: their number is a product. */
function* boundFaults(item: LimitRangeItem, all: readonly Asked[]): Generator<string | undefined> {
  const { type } = item
  const checks = [
    ...each(item.min, (name, bound) => (asked: Asked) => minimumFault(type, name, bound, asked)),
    ...each(item.max, (name, bound) => (asked: Asked) => maximumFault(type, name, bound, asked)),
    ...each(item.maxLimitRequestRatio, (name, bound) => ({ requests, limits }: Asked) => {
      return ratioFault(type, name, bound, requests[name], limits[name])
    }),
  ]
  for (const asked of all) for (const check of checks) yield check(asked)
}

function minimumFault(type: string, name: string, bound: Quantity, { requests, limits }: Asked): string | undefined {
  const head = (): string => `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
  const [request, limit] = [requests[name], limits[name]]
  if (request === undefined) return `${head()}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${head()}, but request is ${printQuantity(request)}`
  if (limit === undefined || compareQuantities(limit, bound) >= 0) return undefined
  return `${head()}, but limit is ${printQuantity(limit)}`
}

function maximumFault(type: string, name: string, bound: Quantity, { requests, limits }: Asked): string | undefined {
  const head = (): string => `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  const [request, limit] = [requests[name], limits[name]]
  if (limit === undefined) return `${head()}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${head()}, but limit is ${printQuantity(limit)}`
  if (request === undefined || compareQuantities(request, bound) <= 0) return undefined
  return `${head()}, but request is ${printQuantity(request)}`
}

function ratioFault(
  type: string,
  name: string,
  bound: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string | undefined {
  const head = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === undefined || milliValue(request) === 0) {
    return `${head}, but no request is specified or request is 0`
  }
  if (limit === undefined || milliValue(limit) === 0) return `${head}, but no limit is specified or limit is 0`
  const ratio = milliValue(limit) / milliValue(request)
  return ratio * 1000 > milliValue(bound) ? `${head}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

function claimFaults(range: LimitRange, claim: PersistentVolumeClaim): string[] {
  return limitRangeItems(range).flatMap((item) => claimItemFaults(item, claim))
}

function claimItemFaults(item: LimitRangeItem, claim: PersistentVolumeClaim): string[] {
  if (item.type !== "PersistentVolumeClaim") return []
  const requests = parseAmounts(claim.spec?.resources?.requests)
  const fault = (word: "minimum" | "maximum", name: string, bound: Quantity): string | undefined => {
    const head = `${word} ${name} usage per ${item.type} is ${printQuantity(bound)}`
    const request = requests[name]
    if (request === undefined) return `${head}.  No request is specified`
    const order = compareQuantities(request, bound)
    return (word === "minimum" ? order < 0 : order > 0)
      ? `${head}, but request is ${printQuantity(request)}`
      : undefined
  }
  return [
    ...each(item.min, (name, bound) => fault("minimum", name, bound)),
    ...each(item.max, (name, bound) => fault("maximum", name, bound)),
  ]
}

function each<T>(bounds: object | undefined, check: (name: string, bound: Quantity) => T | undefined): T[] {
  return Object.entries((bounds ?? {}) as Record<string, string>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, text]) => check(name, parseQuantity(text)) ?? [])
}
