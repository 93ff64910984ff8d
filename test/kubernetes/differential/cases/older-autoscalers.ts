// HorizontalPodAutoscalers that are written in autoscaling/v1 and read in v2, and the other way around: what v1 has no field for is in
// annotations.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  type Step,
  strategicPatch,
  watch,
} from "../scenario.ts"

export function olderAutoscalerCases(): Scenario[] {
  return [
    { name: "the status of an autoscaler is written by its older version", steps: annotatedStatuses() },
    { name: "a scaler's status is written in the older version", steps: olderStatuses() },
    { name: "a scaler's metrics are written in both versions", steps: olderMetrics() },
    { name: "a scaler's annotations contain metrics of any type", steps: olderAnnotations() },
    ...["v1", "v2"].map((version) => ({
      name: `a scaler's annotations are written in ${version}`,
      steps: writtenAnnotations(version),
    })),
  ]
}

const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
const scaled = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" } }

function annotatedStatuses(): RequestStep[] {
  const [older, newer] = [scalers("v1"), scalers("v2")]
  const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" } }
  const key = "autoscaling.alpha.kubernetes.io/"
  const metrics = JSON.stringify([
    { type: "Resource", resource: { name: "memory", currentAverageValue: "10Mi" } },
    { type: "Resource", resource: { name: "cpu", currentAverageUtilization: 20, currentAverageValue: "1" } },
  ])
  const conditions = JSON.stringify([
    { type: "AbleToScale", status: "True", lastTransitionTime: "2024-01-02T03:04:05Z", reason: "r", message: "m" },
  ])
  const wanted = JSON.stringify([{ type: "Resource", resource: { name: "memory", targetAverageValue: "5Mi" } }])
  const annotations = { [`${key}current-metrics`]: metrics, [`${key}conditions`]: conditions, other: "kept" }
  const object = (more: Record<string, Json>, status?: Record<string, Json>): Record<string, Json> => ({
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "a", ...more },
    spec,
    ...(status === undefined ? {} : { status }),
  })
  const own = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 30 }
  return [
    post(older, object({ annotations })),
    get(`${newer}/a`),
    put(`${older}/a/status`, object({ annotations }, own)),
    get(`${older}/a`),
    get(`${newer}/a`),
    ...["PartialObjectMetadata", "Table"].map((form) =>
      get(`${older}/a`, {
        headers: { accept: `application/json;as=${form};g=meta.k8s.io;v=v1` },
        label: `GET ${form} of the older version`,
      }),
    ),
    get(`${older}`, {
      headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
      label: "LIST metadata of the older version",
    }),
    put(`${older}/a`, object({ annotations: { other: "changed" } }), { label: "PUT without them" }),
    get(`${newer}/a`, { label: "GET after it" }),
    put(`${older}/a/status?dryRun=All`, object({}, own), { label: "PUT status without them" }),
    put(`${older}/a/status?dryRun=All`, object({ annotations }), { label: "PUT status without a status" }),
    patch(`${older}/a/status?dryRun=All`, mergePatch, { metadata: { annotations: null } }),
    patch(`${older}/a?dryRun=All`, mergePatch, { metadata: { annotations: { [`${key}metrics`]: wanted } } }),
    patch(`${older}/a?dryRun=All`, mergePatch, { metadata: { annotations: { [`${key}metrics`]: "no JSON" } } }),
    patch(`${older}/a/status?dryRun=All`, mergePatch, {
      metadata: { annotations: { [`${key}current-metrics`]: "no JSON" } },
    }),
  ]
}

function olderStatuses(): RequestStep[] {
  const metadata = { name: "a" }
  const status = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 50 }
  const current = (metrics: Json): Json => ({
    ...metadata,
    annotations: { "autoscaling.alpha.kubernetes.io/current-metrics": JSON.stringify(metrics) },
  })
  const memory = { type: "Resource", resource: { name: "memory", currentAverageValue: "5" } }
  const put1 = (given: Json): RequestStep =>
    put(
      `${scalers("v1")}/a/status`,
      { metadata: given, spec: scaled, status },
      { label: `PUT ${JSON.stringify(given)}` },
    )
  const get2 = get(`${scalers("v2")}/a`)
  return [
    post(scalers("v1"), { metadata, spec: scaled }),
    put1(metadata),
    get2,
    put1(metadata),
    patch(`${scalers("v1")}/a/status`, mergePatch, { status }),
    patch(`${scalers("v1")}/a/status`, mergePatch, {}),
    get(`${scalers("v1")}/a`),
    get2,
    ...[[memory], [], null, "x"].flatMap((metrics) => [put1(current(metrics)), get2]),
  ]
}

