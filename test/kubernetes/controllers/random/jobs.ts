// Jobs: pods that succeed, fail and are disrupted, under any policies.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { container } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, reported, some } from "./family.ts"

const ofFailed = { podReplacementPolicy: "Failed" }

export const jobs: Family = (random) => ({
  nodes: pick(random, ["bound", "bound", "ready"] as const),
  steps: oneByOne([randomJob(random), ...some(random, 3, 7, () => jobStep(random))]),
})

function randomJob(random: Random): Step {
  const completions = 1 + random(5)
  const isIndexed = chance(random, 0.5)
  const isPerIndex = isIndexed && chance(random, 0.4)
  const perIndex = { backoffLimitPerIndex: random(2), ...maybe(random, 0.5, { maxFailedIndexes: random(completions) }) }
  const indexed = {
    completions,
    completionMode: "Indexed",
    ...(isPerIndex ? perIndex : {}),
    ...maybe(random, 0.4, { successPolicy: { rules: some(random, 1, 2, () => successRule(random, completions)) } }),
  }
  const isOfManyTries = chance(random, 0.15)
  return {
    create: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "web" },
      spec: {
        parallelism: 1 + random(5),
        backoffLimit: pick(random, [0, 1, 2, 6]),
        ...(isIndexed ? indexed : maybe(random, 0.7, { completions })),
        ...maybe(random, 0.2, { suspend: true }),
        ...maybe(random, 0.2, { podReplacementPolicy: pick(random, ["Failed", "TerminatingOrFailed"]) }),
        // With such a policy, only failed pods are replaced.
        ...(isOfManyTries
          ? {}
          : maybe(random, 0.4, { podFailurePolicy: failurePolicy(random, isPerIndex), ...ofFailed })),
        ...maybe(random, 0.15, { ttlSecondsAfterFinished: pick(random, [0, 1, 3600]) }),
        ...maybe(random, 0.2, { activeDeadlineSeconds: pick(random, [1, 2, 2, 3600]) }),
        ...maybe(random, 0.05, { managedBy: pick(random, ["example.com/other", "kubernetes.io/job-controller"]) }),
        template: {
          metadata: maybe(random, 0.15, held),
          spec: { restartPolicy: isOfManyTries ? "OnFailure" : "Never", containers: [container("one")] },
        },
      },
    },
  }
}

function successRule(random: Random, completions: number): object {
  const last = random(completions)
  const to = (first: number): string => (first === last ? `${last}` : `${first}-${last}`)
  const indexes = { succeededIndexes: pick(random, [to(last), to(0), to(random(last + 1))]) }
  const count = { succeededCount: 1 + random(completions) }
  return pick<object>(random, [indexes, count, { ...indexes, succeededCount: 1 }])
}

/** Rules are looked at in their order; what none of them says is counted. */
function failurePolicy(random: Random, isPerIndex: boolean): object {
  const actions = ["FailJob", "Ignore", "Count", ...(isPerIndex ? ["FailIndex"] : [])]
  const codes = (): object => ({
    operator: pick(random, ["In", "NotIn"]),
    values: pick(random, [[1], [42], [1, 42], [3]]),
    ...maybe(random, 0.3, { containerName: "c" }),
  })
  const rule = (): object => ({
    action: pick(random, actions),
    ...(chance(random, 0.6)
      ? { onExitCodes: codes() }
      : { onPodConditions: [{ type: "DisruptionTarget", status: pick(random, ["True", "True", "False"]) }] }),
  })
  return { rules: some(random, 1, 3, rule) }
}

/** By the user, or by the Job, whose labels it has no more. */
const releases = [{ ownerReferences: null }, { labels: { "batch.kubernetes.io/controller-uid": null } }]

/** As an indexed Job may grow. */
const together = (size: number): object => ({ completions: size, parallelism: size })

function jobStep(random: Random): Step {
  // It may be gone, or not take the change.
  const patched = (fields: object): Step => ({ patch: ["jobs", "web"], with: fields, mayBeRefused: true })
  const disrupted = { exit: 1, condition: "DisruptionTarget" }
  return pick<() => Step>(random, [
    () => reported(random, ["ready"]),
    () => reported(random, ["succeeded"]),
    () => reported(random, [{ exit: 1 }, { exit: 42 }, disrupted]),
    () => reported(random, [{ exit: 42 }, { restarts: 1 }, { restarts: 3 }]),
    () => patched({ spec: { suspend: chance(random, 0.5) } }),
    () => patched({ spec: { parallelism: random(5) } }),
    () => patched({ spec: together(1 + random(5)) }),
    () =>
      patched({
        spec: pick<object>(random, [
          { backoffLimit: random(3) },
          { activeDeadlineSeconds: pick(random, [1, null]) },
          { ttlSecondsAfterFinished: pick(random, [0, 1, null]) },
        ]),
      }),
    () => patched({ spec: { template: { spec: { nodeSelector: { a: pick(random, ["b", null]) } } } } }),
    () => patched({ metadata: { finalizers: pick(random, [null, held.finalizers]) } }),
    () => ({
      delete: ["jobs", "web"],
      policy: pick(random, ["Background", "Foreground", "Orphan"]),
      mayBeRefused: true,
    }),
    () => ({ deletePods: {}, count: 1 + random(2) }),
    () => ({ patchPods: {}, with: { metadata: pick<object>(random, releases) }, count: 1 + random(2) }),
    () => patched({ metadata: { labels: { touched: String(random(100)) } } }),
  ])()
}
