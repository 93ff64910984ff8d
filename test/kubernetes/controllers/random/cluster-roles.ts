// ClusterRoles that gather the rules of others, which may gather too.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { type Family, held, inBursts, maybe, refusable, some } from "./family.ts"

const names = ["a", "b", "c", "d", "e"]

export const clusterRoles: Family = (random) => {
  const steps: (() => Step)[] = [
    () => create(random),
    () => create(random),
    () => patch(random, { metadata: { labels: labelsOf(random) } }),
    () => patch(random, { rules: rulesOf(random) }),
    () => patch(random, { aggregationRule: chance(random, 0.3) ? null : aggregation(random) }),
    () => patch(random, { metadata: { finalizers: pick(random, [null, held.finalizers]) } }),
    () => ({ delete: where(random) }),
  ]
  const all = [...some(random, 3, 5, () => create(random)), ...some(random, 6, 14, () => pick(random, steps)())]
  return { steps: inBursts(random, all.map(refusable)) }
}

const where = (random: Random): [string, string] => ["clusterroles", `NAMESPACE-${pick(random, names)}`]
const patch = (random: Random, fields: object): Step => ({ patch: where(random), with: fields })

/** Those of no other scenario. */
const labelsOf = (random: Random): object => ({
  NAMESPACE: pick(random, ["x", "x", "y", null]),
  tier: pick(random, ["1", null]),
})

function aggregation(random: Random): object {
  const selector = (): object =>
    pick<object>(random, [
      { matchLabels: { NAMESPACE: pick(random, ["x", "y", "z"]) } },
      { matchLabels: { NAMESPACE: "x", tier: "1" } },
      { matchExpressions: [{ key: "NAMESPACE", operator: "Exists" }] },
      { matchExpressions: [{ key: "NAMESPACE", operator: "In", values: ["x", "y"] }], matchLabels: { tier: "1" } },
    ])
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

const create = (random: Random): Step => ({
  create: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `NAMESPACE-${pick(random, names)}`, labels: created(random), ...maybe(random, 0.1, held) },
    rules: rulesOf(random),
    ...maybe(random, 0.4, { aggregationRule: aggregation(random) }),
  },
})

const created = (random: Random): object => ({
  ...maybe(random, 0.7, { NAMESPACE: pick(random, ["x", "y"]) }),
  ...maybe(random, 0.4, { tier: "1" }),
})
