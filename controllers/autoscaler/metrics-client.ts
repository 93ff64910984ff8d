// Client of the metrics APIs metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io of the tenant. Values are in
// thousandths. Source: k8s.io/kubernetes/pkg/controller/podautoscaler/metrics/client.go.

import { parseGoDuration } from "../../apimachinery/go/duration.ts"
import { errorMessage } from "../../apimachinery/error-message.ts"
import { milliValue, parseQuantity } from "../../apimachinery/quantity.ts"
import { parseGroupVersion, printGroupResource } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import type { KubeClient } from "../../client/rest.ts"
import { resourceOfKind } from "../scale.ts"

const customVersions = ["v1beta2", "v1beta1"]
const defaultWindowSeconds = 60

interface PodMetric {
  at: number
  windowMs: number
  value: number
}

/** By pod name. */
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

interface MetricValues {
  items?: MetricValue[]
}

interface Question {
  namespace: string
  /** Printed label selector. */
  selector: string
}

export class MetricsClient {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Usage summed over a pod's containers, or that of one container. Pods without a value are left out. */
  async resource(name: string, container: string | undefined, { namespace, selector }: Question): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods${query({ labelSelector: selector })}`
    const items = await this.#items<PodMetricsItem>("resource", path, "get pods.metrics.k8s.io")
    const metrics: PodMetrics = new Map()
    for (const { metadata, timestamp, window, containers = [] } of items) {
      const counted = container === undefined ? containers : containers.filter((each) => each.name === container)
      const usage = counted.map((each) => each.usage[name])
      if (usage.length === 0 || usage.includes(undefined)) continue
      const value = usage.reduce((sum, text) => sum + milliValue(parseQuantity(text ?? "0")), 0)
      metrics.set(metadata.name, { at: Date.parse(timestamp), windowMs: parseGoDuration(window) ?? 0, value })
    }
    return metrics
  }

  /** A custom metric for each pod. */
  async pods(metric: string, metricSelector: string, { namespace, selector }: Question): Promise<PodMetrics> {
    const query = { labelSelector: selector, metricLabelSelector: metricSelector }
    const items = await this.#custom({ namespace, resource: "pods", name: "*", metric }, query)
    if (items.length === 0) throw nothing("custom")
    return new Map(
      items.map(({ describedObject, timestamp, windowSeconds = defaultWindowSeconds, value }) => [
        describedObject.name,
        { at: Date.parse(timestamp), windowMs: windowSeconds * 1000, value: milliValue(parseQuantity(value)) },
      ]),
    )
  }

  /** A custom metric for one object. */
  async object(
    metric: string,
    metricSelector: string,
    namespace: string,
    object: { apiVersion?: string; kind: string; name: string },
  ): Promise<number> {
    const { apiVersion = "v1", kind } = object
    // The name of a Namespace is ignored: only metrics of the autoscaler's own namespace can be read.
    const ofNamespace = kind === "Namespace" && !apiVersion.includes("/")
    const resource = ofNamespace ? "metrics" : await this.#resourceOf(apiVersion, kind)
    const place = ofNamespace ? { resource, name: metric } : { resource, name: object.name, metric }
    const items = await this.#custom({ namespace, ...place }, { metricLabelSelector: metricSelector })
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

  async #resourceOf(apiVersion: string, kind: string): Promise<string> {
    const found = await resourceOfKind(this.#client, { apiVersion, kind })
    if (found !== undefined) return printGroupResource(found)
    // An error of the API itself takes precedence.
    await this.#readCustom("", "")
    const { group } = parseGroupVersion(apiVersion)
    const why = `no matches for kind "${kind}" in group "${group}"`
    throw unavailable("custom", `unable to map kind ${group === "" ? kind : `${kind}.${group}`} to resource: ${why}`)
  }

  async #custom(
    { namespace, resource, name, metric }: { namespace: string; resource: string; name: string; metric?: string },
    parameters: Record<string, string>,
  ): Promise<MetricValue[]> {
    const path = ["", "namespaces", namespace, resource, name, ...(metric === undefined ? [] : [metric])].join("/")
    const request = `get ${resource}.custom.metrics.k8s.io ${name}`
    const { items } = ((await this.#readCustom(`${path}${query(parameters)}`, request)) ?? {}) as MetricValues
    return Array.isArray(items) ? items : []
  }

  async #readCustom(path: string, request: string): Promise<unknown> {
    for (const version of customVersions) {
      try {
        return await this.#client.raw(`/apis/custom.metrics.k8s.io/${version}${path}`)
      } catch (error) {
        if (!isNoSuchPath(error)) throw unavailable("custom", messageOf(error, request))
      }
    }
    throw unavailable("custom", "no custom metrics API (custom.metrics.k8s.io) registered")
  }

  async #items<T>(api: string, path: string, request: string): Promise<T[]> {
    let answer: unknown
    try {
      answer = await this.#client.raw(path)
    } catch (error) {
      throw unavailable(api, messageOf(error, request))
    }
    const { items } = (answer ?? {}) as { items?: T[] }
    if (!Array.isArray(items) || items.length === 0) throw nothing(api)
    return items
  }
}

function unavailable(api: string, why: string): Error {
  return new Error(`unable to fetch metrics from ${api} metrics API: ${why}`)
}

function nothing(api: string): Error {
  return new Error(`no metrics returned from ${api} metrics API`)
}

function isNoSuchPath(error: unknown): boolean {
  return isNotFound(error) && error.message === "the server could not find the requested resource"
}

/** When the response was not a Status, client-go appends the request (NewGenericServerResponse in k8s.io/apimachinery). */
function messageOf(error: unknown, request: string): string {
  const text = errorMessage(error)
  const isGeneric = isNoSuchPath(error) || text === "the server is currently unable to handle the request"
  return isGeneric && request !== "" ? `${text} (${request})` : text
}

function query(parameters: Record<string, string>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}
