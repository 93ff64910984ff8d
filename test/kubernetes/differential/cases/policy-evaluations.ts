// What expressions of policies see in each of their places, what they may cost together, and how often they are evaluated.

import type { JsonObject } from "../generate/objects.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"

export function policyEvaluationCases(): Scenario[] {
  return [
    { name: "conditions of policies see other things than their validations", steps: seen() },
    { name: "messages and annotations of policies cannot ask what is allowed", steps: asked() },
    { name: "messages of a policy cost more than it has", steps: spent() },
    { name: "mutations of a policy are evaluated again", steps: again() },
    { name: "an expression of a policy has spaces around it", steps: spaced() },
    { name: "expressions of a policy compare and join what has no type in common", steps: mixed() },
  ]
}

const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } }
/** Each object has to do with one policy only, since policies are evaluated in no order. */
const objectsOf = (policy: string): JsonObject => ({ objectSelector: { matchLabels: { policy } } })

const rule = (resources: string, apiGroups = "", apiVersions = "v1"): JsonObject => ({
  apiGroups: [apiGroups],
  apiVersions: [apiVersions],
  operations: ["CREATE"],
  resources: [resources],
})

interface Given {
  rules?: JsonObject
  actions?: string[]
}

function validating(name: string, spec: JsonObject, { rules, actions = ["Warn"] }: Given = {}): RequestStep[] {
  const metadata = { name: `${name}-@{id}` }
  const matchConstraints = { namespaceSelector, ...objectsOf(name), resourceRules: [rules ?? rule("configmaps")] }
  return [
    post(`${policies}/validatingadmissionpolicies`, { metadata, spec: { matchConstraints, ...spec } }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata,
      spec: { policyName: metadata.name, validationActions: actions },
    }),
  ]
}

/** The object is named by the first letter. */
function mutating(name: string, spec: JsonObject, rules = rule("configmaps")): RequestStep[] {
  const metadata = { name: `${name}-@{id}` }
  const matchConstraints = { namespaceSelector, ...objectsOf(name.slice(0, 1)), resourceRules: [rules] }
  const defaults = { matchConstraints, reinvocationPolicy: "Never", failurePolicy: "Fail" }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata, spec: { ...defaults, ...spec } }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata, spec: { policyName: metadata.name } }),
  ]
}

/** When these policies are in force, so are those before. */
function inForce(): RequestStep[] {
  const expression = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}]"
  const marks = { patchType: "JSONPatch", jsonPatch: { expression } }
  const rules = rule("secrets")
  return [
    ...validating("z", { validations: [{ expression: "false", message: "in force" }] }, { rules, actions: ["Deny"] }),
    ...mutating("y", { mutations: [marks] }, rules),
    post(`${core}/secrets?dryRun=All`, { metadata: { name: "a", labels: { policy: "z" } } }, { untilText: "in force" }),
    post(`${core}/secrets?dryRun=All`, { metadata: { name: "b", labels: { policy: "y" } } }, { untilText: "seen" }),
  ]
}

const map = (name: string, more: JsonObject = {}): RequestStep =>
  post(
    `${core}/configmaps?dryRun=All`,
    { metadata: { name, labels: { policy: name } }, ...more },
    { label: `POST ${name}` },
  )

function seen(): RequestStep[] {
  const conditions = [
    "namespaceObject == null",
    "namespaceObject.metadata.name == '@{ns}'",
    "has(namespaceObject.metadata)",
    "request.resource.version == 'v1'",
    "request.resource.version == 'v2'",
    "request.kind.version == 'v1'",
    "request.requestResource.version == 'v2'",
    "variables.version == 'v1'",
    "variables.name == '@{ns}'",
  ]
  const variables = [
    { name: "version", expression: "request.resource.version" },
    { name: "name", expression: "namespaceObject.metadata.name" },
  ]
  const rules = rule("horizontalpodautoscalers", "autoscaling", "v1")
  const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
  const scaler = (version: string, name: string): RequestStep => {
    const path = `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers?dryRun=All`
    return post(path, { metadata: { name, labels: { policy: name } }, spec }, { label: `POST ${name} in ${version}` })
  }
  return [
    ...conditions.flatMap((expression, index) => [
      ...validating(
        `c${index}`,
        {
          variables,
          matchConditions: [{ name: "a", expression }],
          validations: [{ expression: "false", message: "met" }],
        },
        { rules },
      ),
      ...validating(
        `v${index}`,
        { variables, validations: [{ expression: `!(${expression})`, message: "so" }] },
        { rules },
      ),
    ]),
    ...inForce(),
    ...conditions.flatMap((_, index) =>
      [`c${index}`, `v${index}`].flatMap((name) => [scaler("v1", name), scaler("v2", name)]),
    ),
  ]
}

const allowed = "string(authorizer.requestResource.check('get').allowed())"

function asked(): RequestStep[] {
  const variables = [{ name: "a", expression: allowed }]
  const fails = { expression: "false", message: "plain" }
  return [
    ...validating("a", {
      validations: [{ ...fails, messageExpression: "'says ' + string(size(object.metadata.name))" }],
    }),
    ...validating("b", { variables, validations: [{ ...fails, messageExpression: "'says ' + variables.a" }] }),
    ...validating("c", { variables, validations: [{ expression: "variables.a == 'no'", message: "plain" }] }),
    ...validating("d", { failurePolicy: "Ignore", auditAnnotations: [{ key: "k", valueExpression: allowed }] }),
    ...validating("e", {
      validations: [{ expression: "true" }],
      auditAnnotations: [{ key: "k", valueExpression: allowed }],
    }),
    ...validating("f", {
      variables,
      validations: [{ expression: "true" }],
      auditAnnotations: [{ key: "k", valueExpression: "variables.a" }],
    }),
    ...inForce(),
    ...["a", "b", "c", "d", "e", "f"].map((name) => map(name)),
  ]
}

