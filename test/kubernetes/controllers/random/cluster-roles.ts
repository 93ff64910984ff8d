// ClusterRoles that gather the rules of others, and one that gathers what they have. None gathers in a circle: upstream goes round for ever.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { type Family, held, inBursts, maybe, refusable, some } from "./family.ts"

const plain = ["a", "b", "c"] as const
const gathering = ["g", "h", "top"] as const
type Gathering = (typeof gathering)[number]

export const clusterRoles: Family = (random) => {
  const all = [...plain, ...gathering]
  const patch = (name: string, fields: object): Step => ({ patch: ["clusterroles", `NAMESPACE-${name}`], with: fields })
  const steps: (() => Step)[] = [
    () => createPlain(random),
    () => createGathering(random),
    () => patch(pick(random, plain), { metadata: { labels: labelsOf(random) } }),
    () => patch(pick(random, plain), { metadata: { labels: labelsOf(random) } }),
    () => patch(pick(random, all), { rules: rulesOf(random) }),
    () => patch(pick(random, all), { rules: rulesOf(random) }),
    () => regather(random, patch),
    () => regather(random, patch),
    () => patch(pick(random, all), { metadata: { finalizers: pick(random, [null, held.finalizers]) } }),
    () => ({ delete: ["clusterroles", `NAMESPACE-${pick(random, all)}`] }),
  ]
  const begin = [createPlain(random), createPlain(random), createGathering(random), createGathering(random)]
  return { steps: inBursts(random, [...begin, ...some(random, 6, 14, () => pick(random, steps)())].map(refusable)) }
}

const regather = (random: Random, patch: (name: string, fields: object) => Step): Step => {
  const name = pick(random, gathering)
  return patch(name, { aggregationRule: pick(random, [null, aggregation(random, name), aggregation(random, name)]) })
}

/** Those of no other scenario. */
const labelsOf = (random: Random): object => ({
  NAMESPACE: pick(random, ["x", "x", "y", null]),
  tier: pick(random, ["1", null]),
})

function aggregation(random: Random, name: Gathering): object {
  const selector = (): object => {
    if (name === "top") return { matchLabels: { NAMESPACE: pick(random, ["z", "z", "x"]) } }
    return pick<object>(random, [
      { matchLabels: { NAMESPACE: pick(random, ["x", "y"]) } },
      { matchLabels: { NAMESPACE: "x", tier: "1" } },
      { matchExpressions: [{ key: "NAMESPACE", operator: "In", values: ["x", "y"] }], matchLabels: { tier: "1" } },
      {
        matchExpressions: [
          { key: "NAMESPACE", operator: "In", values: ["x", "y"] },
          { key: "tier", operator: "DoesNotExist" },
        ],
      },
    ])
  }
  return { clusterRoleSelectors: some(random, 0, 2, selector) }
}

const rulesOf = (random: Random): object[] =>
  some(random, 0, 3, () =>
    pick<object>(random, [
      { apiGroups: [""], resources: [pick(random, ["pods", "nodes", "secrets"])], verbs: ["get"] },
      { apiGroups: ["", "apps"], resources: ["*"], verbs: ["list", "watch"] },
      { nonResourceURLs: ["/x"], verbs: ["get"] },
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"], verbs: ["*"] },
    ]),
  )

const role = (random: Random, name: string, labels: object, more: object): Step => ({
  create: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `NAMESPACE-${name}`, labels, ...maybe(random, 0.1, held) },
    rules: rulesOf(random),
    ...more,
  },
})

const createPlain = (random: Random): Step => {
  const labels = {
    ...maybe(random, 0.8, { NAMESPACE: pick(random, ["x", "y"]) }),
    ...maybe(random, 0.4, { tier: "1" }),
  }
  return role(random, pick(random, plain), labels, {})
}

const createGathering = (random: Random): Step => {
  const name = pick(random, gathering)
  const labels = name === "top" ? {} : maybe(random, 0.7, { NAMESPACE: "z" })
  return role(random, name, labels, maybe(random, 0.9, { aggregationRule: aggregation(random, name) }))
}
