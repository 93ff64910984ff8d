// Nodes that users taint, with pods that tolerate this for ever, for a time or not at all. What a node says of itself, and that it is gone,
// is left to scenarios by hand: upstream's clocks decide when it matters.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { nodeNamed, own, podOn, says, tolerates } from "../scenarios/node-steps.ts"
import { labels } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, reported, some } from "./family.ts"

const names = ["a", "b"] as const

export const nodes: Family = (random) => {
  let pods = 0
  const newPod = (): Step => randomPod(random, `p${pods++}`)
  const steps: (() => Step)[] = [
    newPod,
    newPod,
    () => tainted(random),
    () => tainted(random),
    () => tainted(random),
    () => says(pick(random, names), ["Ready", "True"], ...pressures(random)),
    () => patched(random, { spec: { unschedulable: chance(random, 0.5) } }),
    () => patched(random, { metadata: { labels: { touched: String(random(100)) } } }),
    () => reported(random, ["ready", "succeeded", { exit: 1 }]),
    () => ({ patchPods: labels, with: { spec: { tolerations: randomTolerations(random) } }, count: 1 }),
    () => ({ patchPods: labels, with: { metadata: { finalizers: pick(random, [null, held.finalizers]) } }, count: 1 }),
    () => ({ deletePods: labels, count: 1 }),
    () => ({ evictPods: labels, count: 1 }),
  ]
  const begin = names.flatMap((name) => [nodeNamed(name), says(name, ["Ready", "True"])])
  return {
    steps: [...begin, ...oneByOne([newPod(), ...some(random, 4, 8, () => pick(random, steps)())].map(refusable))],
  }
}

const patched = (random: Random, fields: object): Step => ({
  patch: ["nodes", `NAMESPACE-${pick(random, names)}`],
  with: fields,
})

const keys = ["leave", "now", "node.kubernetes.io/out-of-service"] as const

function tainted(random: Random): Step {
  const taints = some(random, 0, 2, () => ({
    key: pick(random, keys),
    effect: pick(random, ["NoExecute", "NoExecute", "NoSchedule", "PreferNoSchedule"]),
    ...maybe(random, 0.4, { value: pick(random, ["x", "y"]) }),
  }))
  return patched(random, { spec: { taints: [own, ...taints] } })
}

/** They make taints that keep new pods away. */
const pressures = (random: Random): [type: string, status: string][] =>
  ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]
    .filter(() => chance(random, 0.5))
    .map((type) => [type, pick(random, ["True", "True", "False", "Unknown"])])

/** For no time, or for longer than a scenario. */
const randomTolerations = (random: Random): object[] => [
  tolerates,
  ...some(random, 0, 2, () => {
    const key = pick(random, [...keys, undefined])
    const value = chance(random, 0.3) ? { operator: "Equal", value: "x" } : { operator: "Exists" }
    return {
      ...(key === undefined ? { operator: "Exists" } : { key, ...value }),
      effect: "NoExecute",
      ...maybe(random, 0.6, { tolerationSeconds: pick(random, [0, -1, 1, 3600, 7200]) }),
    }
  }),
]

const randomPod = (random: Random, name: string): Step =>
  podOn(
    pick(random, names),
    name,
    { labels, ...maybe(random, 0.25, held) },
    {
      tolerations: randomTolerations(random),
      ...maybe(random, 0.3, { terminationGracePeriodSeconds: 0 }),
      ...maybe(random, 0.2, { restartPolicy: "Never" }),
    },
  )
