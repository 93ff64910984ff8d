// What expressions of mutating policies give fields: upstream checks values as Go has them, where lists and maps within others, null,
// bytes, unsigned integers and times are no JSON.

import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"

const inMetadata = (field: string): string => `Object{metadata: Object.metadata{${field}}}`
const inSpec = (field: string): string => `Object{spec: Object.spec{${field}}}`
const inPod = (field: string): string =>
  inSpec(`template: Object.spec.template{spec: Object.spec.template.spec{${field}}}`)
const inUpdate = (field: string): string =>
  inSpec(`strategy: Object.spec.strategy{rollingUpdate: Object.spec.strategy.rollingUpdate{${field}}}`)
const container = "Object.spec.template.spec.containers"
const own = "object.spec.template.spec.containers"

const expressions: readonly string[] = [
  ...[
    "[{'name': 'c', 'image': 'j'}]",
    `[${container}{name: 'c', args: ['a']}]`,
    `[${container}{name: 'c', args: [['a']]}]`,
    "[null]",
    "null",
    "[]",
    own,
    `${own}.map(each, ${container}{name: each.name, image: 'k'})`,
    `${own}.map(each, {'name': each.name})`,
    `${own} + [${container}{name: 'd', image: 'k'}]`,
    `[${own}[0]]`,
    "'x'",
    "{'a': 'b'}",
  ].map((value) => inPod(`containers: ${value}`)),
  ...[
    ["null", "1", "1u", "1.5", "true", "b'x'", "{'b': 'c'}", "['b']", "type(1)", "object.metadata.labels"],
    ["duration('90s')", "timestamp('2020-01-01T00:00:00Z')", "timestamp('2020-01-01T00:00:00.5Z')", "optional.of('x')"],
  ]
    .flat()
    .map((value) => inMetadata(`labels: {'a': ${value}}`)),
  ...["null", "{}", "object.metadata.labels", "optional.of({'a': 'b'})", "dyn({'a': 'b'})", "5", "['a']"].map((value) =>
    inMetadata(`labels: ${value}`),
  ),
  ...["['a.b/c', 'a.b/c']", "[1]", "[null]", "[{}]"].map((value) => inMetadata(`finalizers: ${value}`)),
  inMetadata("ownerReferences: [{'apiVersion': 'v1', 'kind': 'A', 'name': 'a', 'uid': 'u'}]"),
  ...["null", "timestamp('2020-01-01T00:00:00Z')", "'2020-01-01T00:00:00Z'"].map((value) =>
    inMetadata(`creationTimestamp: ${value}`),
  ),
  ...["5", "5u", "5.0", "'5'", "null", "b'5'", "[5]", "duration('1s')"].map((value) => inSpec(`replicas: ${value}`)),
  ...["null", "1", "b'x'", "duration('1s')"].map((value) => inSpec(`paused: ${value}`)),
  ...["1", "'10%'", "null", "b'x'", "duration('1s')", "[1]", "1u"].map((value) => inUpdate(`maxSurge: ${value}`)),
  ...["5.5", "9999999999", "1e20", "-1"].map((value) => inSpec(`replicas: ${value}`)),
  ...["1.5", "true", "99999999999"].map((value) => inUpdate(`maxSurge: ${value}`)),
  ...["'abc'", "1.5", "true", "'1000m'"].map((value) =>
    inPod(`containers: [${container}{name: 'c', resources: ${container}.resources{limits: {'cpu': ${value}}}}]`),
  ),
  ...["'x'", "5", "true"].map((value) => inMetadata(`creationTimestamp: ${value}`)),
  ...["1.5", "1e30"].map((value) => inMetadata(`generation: ${value}`)),
  inSpec("nope: 1"),
  inSpec("strategy: {'type': 'Recreate'}"),
  inSpec("strategy: {'rollingUpdate': {'maxSurge': 1}}"),
  "Object{spec: null}",
  "Object{spec: {'replicas': 3}}",
  "Object{spec: {'template': {'metadata': {'labels': {'x': 'y'}}}}}",
  "Object{metadata: {'labels': {'x': 'y'}}}",
]

