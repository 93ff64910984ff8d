// Variables of admission policies that are wrong, and what speaks of them.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const group = "/apis/admissionregistration.k8s.io/v1"
const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
}

export function policyVariableCases(): Scenario[] {
  return [
    { name: "a policy that validates has any variables", steps: variables.flatMap(validating) },
    { name: "a policy that mutates has any variables", steps: variables.flatMap(mutating) },
    { name: "a policy gets other variables", steps: ["validating", "mutating"].flatMap(changed) },
  ]
}

const variables: Body[][] = [
  [{ name: "a", expression: "1 +" }],
  [{ name: "a", expression: "nope" }],
  [{ name: "a", expression: "" }],
  [{ name: "a", expression: " " }],
  [{ name: "a" }],
  [{ expression: "1" }],
  [{ name: "", expression: "" }],
  [{ name: "a b", expression: "1" }],
  [{ name: "1a", expression: "1" }],
  [{ name: "in", expression: "1" }],
  [{ name: "object", expression: "1" }],
  [{ name: "a", expression: "variables.a" }],
  [{ name: "a", expression: "params.x" }],
  [{ name: "a", expression: "[1, 2].map(x, x + 'a')" }],
  [
    { name: "a", expression: "1" },
    { name: "a", expression: "bogus" },
  ],
  [
    { name: "a", expression: "variables.b" },
    { name: "b", expression: "1" },
  ],
  [
    { name: "a", expression: "nope" },
    { name: "b", expression: "variables.a + 1" },
  ],
  [
    { name: "b", expression: "1" },
    { name: "a", expression: "variables.b + 'x'" },
  ],
]

function validating(list: Body[]): RequestStep[] {
  return ["variables.a == 1", "variables.zz", "true"].map((expression) =>
    post(
      `${group}/validatingadmissionpolicies?dryRun=All`,
      {
        metadata: { name: "p-@{id}" },
        spec: {
          matchConstraints,
          variables: list,
          validations: [{ expression, messageExpression: "variables.a" }],
          auditAnnotations: [{ key: "k", valueExpression: "variables.a" }],
        },
      },
      { label: `${JSON.stringify(list)}, ${expression}` },
    ),
  )
}

const mutations: Body[] = [
  { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } },
  {
    patchType: "ApplyConfiguration",
    applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'a': variables.a}}}" },
  },
  { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/a', value: variables.a}]" } },
]

function mutating(list: Body[]): RequestStep[] {
  return mutations.map((mutation) =>
    post(
      `${group}/mutatingadmissionpolicies?dryRun=All`,
      { metadata: { name: "p-@{id}" }, spec: mutatingSpec(list, mutation) },
      { label: `${JSON.stringify(list)}, ${JSON.stringify(mutation)}` },
    ),
  )
}

function mutatingSpec(list: Body[], mutation: Body): Body {
  return {
    reinvocationPolicy: "Never",
    failurePolicy: "Fail",
    matchConstraints,
    variables: list,
    mutations: [mutation],
  }
}

function changed(way: string): RequestStep[] {
  const path = `${group}/${way}admissionpolicies`
  const [mutation = {}] = mutations
  const spec = (list: Body[]): Body =>
    way === "mutating"
      ? mutatingSpec(list, mutation)
      : { matchConstraints, variables: list, validations: [{ expression: "true" }] }
  return [
    post(path, { metadata: { name: "c-@{id}" }, spec: spec([{ name: "a", expression: "1" }]) }),
    ...variables.map((list) => patch(`${path}/c-@{id}?dryRun=All`, mergePatch, { spec: spec(list) })),
    remove(`${path}/c-@{id}`),
  ]
}
