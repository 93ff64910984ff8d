// ResourceQuotas of what is created, changed and deleted at the same time: what they count, and how many fit.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Action, Step } from "../scenario.ts"
import { settle } from "../scenarios/steps.ts"
import { type Family, inBursts, maybe, oneByOne, refusable, some } from "./family.ts"

/**
 * Either there is room for all, or all that is created is alike: which of them are refused is left to chance. Nothing is created under a
 * name that is taken: it would be charged before it is refused, and which of several quotas was recounted since, too.
 */
export const quotasAtOnce: Family = (random) => (chance(random, 0.5) ? crowded(random) : roomy(random))

const quota = (name: string, hard: object, more: object = {}): Step => ({
  create: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec: { hard, ...more } },
})

function crowded(random: Random): ReturnType<Family> {
  const [resource, object, hard] = pick(random, alike)
  const create = { create: { ...object, metadata: { generateName: "o-" } } }
  const others = [
    (): Step => ({ patch: ["resourcequotas", "a"], with: { spec: { hard: { [hard]: String(random(9)) } } } }),
    (): Step => ({ deleteAll: resource }),
    (): Step => ({ delete: ["resourcequotas", "a"] }),
    (): Step => quota("a", { [hard]: String(random(5)) }),
  ]
  const steps = some(random, 3, 6, () => [
    { atOnce: some(random, 2, 8, () => create) },
    ...(chance(random, 0.6) ? [pick(random, others)()] : []),
  ]).flat()
  return { steps: oneByOne([quota("a", { [hard]: String(random(7)) }), ...steps].map(refusable)) }
}

const container = { name: "c", image: "one", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } }
const alike: readonly [resource: string, object: object, hard: string][] = [
  ["configmaps", { apiVersion: "v1", kind: "ConfigMap" }, "count/configmaps"],
  ["secrets", { apiVersion: "v1", kind: "Secret" }, "secrets"],
  ["pods", { apiVersion: "v1", kind: "Pod", spec: { containers: [container] } }, "pods"],
  ["pods", { apiVersion: "v1", kind: "Pod", spec: { containers: [container] } }, "requests.cpu"],
  ["pods", { apiVersion: "v1", kind: "Pod", spec: { containers: [container] } }, "limits.cpu"],
  ["leases", { apiVersion: "coordination.k8s.io/v1", kind: "Lease" }, "count/leases.coordination.k8s.io"],
  ["services", { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: 1 }] } }, "services"],
]

function roomy(random: Random): ReturnType<Family> {
  let made = 0
  const newName = (): string => `o${made++}`
  /** Of the last ones. */
  const someName = (): string => `o${Math.max(0, made - 1 - random(4))}`
  const actions: (() => Action)[] = [
    () => randomPod(random, newName()),
    () => randomPod(random, newName()),
    () => ({ delete: ["pods", someName()] }),
    () => ({ patch: ["pods", someName()], with: { spec: { activeDeadlineSeconds: 1 + random(100) } } }),
    () => ({
      patch: ["pods", someName()],
      with: { status: { phase: pick(random, ["Succeeded", "Running"]) } },
      subresource: "status",
    }),
    () => ({ create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: newName() } } }),
    () => ({ delete: ["configmaps", someName()] }),
  ]
  const ofQuotas: (() => Step | Step[])[] = [
    () => randomQuota(random, pick(random, quotaNames)),
    () => ({ delete: ["resourcequotas", pick(random, quotaNames)] }),
    // One alone: upstream names any of those that pods do not satisfy. It is in force when it has been counted.
    () => [{ patch: ["resourcequotas", "a"], with: { spec: { hard: { pods: null, memory: "1T" } } } }, settle],
    // Ours counts once more when a quota is a second old.
    () => [settle, { patch: ["resourcequotas", pick(random, quotaNames)], with: tooMany, subresource: "status" }],
  ]
  const steps = some(random, 4, 9, (): Step | Step[] => {
    if (chance(random, 0.3)) return pick(random, ofQuotas)()
    return { atOnce: apart(some(random, 1, 5, () => pick(random, actions)())) }
  })
  return {
    nodes: "bound",
    steps: inBursts(random, [randomQuota(random, "a"), randomQuota(random, "b"), ...steps.flat()].map(refusable)),
  }
}

const tooMany = { status: { used: { pods: "7" } } }

const quotaNames = ["a", "b", "c"]

/** Not twice of the same object: which came first would be left to chance. */
function apart(actions: readonly Action[]): Action[] {
  const subjectOf = (action: Action): string => {
    if ("create" in action) {
      const { kind, metadata } = action.create as { kind: string; metadata: { name: string } }
      return `${kind.toLowerCase()}s ${metadata.name}`
    }
    return "patch" in action ? action.patch.join(" ") : "delete" in action ? action.delete.join(" ") : ""
  }
  return [...new Map(actions.map((action) => [subjectOf(action), action])).values()]
}

const scopes: readonly object[] = [
  {},
  {},
  ...["BestEffort", "NotBestEffort", "Terminating", "NotTerminating"].map((scope) => ({ scopes: [scope] })),
  { scopes: ["NotBestEffort", "Terminating"] },
  { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] } },
  {
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["system-node-critical"] }],
    },
  },
]

function randomQuota(random: Random, name: string): Step {
  const scope = pick(random, scopes)
  const isScoped = Object.keys(scope).length > 0
  const hard = { pods: "1T", ...(isScoped ? {} : { "count/configmaps": "1T", "count/pods": "1T" }) }
  return quota(name, hard, scope)
}

const randomPod = (random: Random, name: string): Action => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      containers: [{ ...container, ...maybe(random, 0.4, { resources: {} }) }],
      ...maybe(random, 0.3, { activeDeadlineSeconds: 100 }),
      ...maybe(random, 0.3, { priorityClassName: pick(random, ["system-node-critical", "system-cluster-critical"]) }),
      ...maybe(random, 0.3, { terminationGracePeriodSeconds: 0 }),
    },
  },
})
