import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { customResourceDefinitions, validatingAdmissionPolicies } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"

// Expressions and words are those of test/e2e/apimachinery/validatingadmissionpolicy.go and typechecking_test.go.

interface Policy extends KubeObject {
  status?: {
    observedGeneration?: number
    typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] }
  }
}

function policy(validations: object[], more: object = {}, rule: object = {}): KubeObject {
  const resourceRules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"], ...rule },
  ]
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "p", generation: 1 },
    spec: { matchConstraints: { resourceRules }, validations, ...more },
  } as unknown as KubeObject
}

const crontabs = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    names: { kind: "CronTab", plural: "crontabs" },
    versions: [
      {
        name: "v1",
        served: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { replicas: { type: "integer" } } } },
          },
        },
      },
    ],
  },
}
const custom = { apiGroups: ["stable.example.com"], resources: ["crontabs"] }
const mistyped = [{ expression: "object.spec.replicas > '1'" }]
const overload =
  /^\S+, Kind=\S+: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '\(int, string\)'/

test.each<[string, KubeObject, [string, RegExp][]]>([
  ["right types", policy([{ expression: "object.spec.replicas > 1" }]), []],
  [
    "wrong types",
    policy([{ ...mistyped[0], messageExpression: "'wants replicas > 1, got ' + object.spec.replicas" }]),
    [
      ["spec.validations[0].expression", overload],
      ["spec.validations[0].messageExpression", /no matching overload for '_\+_' applied to '\(string, int\)'/],
    ],
  ],
  [
    "a missing field",
    policy([{ expression: "has(object.spec.nope) || object.spec.template.spec.containers.all(c, c.imag == '')" }]),
    [["spec.validations[0].expression", /undefined field 'nope'[^]*undefined field 'imag'/]],
  ],
  ["a custom resource", policy([{ expression: "object.spec.replicas > 1" }], {}, custom), []],
  ["a custom resource, wrong types", policy(mistyped, {}, custom), [["spec.validations[0].expression", overload]]],
  ["wildcard kinds", policy(mistyped, {}, { apiVersions: ["*"] }), []],
  ["kinds that do not exist", policy(mistyped, {}, { resources: ["nothings"] }), []],
  [
    "variables",
    policy([{ expression: "variables.r > '1'" }], { variables: [{ name: "r", expression: "object.spec.replicas" }] }),
    [["spec.validations[0].expression", /applied to '\(int, string\)'/]],
  ],
  [
    "params",
    policy([{ expression: "params.data.x > 1" }], { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }),
    [["spec.validations[0].expression", /applied to '\(string, int\)'/]],
  ],
  [
    "authorizer checks",
    policy([{ expression: "authorizer.group('').resource('endpoints').check('create').allowed()" }]),
    [],
  ],
])("%s", async (_, object, expected) => {
  await using harness = await startHarness({ only: ["validatingadmissionpolicy-status"] })
  await harness.create(customResourceDefinitions, crontabs as unknown as KubeObject)
  await harness.create(validatingAdmissionPolicies, object)
  let status: Policy["status"]
  await eventually(async () => {
    ;({ status } = await harness.cluster.get<Policy>(validatingAdmissionPolicies, undefined, "p"))
    expect(status?.observedGeneration).toBe(1)
  })
  const warnings = status?.typeChecking?.expressionWarnings ?? []
  expect(status?.typeChecking).toBeDefined()
  expect(warnings.map(({ fieldRef }) => fieldRef)).toEqual(expected.map(([field]) => field))
  for (const [index, [, words]] of expected.entries()) expect(warnings[index]?.warning).toMatch(words)
})
