// Random jobs and what their controller and users write: specs that may change while a job is suspended or not yet begun, policies of
// failure and success, and statuses that contradict the spec, the status before, or themselves.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const jobs = "/apis/batch/v1/namespaces/@{ns}/jobs"
const length = 36
const names = ["a", "b"]

export function randomJobLifeScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...names.map((name) => made(random, name)),
    ...Array.from({ length }, () => pick(random, choices)(random, pick(random, names))),
  ]
  return { name: `jobs at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** Each with its probability. */
function some(random: Random, fields: Record<string, readonly [number, () => Json]>): JsonObject {
  const chosen = Object.entries(fields).filter(([, [probability]]) => chance(random, probability))
  return Object.fromEntries(chosen.map(([name, [, value]]) => [name, value()]))
}

const number = (random: Random): number => pick(random, [0, 1, 1, 2, 2, 3, 5, -1])
const indexes = ["0", "1", "0,2", "0-1", "0-2", "1-", "2,1", "0,0", "x", "", "0-4", "5", "01", "0,1-2", "3-3", "-1"]

function policies(random: Random): Record<string, readonly [number, () => Json]> {
  const exit = (): Json => ({
    ...some(random, { containerName: [0.5, () => pick(random, ["m", "i", "x"])] }),
    operator: pick(random, ["In", "NotIn"]),
    values: pick<Json>(random, [[1], [1, 2], [0], [2, 1], []]),
  })
  const rule = (): Json => ({
    action: pick(random, ["FailJob", "Ignore", "Count", "FailIndex"]),
    ...pick<() => JsonObject>(random, [
      () => ({ onExitCodes: exit() }),
      () => ({ onPodConditions: [{ type: "DisruptionTarget", ...some(random, { status: [0.5, () => "True"] }) }] }),
      () => ({}),
    ])(),
  })
  const success = (): Json =>
    some(random, {
      succeededIndexes: [0.6, () => pick(random, indexes)],
      succeededCount: [0.5, () => number(random)],
    })
  return {
    podFailurePolicy: [0.3, () => ({ rules: Array.from({ length: random(3) }, rule) })],
    successPolicy: [0.3, () => ({ rules: Array.from({ length: random(3) }, success) })],
    podReplacementPolicy: [0.3, () => pick(random, ["Failed", "TerminatingOrFailed", "Odd"])],
    backoffLimitPerIndex: [0.3, () => number(random)],
    maxFailedIndexes: [0.2, () => number(random)],
    managedBy: [0.1, () => pick(random, ["kubernetes.io/job-controller", "example.com/other", "bare"])],
  }
}

function amounts(random: Random): Record<string, readonly [number, () => Json]> {
  return {
    completions: [0.5, () => number(random)],
    parallelism: [0.5, () => number(random)],
    suspend: [0.5, () => chance(random, 0.6)],
    backoffLimit: [0.3, () => number(random)],
    activeDeadlineSeconds: [0.2, () => number(random)],
    ttlSecondsAfterFinished: [0.2, () => number(random)],
  }
}

function template(random: Random): JsonObject {
  const labels = some(random, { x: [0.3, () => pick(random, ["1", "2"])] })
  const annotations = some(random, { y: [0.3, () => pick(random, ["1", "2"])] })
  return {
    metadata: { labels, annotations },
    spec: {
      restartPolicy: pick(random, ["Never", "Never", "Never", "OnFailure"]),
      containers: [
        {
          name: "m",
          image: "i",
          resources: { requests: some(random, { cpu: [0.4, () => pick(random, ["1", "2"])] }) },
        },
      ],
      ...some(random, {
        nodeSelector: [0.3, () => ({ z: pick(random, ["1", "2"]) })],
        tolerations: [0.2, () => [{ key: "t", operator: "Exists" }]],
        schedulingGates: [0.2, () => [{ name: "g" }]],
        affinity: [0.1, () => ({ nodeAffinity: {} })],
        activeDeadlineSeconds: [0.1, () => 5],
        initContainers: [0.2, () => [{ name: "i", image: "i" }]],
      }),
    },
  }
}

/** Upstream fails completely at an indexed job with a policy of success and no completions. */
function made(random: Random, name: string): RequestStep {
  const given = some(random, { ...amounts(random), ...policies(random), completionMode: [0.5, () => "Indexed"] })
  const spec = { ...("successPolicy" in given ? { completions: 2 } : {}), ...given, template: template(random) }
  return post(jobs, { metadata: { name }, spec })
}

type Choice = (random: Random, name: string) => RequestStep

/** Fewer fields at once, since few changes are permitted. */
const changes: Choice = (random, name) => {
  const all = Object.entries({
    ...amounts(random),
    ...policies(random),
    template: [1, () => template(random)] as const,
  })
  const few = all.filter(() => chance(random, 0.15))
  const spec = Object.fromEntries(few.map(([field, [, value]]) => [field, chance(random, 0.9) ? value() : null]))
  return patch(`${jobs}/${name}`, mergePatch, { spec })
}

const times = ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", "2024-01-03T00:00:00Z"]
const types = ["Complete", "Failed", "SuspendED", "Suspended", "FailureTarget", "SuccessCriteriaMet", "Other"]

const reports: Choice = (random, name) => {
  const condition = (): Json => ({
    type: pick(random, types),
    status: pick(random, ["True", "True", "True", "False", "Unknown"]),
    ...some(random, { reason: [0.3, () => "R"], lastTransitionTime: [0.2, () => pick(random, times)] }),
  })
  const uncounted = (): Json => some(random, { succeeded: [0.5, uids(random)], failed: [0.5, uids(random)] })
  const all: Record<string, readonly [number, () => Json]> = {
    active: [0.4, () => number(random)],
    ready: [0.4, () => number(random)],
    terminating: [0.4, () => number(random)],
    succeeded: [0.4, () => number(random)],
    failed: [0.4, () => number(random)],
    startTime: [0.4, () => pick(random, times)],
    completionTime: [0.3, () => pick(random, times)],
    conditions: [0.6, () => Array.from({ length: random(3) }, condition)],
    completedIndexes: [0.3, () => pick(random, indexes)],
    failedIndexes: [0.3, () => pick(random, indexes)],
    uncountedTerminatedPods: [0.4, uncounted],
  }
  const status = some(random, all)
  const cleared = Object.keys(all).filter(() => chance(random, 0.1))
  return patch(`${jobs}/${name}/status`, mergePatch, {
    status: { ...status, ...Object.fromEntries(cleared.map((field) => [field, null])) },
  })
}

const uids = (random: Random) => (): Json => pick<Json>(random, [[], ["u1"], ["u1", "u2"], ["u1", "u1"], [""]])

/** What a controller writes of a job that has begun, or ended well or badly. */
const plausible: Choice = (random, name) => {
  const [startTime = "", completionTime = ""] = times
  const met = { type: "SuccessCriteriaMet", status: "True" }
  const status = pick<JsonObject>(random, [
    { startTime, active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} },
    { startTime: null, active: 0, conditions: [{ type: "Suspended", status: "True" }] },
    { conditions: [{ type: "FailureTarget", status: "True" }] },
    { conditions: [met] },
    {
      startTime,
      completionTime,
      active: 0,
      ready: 0,
      terminating: 0,
      succeeded: 1,
      uncountedTerminatedPods: null,
      conditions: [met, { type: "Complete", status: "True" }],
    },
    {
      startTime,
      active: 0,
      terminating: 0,
      conditions: [
        { type: "FailureTarget", status: "True" },
        { type: "Failed", status: "True" },
      ],
    },
  ])
  return patch(`${jobs}/${name}/status`, mergePatch, { status })
}

const choices: readonly Choice[] = [
  changes,
  changes,
  changes,
  changes,
  changes,
  reports,
  reports,
  reports,
  reports,
  plausible,
  plausible,
  plausible,
  (random, name) => made(random, name),
  (_, name) => remove(`${jobs}/${name}?propagationPolicy=Background`),
  (_, name) => get(`${jobs}/${name}`),
]
