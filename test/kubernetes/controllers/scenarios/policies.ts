// The type-checking warnings of ValidatingAdmissionPolicies.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"

const rule = (group: string, version: string, resource: string): object => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ["CREATE"],
  resources: [resource],
})
const policy = (rules: object[], expressions: string[], more: object = {}): Step => ({
  create: {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "NAMESPACE" },
    spec: {
      // Nobody's: what is made elsewhere is not asked for.
      matchConstraints: {
        resourceRules: rules,
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "nowhere" } },
      },
      validations: expressions.map((expression) => ({ expression })),
      ...more,
    },
  },
})
const deployments = rule("apps", "v1", "deployments")
const statusWritten: Step = {
  until: ["validatingadmissionpolicies", "NAMESPACE"],
  has: { status: { observedGeneration: 1 } },
}

export const policyScenarios: readonly Scenario[] = [
  {
    name: "policy without a fault",
    steps: [policy([deployments], ["object.spec.replicas > 1"]), statusWritten, settle],
  },
  {
    name: "policy with a field that is not there",
    steps: [policy([deployments], ["object.spec.replicaz > 1", "object.metadata.name == 'x'"]), statusWritten, settle],
  },
  {
    name: "policy with a type that does not fit",
    steps: [
      policy(
        [deployments],
        ["object.spec.replicas == '1'", "object.spec.template.spec.containers.all(c, c.nme == '')"],
      ),
      statusWritten,
      settle,
    ],
  },
  {
    name: "policy for several kinds",
    steps: [
      policy([deployments, rule("", "v1", "pods"), rule("batch", "v1", "jobs")], ["object.spec.replicas > 1"]),
      statusWritten,
      settle,
    ],
  },
  {
    name: "policy for all kinds",
    steps: [policy([rule("*", "*", "*")], ["object.spec.nothing > 1"]), statusWritten, settle],
  },
  {
    name: "policy for a kind that is not there",
    steps: [policy([rule("example.com", "v1", "nothings")], ["object.spec.nothing > 1"]), statusWritten, settle],
  },
  {
    name: "policy with faults in other expressions",
    steps: [
      policy([deployments], ["true"], {
        validations: [{ expression: "variables.a > 1", messageExpression: "string(object.spec.replicaz)" }],
        variables: [{ name: "a", expression: "object.spec.replicazz" }],
        matchConditions: [{ name: "m", expression: "object.spec.replicazzz == 1" }],
        auditAnnotations: [{ key: "k", valueExpression: "string(object.spec.replicazzzz)" }],
      }),
      statusWritten,
      settle,
    ],
  },
  {
    name: "policy with parameters",
    steps: [
      policy([deployments], ["object.spec.replicas > int(params.data.max)", "params.dada.max == ''"], {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      }),
      statusWritten,
      settle,
    ],
  },
  {
    name: "policy with parameters of a kind that is not there",
    steps: [
      policy([deployments], ["params.nothing == 1"], { paramKind: { apiVersion: "example.com/v1", kind: "Nothing" } }),
      statusWritten,
      settle,
    ],
  },
  {
    name: "policy that is mended",
    steps: [
      policy([deployments], ["object.spec.replicaz > 1"]),
      statusWritten,
      settle,
      {
        patch: ["validatingadmissionpolicies", "NAMESPACE"],
        with: { spec: { validations: [{ expression: "object.spec.replicas > 1" }] } },
      },
      { until: ["validatingadmissionpolicies", "NAMESPACE"], has: { status: { observedGeneration: 2 } } },
      settle,
    ],
  },
]
