// Quantities that are replaced by the same amount in another text: no change, but the new text is stored.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

export function sameAmountCases(): Scenario[] {
  return [
    { name: "workloads get the same amounts in other texts", steps: workloads() },
    { name: "jobs and templates get the same amounts in other texts", steps: templates() },
    { name: "a pod gets the same amounts in other texts", steps: pods() },
    { name: "a pod has the overhead of its class in other texts", steps: overheads() },
    { name: "a claim gets the same amounts in other texts", steps: claims() },
    { name: "devices get the same amounts in other texts", steps: devices() },
  ]
}

const amount = "1Gi"
const inBytes = "1073741824"
const more = "1025Mi"

const replace = (path: string, field: string, value: string): RequestStep =>
  patch(path, jsonPatch, [{ op: "replace", path: field, value }], { label: `PATCH ${path} ${field} to ${value}` })

const spec: Body = {
  containers: [
    { name: "a", image: "b", resources: { limits: { memory: amount, cpu: "1" }, requests: { memory: amount } } },
  ],
  volumes: [{ name: "v", emptyDir: { sizeLimit: amount } }],
}
const limit = "/spec/containers/0/resources/limits/memory"
const sizeLimit = "/spec/volumes/0/emptyDir/sizeLimit"

const storage: Body = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: amount } } }

function workloads(): RequestStep[] {
  const template = { metadata: { labels: { a: "b" } }, spec }
  const change = (path: string): RequestStep[] =>
    [inBytes, amount, more].map((value) => replace(`${path}/x`, `/spec/template${limit}`, value))
  const sets = ["deployments", "replicasets", "daemonsets", "statefulsets"].flatMap((resource) => {
    const path = `/apis/apps/v1/namespaces/@{ns}/${resource}`
    const own = { serviceName: "s", volumeClaimTemplates: [{ metadata: { name: "v" }, spec: storage }] }
    const more = resource === "statefulsets" ? own : {}
    const set = { metadata: { name: "x" }, spec: { selector: { matchLabels: { a: "b" } }, template, ...more } }
    return [post(path, set), ...change(path)]
  })
  const controllers = "/api/v1/namespaces/@{ns}/replicationcontrollers"
  return [
    ...sets,
    replace(
      "/apis/apps/v1/namespaces/@{ns}/statefulsets/x",
      "/spec/volumeClaimTemplates/0/spec/resources/requests/storage",
      inBytes,
    ),
    post(controllers, { metadata: { name: "x" }, spec: { selector: { a: "b" }, template } }),
    ...change(controllers),
  ]
}

function templates(): RequestStep[] {
  const [batch, own] = ["/apis/batch/v1/namespaces/@{ns}", "/api/v1/namespaces/@{ns}/podtemplates"]
  const job = { template: { spec: { ...spec, restartPolicy: "Never" } } }
  return [
    post(`${batch}/jobs`, { metadata: { name: "x" }, spec: job }),
    replace(`${batch}/jobs/x`, `/spec/template${limit}`, inBytes),
    replace(`${batch}/jobs/x`, `/spec/template${limit}`, more),
    post(`${batch}/cronjobs`, { metadata: { name: "x" }, spec: { schedule: "* * * * *", jobTemplate: { spec: job } } }),
    replace(`${batch}/cronjobs/x`, `/spec/jobTemplate/spec/template${limit}`, inBytes),
    post(own, { metadata: { name: "x" }, template: { metadata: { labels: { a: "b" } }, spec } }),
    replace(`${own}/x`, `/template${limit}`, inBytes),
  ]
}

function pods(): RequestStep[] {
  const path = "/api/v1/namespaces/@{ns}/pods"
  return [
    post("/api/v1/namespaces/@{ns}/serviceaccounts", { metadata: { name: "default" } }),
    post(path, { metadata: { name: "p" }, spec }),
    replace(`${path}/p`, limit, inBytes),
    replace(`${path}/p`, sizeLimit, inBytes),
    replace(`${path}/p`, limit, more),
    replace(`${path}/p/status`, limit, amount),
    replace(`${path}/p/resize`, limit, amount),
    replace(`${path}/p/resize`, sizeLimit, amount),
    get(`${path}/p`),
  ]
}

function overheads(): RequestStep[] {
  const path = "/api/v1/namespaces/@{ns}/pods"
  const pod = (name: string, overhead: Body): RequestStep =>
    post(
      path,
      { metadata: { name }, spec: { ...spec, runtimeClassName: "rc-@{id}", overhead } },
      { label: `POST ${name}` },
    )
  const overhead = { podFixed: { memory: amount, cpu: "1" } }
  return [
    post("/api/v1/namespaces/@{ns}/serviceaccounts", { metadata: { name: "default" } }),
    post("/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "rc-@{id}" }, handler: "a", overhead }),
    pod("a", { memory: inBytes, cpu: "1000m" }),
    pod("b", { memory: more, cpu: "1" }),
    pod("c", { memory: inBytes }),
    pod("d", { memory: inBytes, "example.com/a": "1" }),
  ]
}

function claims(): RequestStep[] {
  const path = "/api/v1/namespaces/@{ns}/persistentvolumeclaims"
  const resources = { requests: { storage: amount }, limits: { storage: amount } }
  return [
    post(path, { metadata: { name: "a" }, spec: { ...storage, resources } }),
    replace(`${path}/a`, "/spec/resources/requests/storage", inBytes),
    replace(`${path}/a`, "/spec/resources/limits/storage", "1073741824000m"),
    replace(`${path}/a`, "/spec/resources/limits/storage", more),
    get(`${path}/a`),
  ]
}

function devices(): RequestStep[] {
  const group = "/apis/resource.k8s.io/v1"
  const [own, templates] = [
    `${group}/namespaces/@{ns}/resourceclaims`,
    `${group}/namespaces/@{ns}/resourceclaimtemplates`,
  ]
  const exactly = { deviceClassName: "c", capacity: { requests: { memory: amount } } }
  const spec: Body = { devices: { requests: [{ name: "r", exactly }] } }
  const requested = "/spec/devices/requests/0/exactly/capacity/requests/memory"
  const consumed = "/status/allocation/devices/results/0/consumedCapacity/memory"
  const result = { request: "r", driver: "a.example.com", pool: "p", device: "d", consumedCapacity: { memory: amount } }
  const slices = `${group}/resourceslices`
  const slice = {
    driver: "a.example.com",
    nodeName: "n",
    pool: { name: "p", resourceSliceCount: 1 },
    devices: [{ name: "d", capacity: { memory: { value: amount } } }],
  }
  return [
    post(own, { metadata: { name: "c" }, spec }),
    replace(`${own}/c`, requested, inBytes),
    replace(`${own}/c`, requested, more),
    put(`${own}/c/status`, {
      metadata: { name: "c" },
      spec,
      status: { allocation: { devices: { results: [result] } } },
    }),
    replace(`${own}/c/status`, consumed, inBytes),
    replace(`${own}/c/status`, consumed, more),
    post(templates, { metadata: { name: "c" }, spec: { spec } }),
    replace(`${templates}/c`, `/spec${requested}`, inBytes),
    post(slices, { metadata: { name: "s-@{id}" }, spec: slice }),
    replace(`${slices}/s-@{id}`, "/spec/devices/0/capacity/memory/value", inBytes),
    replace(`${slices}/s-@{id}`, "/spec/devices/0/capacity/memory/value", more),
  ]
}
