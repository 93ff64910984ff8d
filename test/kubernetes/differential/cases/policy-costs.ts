// What each expression of an admission policy, all of a policy, and its match conditions may cost; and which of them can ask for rights.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const group = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"

// Estimates and costs of `contains` grow with the product of both lengths, and it is answered in no time: no other machine
// evaluates it too slowly. One call may cost 1,000,000, a policy 10,000,000, its match conditions 2,500,000.
const dear = "object.data.long.contains(object.data.long)"
const tooDear = "object.data.longer.contains(object.data.longer)"
const data = { long: "a".repeat(9_400), longer: "a".repeat(12_000) }
const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what)

const validations = (expressions: string[]): Body => ({
  validations: expressions.map((expression) => ({ expression })),
})

const validating: [what: string, spec: Body][] = [
  ["one call", validations([tooDear])],
  ["one call and others", validations(["true", tooDear, "false", dear])],
  ["one call, which is ignored", { failurePolicy: "Ignore", ...validations([tooDear, "object.data.long == 'b'"]) }],
  [
    "a call with a text of variables",
    {
      variables: [{ name: "long", expression: `'${"a".repeat(120)}'.replace('a', '${"b".repeat(100)}')` }],
      ...validations(["variables.long.contains(variables.long)"]),
    },
  ],
  ["ten calls", validations(times(10, dear))],
  ["eleven calls", validations(times(11, dear))],
  ["twelve calls", validations([...times(12, dear), "false"])],
  ["twelve calls, one of which fails", validations([dear, "false", ...times(11, dear)])],
  ["twelve calls, which are ignored", { failurePolicy: "Ignore", ...validations([...times(12, dear), "false"]) }],
  ["ten calls that are too dear alone", validations(times(10, tooDear))],
  ["a variable, once", { variables: [{ name: "a", expression: dear }], ...validations(times(12, "variables.a")) }],
  [
    "a variable",
    { variables: [{ name: "a", expression: tooDear }], ...validations(["variables.a", "variables.a || true"]) },
  ],
  [
    "twelve variables",
    {
      variables: times(12, dear).map((expression, index) => ({ name: `v${index}`, expression })),
      ...validations(times(12, "").map((_, index) => `variables.v${index}`)),
    },
  ],
  [
    "a call and its variables",
    {
      variables: times(3, dear).map((expression, index) => ({ name: `v${index}`, expression })),
      ...validations(times(4, "variables.v0 && variables.v1 && variables.v2 && " + dear)),
    },
  ],
  ["a message", { validations: [{ expression: "false", messageExpression: `${tooDear} ? 'a' : 'b'` }] }],
  ["a message after calls", messages(9)],
  ["a message after more calls", messages(10)],
  ["an annotation", annotation(`${tooDear} ? 'a' : 'b'`)],
  ["annotations", annotated(6)],
  ["more annotations", annotated(12)],
  ["a match condition", { ...conditions([tooDear]), ...validations(["false"]) }],
  ["two match conditions", { ...conditions([dear, dear]), ...validations(["false"]) }],
  ["three match conditions", { ...conditions([dear, dear, dear]), ...validations(["false"]) }],
  [
    "three match conditions, which are ignored",
    { failurePolicy: "Ignore", ...conditions([dear, dear, dear]), ...validations(["false"]) },
  ],
  ["match conditions and calls", { ...conditions([dear, dear]), ...validations(times(10, dear)) }],
]

const mutation = (expression: string): Body => ({
  patchType: "JSONPatch",
  jsonPatch: { expression: `${expression} ? [JSONPatch{op: 'add', path: '/data/seen', value: 'x'}] : []` },
})
const application = (expression: string): Body => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: {
    expression: `${expression} ? Object{metadata: Object.metadata{labels: {'a': 'b'}}} : Object{}`,
  },
})