/** By 9000 characters of the object: that a text contains one as long costs a hundredth of the product of their lengths. */
const costly = (result: string): string => `object.data.t.contains(object.data.t) ? ${result} : ${result}`
const stopped = "(object.data.t + object.data.t).contains(object.data.t + object.data.t)"

function spent(): RequestStep[] {
  const many = (count: number, validation: JsonObject): JsonObject[] => Array.from({ length: count }, () => validation)
  const message = costly("'says'")
  const actions = ["Deny"]
  const data = { t: "x".repeat(9000) }
  return [
    ...validating("a", { validations: many(1, { expression: "false", messageExpression: message }) }, { actions }),
    ...validating("b", { validations: many(20, { expression: "true", messageExpression: message }) }, { actions }),
    ...validating("c", { validations: many(20, { expression: "false", messageExpression: message }) }, { actions }),
    ...validating("d", { validations: many(20, { expression: costly("true") }) }, { actions }),
    ...validating(
      "e",
      {
        failurePolicy: "Ignore",
        validations: many(20, { expression: "false", messageExpression: message }),
      },
      { actions },
    ),
    ...validating(
      "f",
      {
        variables: [{ name: "v", expression: costly("'says'") }],
        validations: many(20, { expression: "variables.v == 'other'", messageExpression: "variables.v" }),
      },
      { actions },
    ),
    ...validating(
      "g",
      {
        validations: [
          { expression: "object.nope == 1", messageExpression: message },
          ...many(20, { expression: "true", messageExpression: message }),
        ],
      },
      { actions },
    ),
    ...validating("h", { validations: many(3, { expression: stopped }) }, { actions }),
    ...validating("i", { validations: many(4, { expression: stopped }) }, { actions }),
    ...validating(
      "j",
      {
        variables: Array.from({ length: 10 }, (_, index) => ({ name: `v${index}`, expression: stopped })),
        validations: Array.from({ length: 10 }, (_, index) => ({ expression: `variables.v${index}` })),
      },
      { actions },
    ),
    ...inForce(),
    ...["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map((name) => map(name, { data })),
  ]
}

function again(): RequestStep[] {
  const counts = (key: string): JsonObject => ({
    patchType: "JSONPatch",
    jsonPatch: {
      expression: `[JSONPatch{op: 'add', path: '/data/${key}', value: (has(object.data.${key}) ? object.data.${key} : '') + 'x'}]`,
    },
  })
  const same = {
    patchType: "JSONPatch",
    jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/data/same', value: 'same'}]" },
  }
  const nothing = { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }
  const reinvocationPolicy = "IfNeeded"
  const begins = (name: string): RequestStep => map(name, { data: { same: "same" } })
  return [
    ...mutating("a", { reinvocationPolicy, mutations: [counts("k")] }),
    ...mutating("b", { mutations: [counts("k")] }),
    ...mutating("c1", { reinvocationPolicy, mutations: [counts("k")] }),
    ...mutating("c2", { reinvocationPolicy, mutations: [counts("l")] }),
    ...mutating("d1", { reinvocationPolicy, mutations: [counts("k")] }),
    ...mutating("d2", { mutations: [same] }),
    ...mutating("e1", { mutations: [counts("k")] }),
    ...mutating("e2", { reinvocationPolicy, mutations: [counts("l"), nothing] }),
    ...inForce(),
    ...["a", "b", "c", "d", "e"].map(begins),
  ]
}

function spaced(): RequestStep[] {
  const expression = "  [JSONPatch{op: 'add', path: '/data/x', value: object.data.nope}]\n"
  const applied = "\n Object{metadata: Object.metadata{labels: {'a': object.data.nope}}}  "
  const wrong = [{ name: "a", expression: "\n object.metadata.nope == 'a' " }]
  return [
    ...mutating("a", { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }] }),
    ...mutating("b", {
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: applied } }],
    }),
    ...validating("c", {
      validations: [{ expression: "  object.data.nope == 'x' \n" }, { expression: " false\t", message: " \n " }],
    }),
    ...validating("d", { matchConditions: wrong, validations: [{ expression: "false" }] }),
    ...inForce(),
    ...["a", "b", "c", "d"].map((name) => map(name, { data: { a: "b" } })),
  ]
}

/** Each gives its own warning. */
function mixed(): RequestStep[] {
  const expressions = [
    "quantity('1') == object.data.a",
    "object.data.a.find(object.data.b) == 'x'",
    "[dyn(object.data.a)].sum() == 1",
    "[dyn(object.data.a), dyn(1)].join() == 'x'",
    "[dyn(optional.of(1)), dyn(1)].unwrapOpt() == []",
    "[dyn(1)].unwrapOpt() == []",
    "[dyn(1), dyn(object.data.a)].max() != 1",
    "![dyn(object.data.a), dyn(1)].isSorted()",
  ]
  return [
    ...validating("a", { validations: expressions.map((expression) => ({ expression })) }),
    ...inForce(),
    map("a", { data: { a: "1", b: "(" } }),
  ]
}
