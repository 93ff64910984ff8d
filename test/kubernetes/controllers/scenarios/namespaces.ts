// The end of namespaces.

import type { Scenario } from "../scenario.ts"
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
]
