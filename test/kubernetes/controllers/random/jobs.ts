// Jobs: pods that succeed, fail and are disrupted, under any policies.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { container } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, reported, some } from "./family.ts"

export const jobs: Family = (random) => ({
  nodes: pick(random, ["bound", "bound", "ready"] as const),
  steps: oneByOne([randomJob(random), ...some(random, 3, 7, () => jobStep(random))]),
})

function randomJob(random: Random): Step {
  const completions = 1 + random(5)
  const isIndexed = chance(random, 0.5)
  const indexed = {
    completions,
    completionMode: "Indexed",
    ...maybe(random, 0.4, {
      backoffLimitPerIndex: random(2),
      ...maybe(random, 0.5, { maxFailedIndexes: random(completions) }),
    }),
    ...maybe(random, 0.3, { successPolicy: { rules: [{ succeededCount: 1 + random(completions) }] } }),
  }
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
        template: {
          metadata: maybe(random, 0.15, held),
          spec: { restartPolicy: "Never", containers: [container("one")] },
        },
      },
    },
  }
}

/** By the user, or by the Job, whose labels it has no more. */
const releases = [{ ownerReferences: null }, { labels: { "batch.kubernetes.io/controller-uid": null } }]

function jobStep(random: Random): Step {
  // It may be gone, or not take the change.
  const patched = (fields: object): Step => ({ patch: ["jobs", "web"], with: fields, mayBeRefused: true })
  const disrupted = { exit: 1, condition: "DisruptionTarget" }
  return pick<() => Step>(random, [
    () => reported(random, ["ready"]),
    () => reported(random, ["succeeded"]),
    () => reported(random, [{ exit: 1 }, { exit: 42 }, disrupted]),
    () => patched({ spec: { suspend: chance(random, 0.5) } }),
    () => patched({ spec: { parallelism: random(5) } }),
    () => ({ deletePods: {}, count: 1 + random(2) }),
    () => ({ patchPods: {}, with: { metadata: pick<object>(random, releases) }, count: 1 + random(2) }),
    () => patched({ metadata: { labels: { touched: String(random(100)) } } }),
  ])()
}
