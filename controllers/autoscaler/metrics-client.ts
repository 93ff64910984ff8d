// What the metrics APIs say: metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io of the tenant, wherever it
// has them from. Values are thousandths. Source: k8s.io/kubernetes/pkg/controller/podautoscaler/metrics/client.go.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { errorMessage } from "../../apimachinery/error-message.ts"
import { milliValue, parseQuantity } from "../../apimachinery/quantity.ts"
import { printGroupResource } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import type { KubeClient } from "../../client/rest.ts"
import { resourceOfKind } from "../scale.ts"

const customVersions = ["v1beta2", "v1beta1"]
const defaultWindowSeconds = 60

export interface PodMetric {
  at: number
  windowMs: number
  value: number
}

/** By the pod's name. */
export type PodMetrics = Map<string, PodMetric>

interface PodMetricsItem {
  metadata: { name: string }
  timestamp: string
  window: string
  containers?: { name: string; usage: Record<string, string> }[]
}

interface MetricValue {
  describedObject: { name: string }
  timestamp: string
  windowSeconds?: number
  value: string
}

interface Question {
  namespace: string
  /** Printed. */
  selector: string
}

export class MetricsClient {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** The sum over a pod's containers, or what one of them uses. Pods of which it is not known are left out. */
  async resource(name: string, container: string | undefined, { namespace, selector }: Question): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods${query({ labelSelector: selector })}`
    const items = await this.#items<PodMetricsItem>("resource", path, "get pods.metrics.k8s.io")
    const metrics: PodMetrics = new Map()
    for (const { metadata, timestamp, window, containers = [] } of items) {
      const counted = container === undefined ? containers : containers.filter((each) => each.name === container)
      const usage = counted.map((each) => each.usage[name])
      if (usage.length === 0 || usage.includes(undefined)) continue
      const value = usage.reduce((sum, text) => sum + milliValue(parseQuantity(text ?? "0")), 0)
      metrics.set(metadata.name, { at: Date.parse(timestamp), windowMs: durationMs(window), value })
    }
    return metrics
  }

  /** A custom metric of each pod. */
  async pods(metric: string, metricSelector: string, { namespace, selector }: Question): Promise<PodMetrics> {
    const path = `namespaces/${namespace}/pods/*/${metric}`
    const items = await this.#custom(path, { labelSelector: selector, metricLabelSelector: metricSelector })
    return new Map(
      items.map(({ describedObject, timestamp, windowSeconds = defaultWindowSeconds, value }) => [
        describedObject.name,
        { at: Date.parse(timestamp), windowMs: windowSeconds * 1000, value: milliValue(parseQuantity(value)) },
      ]),
    )
  }

  /** A custom metric of one object. */
  async object(
    metric: string,
    metricSelector: string,
    namespace: string,
    object: { apiVersion?: string; kind: string; name: string },
  ): Promise<number> {
    const { apiVersion = "v1", kind } = object
    let path = `namespaces/${namespace}/metrics/${metric}`
    // A namespace's name is not looked at: no metric of another one can be had.
    if (kind !== "Namespace" || apiVersion.includes("/")) {
      const resource = await resourceOfKind(this.#client, { apiVersion, kind })
      if (resource === undefined) {
        throw unavailable("custom", `no matches for kind "${kind}" in group "${apiVersion.split("/").at(-2) ?? ""}"`)
      }
      path = `namespaces/${namespace}/${printGroupResource(resource)}/${object.name}/${metric}`
    }
    const items = await this.#custom(path, { metricLabelSelector: metricSelector })
    const [only] = items
    if (items.length !== 1 || only === undefined) {
      const count = `returned ${items.length} results when we asked for exactly one`
      throw unavailable("custom", `the custom metrics API server ${count}`)
    }
    return milliValue(parseQuantity(only.value))
  }

  async external(metric: string, selector: string, namespace: string): Promise<number[]> {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${metric}${query({ labelSelector: selector })}`
    const items = await this.#items<MetricValue>("external", path, `get ${metric}.external.metrics.k8s.io`)
    return items.map(({ value }) => milliValue(parseQuantity(value)))
  }

  async #custom(path: string, parameters: Record<string, string>): Promise<MetricValue[]> {
    for (const version of customVersions) {
      try {
        const full = `/apis/custom.metrics.k8s.io/${version}/${path}${query(parameters)}`
        return itemsOf<MetricValue>("custom", await this.#client.raw(full))
      } catch (error) {
        if (!isNoSuchPath(error))
          throw error instanceof MetricsError ? error : unavailable("custom", errorMessage(error))
      }
    }
    throw unavailable("custom", "no custom metrics API (custom.metrics.k8s.io) registered")
  }

  async #items<T>(api: string, path: string, request: string): Promise<T[]> {
    let answer: unknown
    try {
      answer = await this.#client.raw(path)
    } catch (error) {
      throw unavailable(api, isGeneric(error) ? `${errorMessage(error)} (${request})` : errorMessage(error))
    }
    return itemsOf<T>(api, answer)
  }
}

class MetricsError extends Error {}

function unavailable(api: string, why: string): MetricsError {
  return new MetricsError(`unable to fetch metrics from ${api} metrics API: ${why}`)
}

function itemsOf<T>(api: string, answer: unknown): T[] {
  const { items } = (answer ?? {}) as { items?: T[] }
  if (!Array.isArray(items) || items.length === 0) throw new MetricsError(`no metrics returned from ${api} metrics API`)
  return items
}

function isNoSuchPath(error: unknown): boolean {
  return isNotFound(error) && error.message === "the server could not find the requested resource"
}

/** The answer was no Status: client-go says what was asked then (NewGenericServerResponse in k8s.io/apimachinery). */
function isGeneric(error: unknown): boolean {
  return isNoSuchPath(error) || errorMessage(error) === "the server is currently unable to handle the request"
}

function query(parameters: Record<string, string>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

/** Go's "1m30.5s". */
function durationMs(text: string): number {
  const units: Readonly<Record<string, number>> = dictionary({ h: 3_600_000, m: 60_000, s: 1000, ms: 1 })
  let sum = 0
  for (const [, value, unit = ""] of text.matchAll(/(?<![\d.])([\d.]+)(ms|h|m|s)/g))
    sum += Number(value) * (units[unit] ?? 0)
  return sum
}
