// Deployments and ReplicaSets in a namespace whose quota refuses some of their pods and sets, and is raised and lowered meanwhile.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { container, labels, quota, scale, template, workload } from "../scenarios/steps.ts"
import { type Family, maybe, oneByOne, refusable, reported, some } from "./family.ts"

type Kind = "Deployment" | "ReplicaSet"

export const limitedWorkloads =
  (kind: Kind): Family =>
  (random) => {
    const make = create(random, kind)
    const limit = limitOf(random)
    const begin = chance(random, 0.6) ? [limit, make] : [make, limit]
    const step = (): Step => pick(random, meanwhile(random, kind, make))()
    return { nodes: "bound", steps: oneByOne([...begin, ...some(random, 4, 8, step)].map(refusable)) }
  }

function create(random: Random, kind: Kind): Step {
  const replicas = 1 + random(4)
  return workload(kind, {
    replicas,
    template: template("one"),
    ...(kind === "Deployment" ? { strategy: strategyOf(random), ...maybe(random, 0.3, { minReadySeconds: 1 }) } : {}),
  })
}

const strategyOf = (random: Random): object =>
  chance(random, 0.2)
    ? { type: "Recreate", rollingUpdate: null }
    : { rollingUpdate: { maxSurge: pick(random, [1, 2, "50%"]), maxUnavailable: pick(random, [0, 1, "50%"]) } }

/** Of pods, and sometimes of what the workload makes besides. */
const hardOf = (random: Random): object => ({
  pods: String(random(5)),
  ...maybe(random, 0.25, { "count/replicasets.apps": String(random(3)) }),
})

const limitOf = (random: Random): Step => quota(hardOf(random))

function meanwhile(random: Random, kind: Kind, make: Step): (() => Step)[] {
  const resource = `${kind.toLowerCase()}s`
  const patched = (spec: object): Step => ({ patch: [resource, "web"], with: { spec } })
  const ofLimit: [string, string] = ["resourcequotas", "limit"]
  const sizes = (): Step => scale(random(6), resource)
  const rollOut = (): Step =>
    patched({ template: { spec: { containers: [container(pick(random, ["two", "three"]))] } } })
  const steps: (() => Step)[] = [
    () => reported(random, ["ready", "ready", "unready"]),
    () => ({ pods: "ready" }),
    () => ({ pods: "ready", count: 1 }),
    () => ({ pods: { exit: 1 }, count: 1 }),
    () => ({ patch: ofLimit, with: { spec: { hard: hardOf(random) } } }),
    () => ({ patch: ofLimit, with: { spec: { hard: { pods: "20" } } } }),
    () => ({ delete: ofLimit }),
    () => limitOf(random),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => ({ delete: [resource, "web"], policy: pick(random, ["Background", "Orphan"]) }),
    () => make,
    sizes,
    sizes,
    rollOut,
    rollOut,
  ]
  if (kind === "Deployment") {
    steps.push(
      () => patched({ paused: chance(random, 0.5) }),
      () => patched({ progressDeadlineSeconds: pick(random, [2, 600]) }),
    )
  }
  return steps
}
