// Converts HorizontalPodAutoscalers: autoscaling/v1 has one metric, CPU utilization; annotations contain the other fields of v2.
// Stored as v2. Source: k8s.io/kubernetes/pkg/apis/autoscaling/{v1/conversion.go,helpers.go,annotations.go}.

import { copyJson } from "../../../apimachinery/copy.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { decodeObject } from "../../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import { isEmptyObject } from "../../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { hasReason } from "../../../apimachinery/status.ts"
import { defaultBehavior } from "../autoscaling/horizontalpodautoscalers/behavior.ts"
import type { Conversion } from "../rest.ts"
import { normalized } from "./normalize.ts"
import { behaviorFromV1, behaviorToV1 } from "./behavior.ts"
import { metricFromV1, metricToV1, statusFromV1, statusToV1 } from "./metrics.ts"

type Fields = { [key: string]: Json }

interface Metric extends Fields {
  type: string
}

type Behavior = NonNullable<Parameters<typeof defaultBehavior>[0]>

/** The contents of the annotations. */
interface Noted {
  metrics: Metric[]
  currentMetrics: Metric[]
  conditions: Json[]
  behavior: Fields
}

interface Autoscaler extends KubeObject {
  spec?: Fields & { metrics?: Metric[] | null; behavior?: Json }
  status?: Fields & { currentMetrics?: Metric[] | null; conditions?: Json[] | null }
}

const prefix = "autoscaling.alpha.kubernetes.io/"
const metricsKey = `${prefix}metrics`
const currentMetricsKey = `${prefix}current-metrics`
const conditionsKey = `${prefix}conditions`
const behaviorKey = `${prefix}behavior`
/** The annotations of v1 for fields of the spec and of the status. */
export const specAnnotations = [metricsKey, behaviorKey]
export const statusAnnotations = [currentMetricsKey, conditionsKey]
/** Upstream drops those of tolerances, too, which are in that of the behavior. */
const roundTrip = [
  ...specAnnotations,
  ...statusAnnotations,
  `${prefix}scale-down-tolerance`,
  `${prefix}scale-up-tolerance`,
]

const defaultUtilization = 80

/** The fields of the only metric in autoscaling/v1. */
const target = "targetCPUUtilizationPercentage"
const current = "currentCPUUtilizationPercentage"

/** Converts a HorizontalPodAutoscaler of any version to v2. */
export function asAutoscalingV2(object: KubeObject): KubeObject {
  return object.apiVersion === "autoscaling/v2" ? object : toV2(copyJson(object))
}

/** By the spec in v1, which copies share: what has been converted, from which v1 differs in the order of metrics, for one. */
const origins = new WeakMap<object, KubeObject>()

/** The same, of one that was read in v1 as it is stored. */
export function storedAutoscaler(object: KubeObject): KubeObject {
  const { spec } = object as Autoscaler
  return (spec && origins.get(spec)) ?? asAutoscalingV2(object)
}

export const autoscalingV1: Conversion = {
  fromStored: (objects) =>
    objects.map((object) => {
      const read = normalized(toV1(copyJson(object))) as Autoscaler
      if (read.spec !== undefined) origins.set(read.spec, object)
      return read
    }),
  toStored(object) {
    const stored = normalized(toV2(copyJson(object))) as Autoscaler
    defaultBehavior(stored.spec?.behavior as Behavior | undefined)
    return stored
  },
}

function toV1(stored: Autoscaler): KubeObject {
  const { metrics, behavior, ...spec } = stored.spec ?? {}
  const { currentMetrics, conditions, ...status } = stored.status ?? {}
  const annotations = withoutRoundTrip(stored.metadata.annotations)
  const put = (key: string, value: Json | undefined): void => {
    if (value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0))
      annotations[key] = JSON.stringify(value)
  }
  const cpu = metrics?.find(isCpuUtilization)
  put(metricsKey, metrics?.filter((metric) => !isCpuUtilization(metric)).map(metricToV1))
  put(currentMetricsKey, currentMetrics?.map(statusToV1))
  put(conditionsKey, conditions)
  put(behaviorKey, behaviorToV1(behavior))
  if (cpu !== undefined) spec[target] = utilizationOf(cpu, "target") ?? defaultUtilization
  // As upstream: of the targets the first, of the current values the last.
  const now = currentMetrics?.findLast((metric) => utilizationOf(metric, "current") !== undefined && isCpu(metric))
  if (now !== undefined) status[current] = utilizationOf(now, "current") ?? 0
  return {
    kind: stored.kind,
    apiVersion: "autoscaling/v1",
    ...without(stored),
    metadata: withAnnotations(stored, annotations),
    ...(stored.spec === undefined ? {} : { spec }),
    ...(stored.status === undefined ? {} : { status }),
  }
}