function olderMetrics(): Step[] {
  const cpu = (averageUtilization: number): Json => {
    return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }
  }
  const used = (averageUtilization: number): Json => {
    return { type: "Resource", resource: { name: "cpu", current: { averageUtilization, averageValue: "1" } } }
  }
  const memory = {
    type: "Resource",
    resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
  }
  const status = { currentReplicas: 1, desiredReplicas: 1, currentMetrics: [used(10), used(20)] }
  const usedMemory = { type: "Resource", resource: { name: "memory", current: { averageUtilization: 7 } } }
  const cpuAlone = { currentCPUUtilizationPercentage: 5 }
  const older = [{ type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } }]
  const annotations = { "autoscaling.alpha.kubernetes.io/metrics": JSON.stringify(older) }
  const both = (name: string): RequestStep[] =>
    ["v1", "v2"].flatMap((version) => [
      get(`${scalers(version)}/${name}`),
      get(`${scalers(version)}/${name}`, { headers: asTable, label: `TABLE of ${name} in ${version}` }),
    ])
  return [
    post(scalers("v2"), { metadata: { name: "a" }, spec: { ...scaled, metrics: [cpu(10), memory, cpu(20)] } }),
    put(`${scalers("v2")}/a/status`, { metadata: { name: "a" }, spec: scaled, status }),
    ...both("a"),
    patch(`${scalers("v1")}/a`, mergePatch, {}),
    patch(`${scalers("v1")}/a/status`, mergePatch, {}),
    ...both("a"),
    patch(`${scalers("v1")}/a?dryRun=All`, mergePatch, { metadata: { labels: { a: "b" } } }, { headers: asTable }),
    patch(`${scalers("v1")}/a`, mergePatch, { metadata: { labels: { a: "c" } } }, { headers: asTable }),
    get(scalers("v1"), { headers: asTable, label: "TABLE of all in v1" }),
    watch(`${scalers("v1")}?timeoutSeconds=2`, { headers: asTable }),
    post(scalers("v1"), {
      metadata: { name: "b", annotations },
      spec: { ...scaled, targetCPUUtilizationPercentage: 5 },
    }),
    ...both("b"),
    post(scalers("v1"), { metadata: { name: "c", annotations }, spec: scaled }),
    ...both("c"),
    patch(`${scalers("v2")}/c/status`, mergePatch, { status: { currentMetrics: [usedMemory] } }),
    patch(`${scalers("v1")}/c/status`, mergePatch, { status: cpuAlone }),
    patch(`${scalers("v1")}/c/status`, mergePatch, { metadata: { annotations: null }, status: cpuAlone }),
    ...both("c"),
  ]
}

