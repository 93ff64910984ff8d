// Random objects in a namespace with quotas and limit ranges: what they get by default, what is refused, and what is charged. No
// controller runs, so the status of every quota is written before anything else.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"
import { titled } from "./titled.ts"

const core = "/api/v1/namespaces/@{ns}"
const length = 40

export function randomQuotaScenario(seed: number): Scenario {
  const random = createRandom(seed)
  // Of several that are exceeded upstream names any.
  const names = ["q"]
  const limited = chance(random, 0.6)
  const steps = [
    ...(limited ? [post(`${core}/limitranges`, { metadata: { name: "l" }, spec: { limits: limits(random) } })] : []),
    ...names.flatMap((name) => quota(random, name)),
    ...known,
    ...Array.from({ length }, () => pick(random, choices)(random, names)),
    ...names.map((name) => get(`${core}/resourcequotas/${name}`)),
  ]
  return { name: `quotas at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** Both servers have seen the last quota, and so those before. */
const last = { metadata: { name: "last" }, spec: { hard: { "count/podtemplates": "0" } } }
const known: readonly RequestStep[] = [
  post(`${core}/resourcequotas`, last),
  put(`${core}/resourcequotas/last/status`, {
    ...last,
    status: { hard: { "count/podtemplates": "0" }, used: { "count/podtemplates": "0" } },
  }),
  post(
    `${core}/podtemplates?dryRun=All`,
    { metadata: { name: "p" }, template: { spec: { containers: [{ name: "c", image: "i" }] } } },
    { untilCode: 403 },
  ),
]

const cpus = ["100m", "200m", "1", "0.5", "2", "0"]
const memories = ["64Mi", "128Mi", "1Gi", "100M", "0"]
const storages = ["1Gi", "2Gi", "500Mi", "10Gi"]

function amounts(random: Random, probability: number): JsonObject {
  const all: [string, readonly string[]][] = [
    ["cpu", cpus],
    ["memory", memories],
    ["ephemeral-storage", memories],
    ["example.com/gpu", ["1", "2", "0"]],
    ["hugepages-2Mi", ["2Mi", "4Mi"]],
  ]
  return Object.fromEntries(
    all
      .filter((_, index) => chance(random, index < 2 ? probability : probability / 5))
      .map(([name, values]) => [name, pick(random, values)]),
  )
}

function limits(random: Random): Json {
  const types = ["Container", "Pod", "PersistentVolumeClaim"].filter(() => chance(random, 0.6))
  return types.map((type) => {
    if (type === "PersistentVolumeClaim") return { type, min: { storage: "1Gi" }, max: { storage: "5Gi" } }
    const more: JsonObject = {}
    if (chance(random, 0.5)) more["max"] = { cpu: "2", ...(chance(random, 0.5) ? { memory: "2Gi" } : {}) }
    if (chance(random, 0.4)) more["min"] = { cpu: "50m" }
    if (chance(random, 0.3)) more["maxLimitRequestRatio"] = { cpu: pick(random, ["2", "1.5", "10"]) }
    if (type === "Container" && chance(random, 0.5)) more["default"] = { cpu: "500m", memory: "256Mi" }
    if (type === "Container" && chance(random, 0.5)) more["defaultRequest"] = { cpu: "100m" }
    return { type, ...more }
  })
}

const counted: readonly [string, readonly string[]][] = [
  ["pods", ["2", "5"]],
  ["cpu", ["2", "3"]],
  ["requests.cpu", ["1500m", "4"]],
  ["limits.cpu", ["3", "5"]],
  ["memory", ["1Gi"]],
  ["limits.memory", ["2Gi"]],
  ["requests.ephemeral-storage", ["1Gi"]],
  ["requests.example.com/gpu", ["2"]],
  ["hugepages-2Mi", ["4Mi"]],
  ["count/pods", ["4"]],
]
const others: readonly [string, readonly string[]][] = [
  ["services", ["2"]],
  ["services.nodeports", ["2"]],
  ["services.loadbalancers", ["1"]],
  ["configmaps", ["2"]],
  ["count/configmaps", ["3"]],
  ["secrets", ["1"]],
  ["persistentvolumeclaims", ["3"]],
  ["requests.storage", ["5Gi"]],
  ["fast.storageclass.storage.k8s.io/requests.storage", ["3Gi"]],
  ["fast.storageclass.storage.k8s.io/persistentvolumeclaims", ["1"]],
  ["count/deployments.apps", ["1"]],
]

function quota(random: Random, name: string): RequestStep[] {
  const scopes = chance(random, 0.4)
    ? [pick(random, ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort"])]
    : []
  const offered =
    scopes[0] === "BestEffort" ? counted.slice(0, 1) : scopes.length > 0 ? counted.slice(0, 6) : [...counted, ...others]
  const hard = Object.fromEntries(
    offered.filter(() => chance(random, 0.35)).map(([resource, values]) => [resource, pick(random, values)]),
  )
  const selector = chance(random, 0.1)
    ? {
        scopeSelector: {
          matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }],
        },
      }
    : {}
  const spec = { hard, ...(scopes.length === 0 ? selector : { scopes }) }
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]))
  return [
    post(`${core}/resourcequotas?fieldManager=a`, { metadata: { name }, spec }),
    put(`${core}/resourcequotas/${name}/status?fieldManager=b`, { metadata: { name }, spec, status: { hard, used } }),
  ]
}

const choices: readonly ((random: Random, quotas: readonly string[]) => RequestStep)[] = [
  pods,
  pods,
  pods,
  pods,
  changedPods,
  services,
  services,
  claims,
  claims,
  plain,
  plain,
  removes,
  removes,
  (random, quotas) => get(`${core}/resourcequotas/${pick(random, quotas)}`),
]

const dry = (random: Random): string => (chance(random, 0.15) ? "?dryRun=All" : "")

function container(random: Random, name: string): JsonObject {
  const requests = amounts(random, 0.6)
  const upper = amounts(random, 0.5)
  return {
    name,
    image: "i",
    resources: {
      ...(chance(random, 0.8) ? { requests } : {}),
      ...(chance(random, 0.6) ? { limits: { ...upper, ...(chance(random, 0.5) ? requests : {}) } } : {}),
    },
  }
}

function pods(random: Random): RequestStep {
  const inits = chance(random, 0.2)
    ? [{ ...container(random, "i"), ...(chance(random, 0.5) ? { restartPolicy: "Always" } : {}) }]
    : []
  const spec: JsonObject = {
    containers: ["c", "d"].slice(0, 1 + random(2)).map((name) => container(random, name)),
    ...(inits.length === 0 ? {} : { initContainers: inits }),
    ...(chance(random, 0.2) ? { activeDeadlineSeconds: 100 } : {}),
    ...(chance(random, 0.1) ? { priorityClassName: "system-node-critical" } : {}),
    ...(chance(random, 0.1) ? { resources: { requests: amounts(random, 0.4) } } : {}),
  }
  return post(`${core}/pods${dry(random)}`, { metadata: { name: pick(random, ["a", "b", "c", "d"]) }, spec })
}

function changedPods(random: Random): RequestStep {
  const at = `${core}/pods/${pick(random, ["a", "b", "c"])}`
  return pick(random, [
    () => patch(`${at}/resize`, strategicPatch, { spec: { containers: [container(random, "c")] } }),
    () => patch(at, mergePatch, { spec: { activeDeadlineSeconds: 50 } }),
    () => patch(`${at}/status`, mergePatch, { status: { phase: pick(random, ["Succeeded", "Failed", "Running"]) } }),
    () => patch(at, mergePatch, { metadata: { labels: { a: "b" } } }),
  ])()
}

function services(random: Random): RequestStep {
  const type = pick(random, ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])
  const ports = ["a", "b"].slice(0, 1 + random(2)).map((name, index) => ({ name, port: 80 + index }))
  const spec = {
    type,
    ...(type === "ExternalName" ? { externalName: "example.com" } : { ports }),
    ...(type === "LoadBalancer" && chance(random, 0.4) ? { allocateLoadBalancerNodePorts: false } : {}),
  }
  const name = pick(random, ["s", "t"])
  if (chance(random, 0.4)) return patch(`${core}/services/${name}`, mergePatch, { spec })
  // A dry run claims nothing of the super cluster.
  return post(`${core}/services`, { metadata: { name }, spec })
}

function claims(random: Random): RequestStep {
  const name = pick(random, ["p", "r", "s"])
  const storage = pick(random, storages)
  if (chance(random, 0.25))
    return patch(`${core}/persistentvolumeclaims/${name}`, mergePatch, {
      spec: { resources: { requests: { storage } } },
    })
  return post(`${core}/persistentvolumeclaims${dry(random)}`, {
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage }, ...(chance(random, 0.2) ? { limits: { storage: "4Gi" } } : {}) },
      ...(chance(random, 0.5) ? { storageClassName: pick(random, ["fast", "slow", ""]) } : {}),
    },
  })
}

function plain(random: Random): RequestStep {
  const metadata = { name: pick(random, ["x", "y", "z"]) }
  if (chance(random, 0.25)) {
    const labels = { a: "b" }
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
    return post(`/apis/apps/v1/namespaces/@{ns}/deployments${dry(random)}`, {
      metadata,
      spec: { selector: { matchLabels: labels }, template },
    })
  }
  const path = `${core}/${pick(random, ["configmaps", "secrets"])}`
  return chance(random, 0.2)
    ? put(`${path}/${metadata.name}`, { metadata })
    : post(`${path}${dry(random)}`, { metadata })
}

function removes(random: Random): RequestStep {
  const path = pick(random, [
    "pods/a",
    "pods/b",
    "services/s",
    "persistentvolumeclaims/p",
    "configmaps/x",
    "configmaps",
    "secrets/x",
  ])
  return remove(`${core}/${path}`, { gracePeriodSeconds: 0 })
}
