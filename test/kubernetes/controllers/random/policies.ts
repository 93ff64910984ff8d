// ValidatingAdmissionPolicies whose expressions may not fit the kinds they are for.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { type Family, maybe, oneByOne, refusable, some } from "./family.ts"

const policy: [string, string] = ["validatingadmissionpolicies", "NAMESPACE"]

export const policies: Family = (random) => {
  const steps: (() => Step)[] = [
    () => ({ patch: policy, with: { spec: { validations: validationsOf(random) } } }),
    () => ({ patch: policy, with: { spec: { validations: validationsOf(random) } } }),
    () => ({ patch: policy, with: { spec: { matchConstraints: { resourceRules: rulesOf(random) } } } }),
    () => ({ patch: policy, with: { spec: { paramKind: pick(random, [null, ...paramKinds]) } } }),
    () => ({ patch: policy, with: { spec: { variables: variablesOf(random) } } }),
    () => ({ patch: policy, with: { spec: { matchConditions: conditionsOf(random) } } }),
    () => ({ patch: policy, with: { metadata: { labels: { touched: String(random(100)) } } } }),
    () => ({ patch: policy, with: { status: { typeChecking: null } }, subresource: "status" }),
    () => ({ patch: policy, with: { status: { observedGeneration: 0 } }, subresource: "status" }),
    () => ({ delete: policy }),
    () => create(random),
  ]
  return { steps: oneByOne([create(random), ...some(random, 3, 8, () => pick(random, steps)())].map(refusable)) }
}

const rulesOf = (random: Random): object[] =>
  some(random, 1, 3, () => {
    const [group, version, resource] = pick(random, kinds)
    return {
      apiGroups: [group],
      apiVersions: [version],
      operations: [pick(random, ["CREATE", "*", "DELETE"])],
      resources: [resource],
      ...maybe(random, 0.2, { scope: pick(random, ["Namespaced", "Cluster", "*"]) }),
    }
  })

const kinds = [
  ["apps", "v1", "deployments"],
  ["apps", "v1", "deployments/scale"],
  ["apps", "*", "statefulsets"],
  ["", "v1", "pods"],
  ["", "v1", "pods/status"],
  ["", "v1", "namespaces"],
  ["batch", "v1", "jobs"],
  ["batch", "v1beta1", "jobs"],
  ["scenarios.example.com", "v1", "things"],
  ["example.com", "v1", "nothings"],
  ["*", "*", "*"],
  ["*", "v1", "services"],
] as const

const paramKinds = [
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "scenarios.example.com/v1", kind: "Thing" },
  { apiVersion: "example.com/v1", kind: "Nothing" },
]

const expressions = [
  "object.spec.replicas > 1",
  "object.spec.replicaz > 1",
  "object.spec.replicas == '1'",
  "object.metadata.name.startsWith('x')",
  "object.metadata.nme == ''",
  "object.spec.template.spec.containers.all(c, c.image != '')",
  "object.spec.containers.exists(c, c.imag == 'x')",
  "object.metadata.labels['a'] == 'b'",
  "has(object.spec) && has(object.spec.paused)",
  "oldObject == null || object.kind == oldObject.kind",
  "oldObject.spec.nothing == 1",
  "request.operation == 'CREATE'",
  "request.nothing == ''",
  "namespaceObject.metadata.name == 'x'",
  "namespaceObject.spec.nothing == 'x'",
  "params.data.max == 'x'",
  "params.spec.replicas == 1",
  "variables.a > 1",
  "variables.a == 'x'",
  "variables.nothing == 1",
  "authorizer.group('').resource('pods').check('get').allowed()",
  "object.spec.nested.orNothing",
  "true",
]

const valueOf = (random: Random): string =>
  pick(random, ["object.spec.replicas", "object.spec.replicaz", "1", "'x'", "object.metadata.name", "params.data"])

const validationsOf = (random: Random): object[] =>
  some(random, 1, 3, () => ({
    expression: pick(random, expressions),
    ...maybe(random, 0.3, { messageExpression: `string(${valueOf(random)})` }),
  }))

const variablesOf = (random: Random): object[] =>
  ["a", "b"].filter(() => chance(random, 0.6)).map((name) => ({ name, expression: valueOf(random) }))

const conditionsOf = (random: Random): object[] =>
  some(random, 0, 1, () => ({ name: "m", expression: pick(random, expressions) }))

/** Nobody's: what is made elsewhere is not asked for. */
const nowhere = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "nowhere" } } }

const create = (random: Random): Step => ({
  create: {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "NAMESPACE" },
    spec: {
      matchConstraints: { resourceRules: rulesOf(random), ...nowhere },
      validations: validationsOf(random),
      ...maybe(random, 0.4, { paramKind: pick(random, paramKinds) }),
      ...maybe(random, 0.5, { variables: variablesOf(random) }),
      ...maybe(random, 0.3, { matchConditions: conditionsOf(random) }),
      ...maybe(random, 0.3, { auditAnnotations: [{ key: "k", valueExpression: `string(${valueOf(random)})` }] }),
    },
  },
})
