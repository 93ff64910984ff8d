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
import { limitRanges } from "../../../client/resources.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { listAll } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

/** The client model renames `default`. */
type Item = Omit<NonNullable<LimitRange["spec"]>["limits"][number], "_default"> & { default?: Record<string, string> }

const annotation = "kubernetes.io/limit-ranger"

export const limitRanger: AdmissionPlugin = {
  concerns: isBounded,

  async mutate(ctx, attributes) {
    if (attributes.resource.resource !== "pods" || isLeaving(attributes)) return
    const pod = objectAs<Pod>(attributes)
    for (const range of await listAll<LimitRange>(ctx, limitRanges, attributes.namespace)) fill(pod, itemsOf(range))
  },

  async validate(ctx, attributes) {
    if (isLeaving(attributes)) return
    for (const range of await listAll<LimitRange>(ctx, limitRanges, attributes.namespace)) {
      const faults = itemsOf(range).flatMap((item) =>
        attributes.resource.resource === "pods"
          ? podFaults(item, objectAs<Pod>(attributes))
          : claimFaults(item, objectAs<PersistentVolumeClaim>(attributes)),
      )
      const list = [...new Set(faults)]
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

function itemsOf(range: LimitRange): Item[] {
  return (range.spec?.limits ?? []) as Item[]
}

function fill(pod: Pod, items: readonly Item[]): void {
  const limits: Record<string, string> = {}
  const requests: Record<string, string> = {}
  for (const item of items) {
    if (item.type !== "Container") continue
    Object.assign(limits, item.default)
    Object.assign(requests, item.defaultRequest)
  }
  const notes = [
    ...(pod.spec?.containers ?? []).flatMap((container) => fillContainer(container, "container", limits, requests)),
    ...(pod.spec?.initContainers ?? []).flatMap((container) =>
      fillContainer(container, "init container", limits, requests),
    ),
  ]
  if (notes.length === 0) return
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${notes.join("; ")}`,
  }
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

function podFaults(item: Item, pod: Pod): string[] {
  const spec = pod.spec ?? { containers: [] }
  if (item.type === "Pod") return boundFaults(item, limitedAmounts(spec, "requests"), limitedAmounts(spec, "limits"))
  if (item.type !== "Container") return []
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    boundFaults(item, parseAmounts(resources?.requests), parseAmounts(resources?.limits)),
  )
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

/** Checks the requested amounts against each bound of the item. */
function boundFaults(item: Item, requests: Amounts, limits: Amounts): string[] {
  const { type } = item
  return [
    ...each(item.min, (name, bound) => {
      const head = `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
      const [request, limit] = [requests[name], limits[name]]
      if (request === undefined) return `${head}.  No request is specified`
      if (compareQuantities(request, bound) < 0) return `${head}, but request is ${printQuantity(request)}`
      if (limit !== undefined && compareQuantities(limit, bound) < 0) {
        return `${head}, but limit is ${printQuantity(limit)}`
      }
      return undefined
    }),
    ...each(item.max, (name, bound) => {
      const head = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
      const [request, limit] = [requests[name], limits[name]]
      if (limit === undefined) return `${head}.  No limit is specified`
      if (compareQuantities(limit, bound) > 0) return `${head}, but limit is ${printQuantity(limit)}`
      if (request !== undefined && compareQuantities(request, bound) > 0) {
        return `${head}, but request is ${printQuantity(request)}`
      }
      return undefined
    }),
    ...each(item.maxLimitRequestRatio, (name, bound) => ratioFault(type, name, bound, requests[name], limits[name])),
  ]
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

function claimFaults(item: Item, claim: PersistentVolumeClaim): string[] {
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

function each(bounds: object | undefined, check: (name: string, bound: Quantity) => string | undefined): string[] {
  return Object.entries((bounds ?? {}) as Record<string, string>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, text]) => check(name, parseQuantity(text)) ?? [])
}
