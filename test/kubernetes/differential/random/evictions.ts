// Random evictions of pods with budgets: the allowed disruptions are written to a budget's status, as its controller would do.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const pods = "/api/v1/namespaces/@{ns}/pods"
const budgets = "/apis/policy/v1/namespaces/@{ns}/poddisruptionbudgets"
const length = 26
const names = ["a", "b", "c"]
const budgetNames = ["x", "y"]

export function randomEvictionScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...names.flatMap((name) => made(random, name)),
    ...budgetNames.flatMap((name) => (chance(random, 0.8) ? [budgeted(random, name)] : [])),
    ...budgetNames.flatMap((name) => (chance(random, 0.8) ? allowed(random, name) : [])),
    ...Array.from({ length }, () => pick(random, choices)(random)).flat(),
  ]
  return {
    name: `evictions at random, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

const choices: readonly ((random: Random) => RequestStep[])[] = [
  evicts,
  evicts,
  evicts,
  evicts,
  (random) => made(random, pick(random, names)),
  (random) => reports(random, pick(random, names)),
  (random) => allowed(random, pick(random, budgetNames)),
  (random) => [budgeted(random, pick(random, budgetNames))],
  (random) => [get(`${budgets}/${pick(random, budgetNames)}`)],
  (random) => [get(`${pods}/${pick(random, names)}`)],
  (random) => [remove(`${pods}/${pick(random, names)}`, { gracePeriodSeconds: pick(random, [0, 5]) })],
  (random) => [changed(random, pick(random, budgetNames))],
  (random) => [held(random, pick(random, names))],
  (random) => [remove(`${budgets}/${pick(random, budgetNames)}`)],
]

function made(random: Random, name: string): RequestStep[] {
  const pod = {
    metadata: {
      name,
      labels: { app: pick(random, ["one", "one", "two"]), ...(chance(random, 0.3) ? { tier: "t" } : {}) },
      ...(chance(random, 0.2) ? { finalizers: ["example.com/held"] } : {}),
    },
    spec: {
      ...(chance(random, 0.5) ? { nodeName: "node" } : {}),
      ...(chance(random, 0.3) ? { terminationGracePeriodSeconds: pick(random, [0, 7]) } : {}),
      containers: [{ name: "main", image: "busybox" }],
    },
  }
  return [post(pods, pod), ...(chance(random, 0.8) ? reports(random, name) : [])]
}

function reports(random: Random, name: string): RequestStep[] {
  const phase = pick(random, ["Running", "Running", "Running", "Pending", "Succeeded", "Failed"])
  const ready = { type: "Ready", status: pick(random, ["True", "True", "False", "Unknown"]) }
  return [
    patch(`${pods}/${name}/status`, mergePatch, {
      status: { phase, ...(chance(random, 0.8) ? { conditions: [ready] } : {}) },
    }),
  ]
}

function budgeted(random: Random, name: string): RequestStep {
  const selector = pick<Json>(random, [
    { matchLabels: { app: "one" } },
    { matchLabels: { app: "one" } },
    { matchExpressions: [{ key: "tier", operator: "Exists" }] },
    {},
    null,
  ])
  const amount = pick<JsonObject>(random, [{ minAvailable: 1 }, { maxUnavailable: 1 }, { maxUnavailable: "50%" }, {}])
  const policy = pick<JsonObject>(random, [
    {},
    {},
    { unhealthyPodEvictionPolicy: "AlwaysAllow" },
    { unhealthyPodEvictionPolicy: "IfHealthyBudget" },
  ])
  return post(budgets, { metadata: { name }, spec: { selector, ...amount, ...policy } })
}

/** What its status says is of a generation before, until it is told again. */
function changed(random: Random, name: string): RequestStep {
  const spec = pick<JsonObject>(random, [
    { maxUnavailable: null, minAvailable: pick<Json>(random, [0, 1, "100%"]) },
    { minAvailable: null, maxUnavailable: pick<Json>(random, [0, 1, "100%"]) },
    { unhealthyPodEvictionPolicy: pick<Json>(random, ["AlwaysAllow", "IfHealthyBudget", "Never", null]) },
    { selector: pick<Json>(random, [{ matchLabels: { app: "two" } }, null]) },
  ])
  return patch(`${budgets}/${name}`, mergePatch, { spec })
}

/** It stays when it is evicted, and counts as one that ends; or it may go. */
function held(random: Random, name: string): RequestStep {
  const finalizers = pick<Json>(random, [null, ["example.com/held"]])
  return patch(`${pods}/${name}`, mergePatch, { metadata: { finalizers } })
}

function allowed(random: Random, name: string): RequestStep[] {
  const observed = pick<Json>(random, ["now", "now", "now", "now", 0, 9])
  const status = {
    disruptionsAllowed: pick(random, [0, 0, 1, 2, -1]),
    currentHealthy: pick(random, [0, 1, 2, 3]),
    desiredHealthy: pick(random, [0, 1, 2]),
    expectedPods: pick(random, [0, 1, 3]),
    observedGeneration: observed,
    ...(chance(random, 0.2) ? { disruptedPods: { [pick(random, names)]: "2024-01-02T03:04:05Z" } } : {}),
    ...(chance(random, 0.2)
      ? {
          conditions: [
            {
              type: "DisruptionAllowed",
              status: "False",
              reason: pick(random, ["SyncFailed", "InsufficientPods"]),
              message: "so",
              lastTransitionTime: "2024-01-02T03:04:05Z",
            },
          ],
        }
      : {}),
  }
  // The current generation, as a number.
  const text = JSON.stringify({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, resourceVersion: "@{budget.metadata.resourceVersion}" },
    status,
  }).replace('"now"', "@{budget.metadata.generation}")
  return [
    { ...get(`${budgets}/${name}`), save: "budget" },
    { ...put(`${budgets}/${name}/status`, text), contentType: "application/json" },
  ]
}

/** Without other uids: upstream retries those for ten seconds if the pod is pending. */
function evicts(random: Random): RequestStep[] {
  const name = pick(random, names)
  const options = pick<JsonObject>(random, [
    {},
    {},
    {},
    { deleteOptions: { dryRun: ["All"] } },
    { deleteOptions: { gracePeriodSeconds: pick(random, [0, 3, -1]) } },
    { deleteOptions: { preconditions: { resourceVersion: "1" } } },
    { deleteOptions: { propagationPolicy: pick(random, ["Orphan", "Foreground", "Bogus"]) } },
  ])
  const query = pick(random, ["", "", "", "?dryRun=All", "?fieldValidation=Strict"])
  const apiVersion = pick(random, ["policy/v1", "policy/v1", "policy/v1", "policy/v1beta1"])
  const body = { apiVersion, kind: "Eviction", metadata: { name, namespace: "@{ns}" }, ...options }
  return [
    post(`${pods}/${name}/eviction${query}`, chance(random, 0.9) ? body : { ...body, metadata: { name: "other" } }),
    ...(chance(random, 0.4) ? [get(budgets)] : []),
  ]
}
