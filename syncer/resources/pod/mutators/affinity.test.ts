import { expect, test } from "vitest"
import { superNamespace } from "../../../../apimachinery/tenancy.ts"
import { podOf, run, tenant } from "../../../testing/pod-mutation.ts"
import { affinity } from "./affinity.ts"

test("affinity is restricted to the tenant, with super names of namespaces", () => {
  const term = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { a: "1" } },
    namespaces: ["other"],
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["other"] }],
    },
  }
  const spec = run(
    affinity,
    podOf({
      affinity: {
        nodeAffinity: {},
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
      },
    }),
  )
  const restricted = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { a: "1", "tenancy.x-k8s.io/cluster": tenant.clusterKey } },
    namespaces: [superNamespace(tenant.clusterKey, "other")],
    namespaceSelector: {
      matchLabels: { "tenancy.x-k8s.io/cluster": tenant.clusterKey },
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "In", values: [superNamespace(tenant.clusterKey, "other")] },
      ],
    },
  }
  expect(spec.affinity).toEqual({
    nodeAffinity: {},
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [restricted] },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: restricted }] },
  })
})

test("selectors include the values of matchLabelKeys, without the keys", () => {
  const matchExpressions = [
    { key: "a", operator: "In", values: ["1"] },
    { key: "team", operator: "NotIn", values: ["t"] },
  ]
  const term = { topologyKey: "zone", labelSelector: { matchExpressions } }
  const keys = { matchLabelKeys: ["a"], mismatchLabelKeys: ["team"] }
  const constraint = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} }
  const spec = run(
    affinity,
    podOf({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...keys }],
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { ...term, ...keys } }],
        },
      },
      topologySpreadConstraints: [{ ...constraint, matchLabelKeys: ["a"] }, constraint],
    }),
  )
  const restricted = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { "tenancy.x-k8s.io/cluster": tenant.clusterKey }, matchExpressions },
  }
  expect(spec.affinity).toEqual({
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [restricted],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: restricted }],
    },
  })
  expect(spec.topologySpreadConstraints).toEqual([constraint, constraint])
})