/** Upstream fails completely at an object within a map. */
const patchValues: readonly string[] = [
  ["null", "1", "1u", "1.5", "5.0", "true", "b'x'", "'a'", "{'b': 'c'}", "[['b']]", "[1, 'a', null]", "type(1)"],
  ["9007199254740991", "9007199254740993", "9223372036854775807", "18446744073709551615u", "1e300"],
  ["0.0/0.0", "1.0/0.0", "duration('90s')", "timestamp('2020-01-01T00:00:00Z')", "optional.of('x')", "optional.none()"],
  ["{1: 'a'}", "{true: 'a'}", "quantity('1')", "ip('1.2.3.4')", "url('http://a')", "object.metadata.labels"],
  ["Object{a: 'b'}", "Object.metadata{labels: {'a': 'b'}}", "Object.spec{a: [Object.spec.a{b: 1}]}"],
  ["Object.spec{a: [Object.metadata{b: 1}]}"],
].flat()

const patches: readonly string[] = [
  ...["/spec/minReadySeconds", "/metadata/annotations"].flatMap((path) =>
    patchValues.map((value) => `[JSONPatch{op: 'add', path: '${path}', value: ${value}}]`),
  ),
  ...patchValues
    .filter((value) => !value.startsWith("Object"))
    .map((value) => `[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': ${value}}}]`),
  "[JSONPatch{op: 'add', path: '/spec/strategy', value: Object.spec.strategy{type: 'Recreate'}}]",
  "[JSONPatch{op: dyn(1), path: '/a'}]",
  "[JSONPatch{op: 'add', path: dyn(true), value: 1}]",
]

export function policyValueCases(): Scenario[] {
  return [
    { name: "mutating policies give fields values of every type", anyOrder: true, steps: values(expressions) },
    { name: "mutating policies patch with values of every type", anyOrder: true, steps: values(patches) },
    { name: "mutating policies configure a scale", steps: scales() },
  ]
}

function policy(name: string, resources: string[], expression: string, condition = "true"): RequestStep[] {
  const metadata = { name: `${name}-@{id}` }
  const rule = { apiGroups: ["apps", ""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources }
  const spec = {
    reinvocationPolicy: "Never",
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      resourceRules: [rule],
    },
    matchConditions: [{ name: "one", expression: condition }],
    mutations: [
      expression.startsWith("[")
        ? { patchType: "JSONPatch", jsonPatch: { expression } }
        : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    ],
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata, spec }, { label: `POST ${name} ${expression}` }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata, spec: { policyName: metadata.name } }),
  ]
}

/** When this one is in force, so are those before. */
const settled = (): RequestStep[] => [
  ...policy("z", ["secrets"], inMetadata("labels: {'settled': 'yes'}")),
  post(`${core}/secrets?dryRun=All`, { metadata: { name: "s" } }, { untilText: "settled" }),
]

const gone = (names: readonly string[]): RequestStep[] =>
  ["mutatingadmissionpolicybindings", "mutatingadmissionpolicies"].flatMap((kind) =>
    [...names, "z"].map((name) => remove(`${policies}/${kind}/${name}-@{id}`)),
  )

const deployment = (name: string) => ({
  metadata: { name, labels: { l: "m" } },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i", args: ["x"] }] },
    },
  },
})

function values(all: readonly string[]): RequestStep[] {
  const names = all.map((_, index) => `p${index}`)
  return [
    ...all.flatMap((expression, index) =>
      policy(`p${index}`, ["deployments"], expression, `object.metadata.name == 'p${index}'`),
    ),
    ...settled(),
    ...all.map((expression, index) =>
      post(`${deployments}?dryRun=All`, deployment(`p${index}`), { label: `POST with ${expression}` }),
    ),
    ...gone(names),
  ]
}

function scales(): RequestStep[] {
  return [
    ...policy("p", ["deployments/scale"], inSpec("replicas: 5")),
    ...settled(),
    post(deployments, deployment("a")),
    patch(`${deployments}/a/scale`, mergePatch, { spec: { replicas: 3 } }),
    put(`${deployments}/a/scale`, { metadata: { name: "a", namespace: "@{ns}" }, spec: { replicas: 2 } }),
    ...gone(["p"]),
  ]
}
