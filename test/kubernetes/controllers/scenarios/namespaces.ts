// The end of namespaces.

import type { Scenario, Step } from "../scenario.ts"
import { begunToEnd, config, held, hold, pod } from "./deletion-steps.ts"
import { deployment, settle } from "./steps.ts"

export const namespaceScenarios: readonly Scenario[] = [
  {
    name: "namespace deleted that something holds",
    steps: [
      config("plain"),
      held("held"),
      deployment({ replicas: 1 }),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      {
        until: ["namespaces", "NAMESPACE"],
        has: { status: { conditions: [{ type: "NamespaceFinalizersRemaining", status: "True" }] } },
      },
      settle,
    ],
  },
  {
    name: "namespace deleted that holds itself",
    steps: [
      { patch: ["namespaces", "NAMESPACE"], with: { metadata: { finalizers: ["example.com/hold"] } } },
      config("plain"),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      begunToEnd,
      settle,
    ],
  },
  {
    name: "namespace deleted that others finalize, too",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: "NAMESPACE-more" },
          spec: { finalizers: ["example.com/b", "example.com/a"] },
        },
      },
      { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "plain", namespace: "NAMESPACE-more" } } },
      settle,
      { delete: ["namespaces", "NAMESPACE-more"] },
      {
        until: ["namespaces", "NAMESPACE-more"],
        has: { status: { conditions: [{ type: "NamespaceContentRemaining", status: "False" }] } },
      },
      settle,
    ],
  },
  {
    name: "namespace deleted whose pods take their time",
    steps: [
      pod("slow", { nodeName: "n1", terminationGracePeriodSeconds: 3600 }),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      begunToEnd,
      settle,
    ],
  },
  {
    name: "namespace deleted whose pod is held",
    steps: [
      pod("held", { nodeName: "n1" }),
      { patch: ["pods", "held"], with: { metadata: hold } },
      config("plain"),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      begunToEnd,
      settle,
    ],
  },
  {
    name: "namespace deleted whose pods take longer than they may",
    steps: [
      pod("late", { nodeName: "n1", terminationGracePeriodSeconds: 1 }),
      config("plain"),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      {
        until: ["namespaces", "NAMESPACE"],
        has: { status: { conditions: [{ type: "NamespaceDeletionContentFailure", status: "True" }] } },
      },
      settle,
    ],
  },
  {
    name: "namespace deleted with what a policy keeps",
    steps: [
      ...keeping(),
      config("keeps"),
      config("goes"),
      settle,
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      {
        until: ["namespaces", "NAMESPACE"],
        has: { status: { conditions: [{ type: "NamespaceDeletionContentFailure", status: "True" }] } },
      },
      settle,
    ],
  },
]

/** A policy that lets nobody delete one of the namespace's ConfigMaps. */
function keeping(): Step[] {
  const metadata = { name: "NAMESPACE" }
  const apiVersion = "admissionregistration.k8s.io/v1"
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "NAMESPACE" } }
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["configmaps"] }
  const spec = {
    matchConstraints: { namespaceSelector, resourceRules: [rule] },
    validations: [{ expression: "oldObject.metadata.name != 'keeps'", message: "it stays" }],
  }
  const binding = { policyName: "NAMESPACE", validationActions: ["Deny"] }
  return [
    { create: { apiVersion, kind: "ValidatingAdmissionPolicy", metadata, spec } },
    { create: { apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata, spec: binding } },
  ]
}
