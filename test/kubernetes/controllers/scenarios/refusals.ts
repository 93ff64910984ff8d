// Steps by which requests are refused in a scenario's namespace: a ValidatingAdmissionPolicy of its own.

import type { Step } from "../scenario.ts"
import { settle } from "./steps.ts"

const group = "admissionregistration.k8s.io/v1"

/** By `expression`, of core objects. API servers follow policies within a moment. */
export const refusing = (resource: string, operations: readonly string[], expression: string): Step[] => [
  {
    create: {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "NAMESPACE" },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations, resources: [resource] }],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "NAMESPACE" } },
        },
        validations: [{ expression, message: "it is not to be" }],
      },
    },
  },
  {
    create: {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "NAMESPACE" },
      spec: { policyName: "NAMESPACE", validationActions: ["Deny"] },
    },
  },
  settle,
]

export const admits: Step = { delete: ["validatingadmissionpolicybindings", "NAMESPACE"] }
