// metrics.k8s.io/v1beta1: what pods use, and what a tenant's own pods use of each node; those of others are none of its business.
// Computed on request from what the super cluster measures. A metrics server that the tenant registers by an APIService answers
// instead. Source: sigs.k8s.io/metrics-server/pkg/api.

import {
  type CustomResourceDefinition,
  type Json,
  type KubeObject,
  type Node,
  timestamp,
} from "../../apimachinery/object.ts"
import type { PodUsage } from "../../client/pod-usage.ts"
import { nodes } from "../../client/resources.ts"
import { compileStored } from "../custom-resources/definitions.ts"
import type { RequestContext } from "../request/context.ts"
import { name, text } from "../registry/columns/column.ts"
import type { TableColumn } from "../registry/columns/table-column.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { measuredPods, sumOf, type Usage } from "./usage.ts"

const group = "metrics.k8s.io"
const version = "v1beta1"
const apiVersion = `${group}/${version}`

type NodeMetrics = KubeObject & { timestamp: string; window: string; usage: Usage }
type PodMetrics = KubeObject & Omit<PodUsage, "name">

const quantity: Json = { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true }
const usage: Json = { type: "object", additionalProperties: quantity }
const container: Json = { type: "object", properties: { name: { type: "string" }, usage }, required: ["name", "usage"] }
const measurement = { timestamp: { type: "string", format: "date-time" }, window: { type: "string" } }

let definitions: readonly ResourceDefinition[] | undefined

/** The same for all control planes. */
export function metricsDefinitions(): readonly ResourceDefinition[] {
  return (definitions ??= [
    {
      ...define("nodes", "NodeMetrics", false, { ...measurement, usage }),
      find: nodeMetrics,
      columns: columns<NodeMetrics>(({ usage }) => usage),
    },
    {
      ...define("pods", "PodMetrics", true, { ...measurement, containers: { type: "array", items: container } }),
      find: podMetrics,
      columns: columns<PodMetrics>(({ containers }) => sumOf(containers)),
    },
  ])
}

function define(
  plural: string,
  kind: string,
  namespaced: boolean,
  properties: { [key: string]: Json },
): ResourceDefinition {
  const names = { plural, singular: "", kind, listKind: `${kind}List` }
  const schema = { openAPIV3Schema: { type: "object", properties } }
  const definition = {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names,
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [{ name: version, served: true, storage: true, schema }],
    },
    status: { acceptedNames: names, conditions: [{ type: "Established", status: "True" }] },
  }
  return { ...compileStored(definition as unknown as CustomResourceDefinition), verbs: ["get", "list"] }
}

const columns = <T extends NodeMetrics | PodMetrics>(usageOf: (object: T) => Usage): readonly TableColumn[] => [
  name,
  text<T>("cpu", (object) => usageOf(object)["cpu"] ?? "0"),
  text<T>("memory", (object) => usageOf(object)["memory"] ?? "0"),
  text<T>("Window", ({ window }) => window),
]

async function podMetrics(ctx: RequestContext): Promise<PodMetrics[]> {
  const creationTimestamp = timestamp()
  return (await measuredPods(ctx, ctx.info.namespace)).map(({ pod: { metadata }, measured }) => {
    const { name, namespace, labels } = metadata
    const { timestamp, window, containers } = measured
    const kept = { name, namespace, creationTimestamp, ...(labels === undefined ? {} : { labels }) }
    return { kind: "PodMetrics", apiVersion, metadata: kept, timestamp, window, containers } as PodMetrics
  })
}

async function nodeMetrics(ctx: RequestContext): Promise<NodeMetrics[]> {
  const { client } = ctx.controlPlane
  const [{ items }, measured] = await Promise.all([
    client.list<Node>(nodes, { signal: ctx.signal }),
    measuredPods(ctx, ""),
  ])
  const now = timestamp()
  const byNode = Map.groupBy(measured, ({ pod }) => pod.spec?.nodeName ?? "")
  return items.map(({ metadata: { name = "", labels } }) => {
    const there = (byNode.get(name) ?? []).map(({ measured }) => measured)
    const newest = there.reduce<PodUsage | undefined>(
      (best, each) => (best === undefined || each.timestamp > best.timestamp ? each : best),
      undefined,
    )
    return {
      kind: "NodeMetrics",
      apiVersion,
      metadata: { name, creationTimestamp: now, ...(labels === undefined ? {} : { labels }) },
      timestamp: newest?.timestamp ?? now,
      window: newest?.window ?? "0s",
      usage: { cpu: "0", memory: "0", ...sumOf(there.flatMap(({ containers }) => containers)) },
    }
  })
}