const mutating: [what: string, spec: Body][] = [
  ["one patch", { mutations: [mutation(tooDear)] }],
  ["one application", { mutations: [application(tooDear)] }],
  ["one patch, which is ignored", { failurePolicy: "Ignore", mutations: [mutation(tooDear), mutation("true")] }],
  ["ten patches", { mutations: times(10, mutation(dear)) }],
  ["twelve patches", { mutations: times(12, mutation(dear)) }],
  ["twelve applications", { mutations: times(12, application(dear)) }],
  ["three match conditions", { ...conditions([dear, dear, dear]), mutations: [mutation("true")] }],
]

export function policyCostCases(): Scenario[] {
  return [
    ...validating.map(([what, spec]) => evaluated("validating", `costs much: ${what}`, spec)),
    ...mutating.map(([what, spec]) => evaluated("mutating", `costs much: ${what}`, spec)),
    ...asking.map(([what, spec]) => evaluated("validating", `asks for rights in a variable of ${what}`, asks(spec))),
    evaluated("mutating", "asks for rights in a variable", asks({ mutations: [mutation("variables.may")] })),
  ]
}

const asking: [what: string, spec: Body][] = [
  ["a validation", validations(["!variables.may"])],
  ["a message", { validations: [{ expression: "false", messageExpression: "variables.may ? 'a' : 'b'" }] }],
  ["both", { validations: [{ expression: "!variables.may", messageExpression: "variables.may ? 'a' : 'b'" }] }],
  ["an annotation", annotation("variables.may ? 'a' : 'b'")],
  ["a validation and an annotation", { ...validations(["variables.may"]), ...annotation("string(variables.may)") }],
  ["an annotation, which is ignored", { failurePolicy: "Ignore", ...annotation("string(variables.may)") }],
  ["a match condition", { ...conditions(["variables.may"]), ...validations(["false"]) }],
]

function annotation(valueExpression: string): Body {
  return { auditAnnotations: [{ key: "k", valueExpression }] }
}

function asks(spec: Body): Body {
  const expression = "authorizer.group('').resource('pods').namespace('default').check('create').allowed()"
  return { variables: [{ name: "may", expression }], ...spec }
}

function messages(calls: number): Body {
  const failing = { expression: `!${dear}`, messageExpression: `${dear} ? 'a' : 'b'` }
  return { validations: [...times(calls, { expression: dear }), failing, failing] }
}

function annotated(count: number): Body {
  const auditAnnotations = times(count, "").map((_, index) => ({
    key: `k${index}`,
    valueExpression: `${dear} ? 'a' : 'b'`,
  }))
  return { ...validations(times(6, dear)), auditAnnotations }
}

function conditions(expressions: string[]): Body {
  return { matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })) }
}

function evaluated(kind: "validating" | "mutating", what: string, spec: Body): Scenario {
  return {
    name: `a ${kind} policy ${what}`,
    steps: [
      ...policy(kind, "a-@{id}", ["configmaps"], spec),
      // When it is in force, so is the one before.
      ...policy(
        kind,
        "b-@{id}",
        ["secrets"],
        kind === "validating" ? validations(["false"]) : { mutations: [labelled] },
      ),
      post(
        `${core}/secrets?dryRun=All`,
        { metadata: { name: "a" } },
        kind === "validating" ? { untilCode: 422 } : { untilText: "seen" },
      ),
      post(`${core}/configmaps`, { metadata: { name: "a" }, data }),
    ],
  }
}

const labelled: Body = {
  patchType: "JSONPatch",
  jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}]" },
}

function policy(kind: "validating" | "mutating", name: string, resources: string[], spec: Body): RequestStep[] {
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } }
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources }
  const matchConstraints = { namespaceSelector, resourceRules: [rule] }
  const [more, actions] =
    kind === "validating" ? [{}, { validationActions: ["Deny"] }] : [{ reinvocationPolicy: "Never" }, {}]
  return [
    post(`${group}/${kind}admissionpolicies`, {
      metadata: { name },
      spec: { failurePolicy: "Fail", matchConstraints, ...more, ...spec },
    }),
    post(`${group}/${kind}admissionpolicybindings`, { metadata: { name }, spec: { policyName: name, ...actions } }),
  ]
}