/** Some fields are missing in each. Annotations are not validated, what is in them is. */
function olderAnnotations(): RequestStep[] {
  const prefix = "autoscaling.alpha.kubernetes.io/"
  const selector = { matchLabels: { a: "b" } }
  const target = { kind: "Service", name: "x", apiVersion: "v1" }
  const statuses: Json[] = [
    { type: "Pods", pods: { metricName: "m" } },
    { type: "Pods", pods: { metricName: "m", selector, currentAverageValue: "1.0005" } },
    { type: "Object", object: { metricName: "m" } },
    { type: "Object", object: { target, metricName: "m", selector, currentValue: "0.5", averageValue: "2" } },
    { type: "External", external: { metricName: "m" } },
    {
      type: "External",
      external: { metricName: "m", metricSelector: selector, currentValue: 1, currentAverageValue: 2 },
    },
    { type: "Resource", resource: { name: "cpu" } },
    { type: "Resource", resource: { name: "cpu", currentAverageUtilization: 1, currentAverageValue: null } },
    { type: "ContainerResource", containerResource: { name: "cpu" } },
    { type: "ContainerResource", containerResource: { name: "cpu", container: "c", currentAverageUtilization: 0 } },
    { type: "Bogus" },
    {},
    null,
    1,
    { type: 1 },
    { type: "Pods", pods: { metricName: 1 } },
    { type: "Pods", pods: { currentAverageValue: "x" } },
    { type: "Pods", pods: [] },
    { type: "Resource", resource: { currentAverageUtilization: "x" } },
  ]
  const specs: Json[] = [
    { type: "Pods", pods: { metricName: "m", targetAverageValue: "1" } },
    { type: "Pods", pods: { metricName: "m", selector, targetAverageValue: "1.0005" } },
    { type: "Pods", pods: { metricName: "m" } },
    { type: "Object", object: { target, metricName: "m", selector, targetValue: "0.5", averageValue: "2" } },
    { type: "Object", object: { target, metricName: "m", averageValue: "2" } },
    { type: "Object", object: { target, metricName: "m", targetValue: "2" } },
    { type: "Object", object: { metricName: "m" } },
    { type: "External", external: { metricName: "m", metricSelector: selector, targetValue: 1 } },
    { type: "External", external: { metricName: "m", targetAverageValue: "0" } },
    { type: "External", external: { metricName: "m", targetValue: 1, targetAverageValue: 2 } },
    { type: "Resource", resource: { name: "cpu", targetAverageUtilization: 5 } },
    { type: "Resource", resource: { name: "cpu", targetAverageUtilization: 5, targetAverageValue: "1" } },
    { type: "ContainerResource", containerResource: { name: "cpu", container: "c", targetAverageUtilization: 1 } },
    { type: "ContainerResource", containerResource: { name: "cpu", container: "c", targetAverageValue: "1Gi" } },
    { type: "Bogus" },
    {},
    null,
    { type: "Pods", pods: { metricName: 1 } },
  ]
  const conditions: Json[] = [
    { type: "AbleToScale", status: "True" },
    { lastTransitionTime: null },
    { lastTransitionTime: "x" },
    { type: 1 },
    {},
    null,
    1,
  ]
  const behaviors = [
    '{"ScaleUp":{"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":1}]}}',
    '{"scaleup":1}',
    '{"ScaleUp":{"Policies":1}}',
    '{"ScaleUp":{"Policies":[null]}}',
    "[]",
    "1",
    "{}",
    "x",
  ]
  const annotated = (key: string, list: Json[], index: number): RequestStep[] => {
    const metadata = { name: "a", annotations: { [`${prefix}${key}`]: JSON.stringify(list) } }
    return [
      put(`${scalers("v1")}/a/status`, { metadata, spec: scaled }, { label: `PUT ${key} ${index}` }),
      get(`${scalers("v2")}/a`, { label: `GET ${key} ${index}` }),
    ]
  }
  return [
    post(scalers("v1"), { metadata: { name: "a" }, spec: scaled }),
    ...statuses.flatMap((metric, index) => annotated("current-metrics", [metric], index)),
    ...conditions.flatMap((condition, index) => annotated("conditions", [condition], index)),
    ...specs.flatMap((metric, index) => {
      const metadata = { name: `b${index}`, annotations: { [`${prefix}metrics`]: JSON.stringify([metric]) } }
      return [
        post(scalers("v1"), { metadata, spec: scaled }, { label: `POST ${JSON.stringify(metric)}` }),
        get(`${scalers("v1")}/b${index}`),
        get(`${scalers("v2")}/b${index}`),
      ]
    }),
    ...behaviors.flatMap((behavior, index) => {
      const metadata = { name: `c${index}`, annotations: { [`${prefix}behavior`]: behavior } }
      return [
        post(scalers("v1"), { metadata, spec: scaled }, { label: `POST ${behavior}` }),
        get(`${scalers("v1")}/c${index}`),
        get(`${scalers("v2")}/c${index}`),
      ]
    }),
  ]
}

/** Those in which fields are written in v1 are kept in no version. */
function writtenAnnotations(version: string): RequestStep[] {
  const path = scalers(version)
  const names = [
    "metrics",
    "current-metrics",
    "conditions",
    "behavior",
    "scale-down-tolerance",
    "scale-up-tolerance",
    "x",
  ]
  const annotations = Object.fromEntries(names.map((name) => [`autoscaling.alpha.kubernetes.io/${name}`, "{}"]))
  const type = { apiVersion: `autoscaling/${version}`, kind: "HorizontalPodAutoscaler" }
  const object = (name: string): Json => ({ ...type, metadata: { name, annotations }, spec: scaled })
  const both = ["v1", "v2"].map((of) => get(`${scalers(of)}/a`))
  return [
    post(path, object("a")),
    ...both,
    put(`${path}/a`, object("a")),
    put(`${path}/a/status`, object("a")),
    patch(`${path}/a`, mergePatch, { metadata: { annotations } }),
    patch(`${path}/a`, strategicPatch, { metadata: { annotations } }),
    patch(`${path}/b?fieldManager=m&force=true`, applyPatch, object("b")),
    ...both,
  ]
}
