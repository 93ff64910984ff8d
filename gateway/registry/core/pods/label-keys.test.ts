import { expect, test } from "vitest"
import type { Pod } from "../../../../apimachinery/object.ts"
import { createKindsStub, faults, type Loose } from "../../../testing/kinds.ts"
import { mergeLabelKeys } from "./label-keys.ts"

const labels = { app: "a", version: "1", empty: "" }
const exists = (key: string): Loose => ({ key, operator: "Exists" })
const is = (key: string, value: string): Loose => ({ key, operator: "In", values: [value] })
const isNot = (key: string, value: string): Loose => ({ key, operator: "NotIn", values: [value] })

const podOf = (terms: Loose[], constraint: Loose = {}): Pod =>
  // Through JSON: no two places share a term.
  JSON.parse(
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", labels },
      spec: {
        containers: [{ name: "main", image: "i" }],
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms.slice(0, 1) },
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: terms.slice(1),
            preferredDuringSchedulingIgnoredDuringExecution: terms.map((term) => ({
              weight: 1,
              podAffinityTerm: term,
            })),
          },
        },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", ...constraint },
        ],
      },
    }),
  ) as Pod

test.each<[string, Loose, Loose[] | undefined]>([
  [
    "in the order of the keys",
    { labelSelector: {}, matchLabelKeys: ["version", "app"] },
    [is("version", "1"), is("app", "a")],
  ],
  ["also an empty value", { labelSelector: {}, matchLabelKeys: ["empty"] }, [is("empty", "")]],
  [
    "matching before mismatching keys, after existing expressions",
    {
      labelSelector: { matchLabels: { x: "y" }, matchExpressions: [exists("app")] },
      mismatchLabelKeys: ["app"],
      matchLabelKeys: ["version"],
    },
    [exists("app"), is("version", "1"), isNot("app", "a")],
  ],
  [
    "without keys that the pod does not have",
    { labelSelector: {}, matchLabelKeys: ["none", "valueOf", "app"] },
    [is("app", "a")],
  ],
  [
    "not at all if the pod has none of the keys",
    { labelSelector: {}, matchLabelKeys: ["none"], mismatchLabelKeys: [] },
    undefined,
  ],
  ["not at all without keys", { labelSelector: { matchExpressions: [exists("x")] } }, [exists("x")]],
])("the values of a pod's labels are merged into its selectors: %s", (_what, keys, expected) => {
  const pod = podOf([keys, keys], { ...keys, mismatchLabelKeys: undefined })
  mergeLabelKeys(pod)
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {}
  for (const term of [
    podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0],
    podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0],
    podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.podAffinityTerm,
  ]) {
    expect(term?.labelSelector?.matchExpressions).toEqual(expected)
    expect(term?.matchLabelKeys).toEqual(keys["matchLabelKeys"])
  }
  // Constraints know only keys to match.
  const matching = expected?.filter(({ operator }) => operator !== "NotIn")
  expect(pod.spec?.topologySpreadConstraints?.[0]?.labelSelector?.matchExpressions).toEqual(matching)
})

const keys = { topologyKey: "zone", labelSelector: { matchLabels: { x: "y" } }, matchLabelKeys: ["app"] }

test("labels are merged when the pod is created, and not when its labels change", async () => {
  await using kinds = createKindsStub()
  const merged = { matchLabels: { x: "y" }, matchExpressions: [is("app", "a")] }
  const selectors = ({ spec }: Loose): Loose[] => [
    spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector,
    spec.topologySpreadConstraints[0].labelSelector,
  ]
  expect(selectors(await kinds.create("pods", podOf([keys], keys)))).toEqual([merged, merged])
  const changed = await kinds.patch("pods", "p", { metadata: { labels: { app: "b" } } })
  expect(selectors(changed)).toEqual([merged, merged])
})

test.each<[string, Loose, Loose]>([
  ["a label", { matchLabels: { app: "a" } }, { matchLabelKeys: ["app"] }],
  ["an expression", { matchExpressions: [exists("app")] }, { matchLabelKeys: ["app"] }],
  ["nothing, with a repeated key", {}, { matchLabelKeys: ["app", "app"] }],
])("a pod's selector must not contain a key to be merged, a template's may: %s", async (_what, labelSelector, more) => {
  await using kinds = createKindsStub()
  const made = podOf([], { labelSelector, ...more })
  const index = more["matchLabelKeys"].length - 1
  expect(await faults(kinds.create("pods", made))).toEqual([
    `spec.topologySpreadConstraints[0][${index}]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`,
  ])
  const template = { metadata: { labels }, spec: made.spec }
  expect(await faults(kinds.create("podtemplates", { metadata: { name: "t" }, template }))).toEqual([])
})