function toV2(object: Autoscaler): KubeObject {
  const annotations = withoutRoundTrip(object.metadata.annotations)
  const { [target]: utilization, ...spec } = object.spec ?? {}
  const { [current]: currentUtilization, ...status } = object.status ?? {}
  const read = (key: string): Json | undefined => {
    const text = object.metadata.annotations?.[key]
    return text === undefined ? undefined : parse(text)
  }
  const metrics = decoded("spec", "metrics", converted(read(metricsKey), metricFromV1)) ?? []
  if (typeof utilization === "number") metrics.push(cpuMetric(utilization, "target"))
  const noted = decoded("status", "currentMetrics", converted(read(currentMetricsKey), statusFromV1))
  // The annotation contains all metrics, this one too.
  const currentMetrics =
    noted ?? (typeof currentUtilization === "number" ? [cpuMetric(currentUtilization, "current")] : [])
  const conditions = decoded("status", "conditions", read(conditionsKey)) ?? []
  const behavior = decoded("spec", "behavior", behaviorFromV1(read(behaviorKey)))
  if (metrics.length > 0) spec["metrics"] = metrics
  // As upstream's defaults of v2: CPU utilization if there are no metrics.
  else if (object.spec !== undefined) spec["metrics"] = [cpuMetric(defaultUtilization, "target")]
  if (behavior !== undefined && !isEmptyObject(behavior)) spec["behavior"] = behavior
  if (currentMetrics.length > 0) status["currentMetrics"] = currentMetrics
  if (conditions.length > 0) status["conditions"] = conditions
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(object, annotations),
    ...(object.spec === undefined ? {} : { spec }),
    ...(object.status === undefined ? {} : { status }),
  }
}

/** v2 has fields for all that is in the annotations of v1, and does not keep them. */
export function dropRoundTrip(object: KubeObject): void {
  const { annotations } = object.metadata
  if (annotations !== undefined && roundTrip.some((key) => Object.hasOwn(annotations, key)))
    object.metadata = withAnnotations(object, withoutRoundTrip(annotations))
}

function withoutRoundTrip(given: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const annotations = { ...given }
  for (const key of roundTrip) delete annotations[key]
  return annotations
}

/** Kind and apiVersion must come first, since list items are cut there. */
function without({ kind: _kind, apiVersion: _version, ...rest }: Autoscaler): Omit<Autoscaler, "kind" | "apiVersion"> {
  return rest
}

function withAnnotations({ metadata }: KubeObject, annotations: Record<string, string>): KubeObject["metadata"] {
  const { annotations: _annotations, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

function isCpu(metric: Metric): boolean {
  return metric.type === "Resource" && (metric["resource"] as Fields | undefined)?.["name"] === "cpu"
}

function isCpuUtilization(metric: Metric): boolean {
  return isCpu(metric) && utilizationOf(metric, "target") !== undefined
}

function utilizationOf(metric: Metric, field: "target" | "current"): number | undefined {
  const value = ((metric["resource"] as Fields | undefined)?.[field] as Fields | undefined)?.["averageUtilization"]
  return typeof value === "number" ? value : undefined
}

function cpuMetric(averageUtilization: number, field: "target" | "current"): Metric {
  const value: Fields = field === "target" ? { type: "Utilization", averageUtilization } : { averageUtilization }
  return { type: "Resource", resource: { name: "cpu", [field]: value } }
}

function converted(metrics: Json | undefined, convert: (metric: Metric) => Metric): Json | undefined {
  return Array.isArray(metrics) ? metrics.map((metric) => convert(metric as Metric)) : metrics
}

/**
 * The field of v2 in an annotation. Anyone can write it: as upstream, a value of another type counts as missing. An empty list, and
 * null, are an empty list.
 */
function decoded<Field extends keyof Noted>(part: "spec" | "status", field: Field, value: Json | undefined) {
  if (value === undefined) return undefined
  const holder: { [field: string]: Json } = { [field]: value }
  try {
    decodeObject(schema(), { kind: "HorizontalPodAutoscaler", apiVersion: "autoscaling/v2", [part]: holder }, false)
  } catch (error) {
    if (hasReason(error, "BadRequest")) return undefined
    throw error
  }
  return (holder[field] ?? []) as Noted[Field]
}

function schema(): Schema {
  const found = schemaOf({ group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" })
  if (found === undefined) throw new Error("no schema of autoscaling/v2 HorizontalPodAutoscaler")
  return found
}

/** Anyone can write the annotation: as upstream, invalid text counts as missing. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
