// Patches that give an object of a built-in kind another of the versions in which its kind is served: it is read as that version says.
// Bodies of another version are refused.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

type Change = readonly [field: string, value: Json]

const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
const events = {
  v1: "/api/v1/namespaces/@{ns}/events",
  "events.k8s.io/v1": "/apis/events.k8s.io/v1/namespaces/@{ns}/events",
}

export function servedVersionCases(): Scenario[] {
  return [
    { name: "a scaler is patched to a later version", steps: scalerSteps("v1", "v2") },
    { name: "a scaler is patched to an earlier version", steps: scalerSteps("v2", "v1") },
    { name: "a scaler's status is patched to a later version", steps: statusSteps("v1", "v2") },
    { name: "a scaler's status is patched to an earlier version", steps: statusSteps("v2", "v1") },
    { name: "an event is patched to a later version", steps: eventSteps("v1", "events.k8s.io/v1") },
    { name: "an event is patched to an earlier version", steps: eventSteps("events.k8s.io/v1", "v1") },
  ]
}

const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 7 } } }

const scalerChanges: readonly Change[] = [
  ["spec/maxReplicas", 5],
  ["spec/metrics", [cpu]],
  ["spec/targetCPUUtilizationPercentage", 9],
  ["spec/behavior", { scaleDown: { stabilizationWindowSeconds: 1 } }],
  ["spec/maxReplicas", -1],
  ["spec/maxReplicas", "x"],
  ["spec/bogus", 1],
  ["metadata/labels", { a: "b" }],
  ["metadata/annotations", { "autoscaling.alpha.kubernetes.io/behavior": "{}", x: "y" }],
]

const scaled = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" } }

const scaler = (name: string, version: string): Json => ({
  apiVersion: `autoscaling/${version}`,
  kind: "HorizontalPodAutoscaler",
  metadata: { name },
  spec: scaled,
})

const inBoth = ["v1", "v2"].map((version) => get(`${scalers(version)}/a`))

function scalerSteps(own: string, other: string): RequestStep[] {
  const path = scalers(own)
  return [
    post(path, scaler("a", own)),
    ...patches(`${path}/a`, `autoscaling/${other}`, scalerChanges),
    ...inBoth,
    patch(`${path}/a?fieldManager=m&force=true`, applyPatch, scaler("a", other)),
    patch(`${path}/b?fieldManager=m&force=true`, applyPatch, scaler("b", other)),
    put(`${path}/a`, scaler("a", other)),
    post(path, scaler("c", other)),
  ]
}

function statusSteps(own: string, other: string): RequestStep[] {
  const changes: Change[] = [
    ["status", { currentReplicas: 1, currentCPUUtilizationPercentage: 3 }],
    ["spec/maxReplicas", 5],
  ]
  const path = scalers(own)
  return [post(path, scaler("a", own)), ...patches(`${path}/a/status`, `autoscaling/${other}`, changes), ...inBoth]
}

const eventChanges: readonly Change[] = [
  ["message", "m"],
  ["note", "n"],
  ["count", 3],
  ["deprecatedCount", 4],
  ["message", 5],
  ["metadata/labels", { a: "b" }],
]

function eventSteps(own: keyof typeof events, other: keyof typeof events): RequestStep[] {
  const about = { namespace: "@{ns}" }
  const times = { eventTime: "2020-01-01T00:00:00.000000Z", reportingController: "a/b", reportingInstance: "i" }
  const bodies = {
    v1: { message: "x", involvedObject: about },
    "events.k8s.io/v1": { note: "x", regarding: about, type: "Normal", reason: "r", action: "a", ...times },
  }
  const object = (apiVersion: keyof typeof events): Json => {
    return { apiVersion, kind: "Event", metadata: { name: "a" }, ...bodies[apiVersion] }
  }
  return [
    post(events[own], object(own)),
    ...patches(`${events[own]}/a`, other, eventChanges),
    put(`${events[own]}/a`, object(other)),
    get(`${events[own]}/a`),
  ]
}

function patches(path: string, apiVersion: string, changes: readonly Change[]): RequestStep[] {
  return [undefined, ...changes].flatMap((change) =>
    [mergePatch, strategicPatch, jsonPatch].flatMap((type) =>
      ["", "Strict", "Ignore"].map((validation) =>
        patch(
          `${path}${validation && `?fieldValidation=${validation}`}`,
          type,
          type === jsonPatch ? operations(apiVersion, change) : merged(apiVersion, change),
          { label: `PATCH ${path} ${type} ${validation} ${JSON.stringify(change)}` },
        ),
      ),
    ),
  )
}

function operations(apiVersion: string, change: Change | undefined): Json {
  const version = { op: "replace", path: "/apiVersion", value: apiVersion }
  return change === undefined ? [version] : [version, { op: "add", path: `/${change[0]}`, value: change[1] }]
}

function merged(apiVersion: string, change: Change | undefined): Json {
  if (change === undefined) return { apiVersion }
  const [field, value] = change
  const [first = "", second] = field.split("/")
  return { apiVersion, [first]: second === undefined ? value : { [second]: value } }
}
