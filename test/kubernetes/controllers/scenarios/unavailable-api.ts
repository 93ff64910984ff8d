// An unavailable aggregated API: its objects of a namespace are not known.

import type { Scenario, Step } from "../scenario.ts"
import { config } from "./deletion-steps.ts"
import { settle } from "./steps.ts"

const group = "NAMESPACE.unreachable.example.com"
const name = `v1.${group}`
const unavailable: readonly Step[] = [
  {
    create: {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name },
      spec: {
        group,
        version: "v1",
        service: { namespace: "default", name: "nobody" },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  },
  { until: ["apiservices", name], has: { status: { conditions: [{ type: "Available", status: "False" }] } } },
]
const failed: Step = {
  until: ["namespaces", "NAMESPACE"],
  has: { status: { conditions: [{ type: "NamespaceDeletionDiscoveryFailure", status: "True" }] } },
}

export const unavailableApiScenarios: readonly Scenario[] = [
  {
    name: "namespace is deleted that is gone with it",
    steps: [
      ...unavailable,
      config("plain"),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      failed,
      { delete: ["apiservices", name] },
      { until: ["namespaces", "NAMESPACE"], has: null, late: true },
      settle,
    ],
  },
  // Last, as its API stays.
  {
    name: "namespace is deleted",
    steps: [...unavailable, config("plain"), settle, { delete: ["namespaces", "NAMESPACE"] }, failed, settle],
  },
]
