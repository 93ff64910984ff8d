// What policies that mutate make of an object, where it may not be stored.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"

export function policyResultCases(): Scenario[] {
  return [
    mutated("moves objects to another namespace", "{op: 'replace', path: '/metadata/namespace', value: 'other'}"),
    mutated("takes the namespace away", "{op: 'remove', path: '/metadata/namespace'}"),
    mutated("adds a field that nobody knows", "{op: 'add', path: '/unknown', value: 'x'}"),
    mutated("adds a label that is no text", "{op: 'add', path: '/metadata/labels', value: {'a': 1}}"),
    mutated("has an operation that there is not", "{op: 'bogus', path: '/data/a'}"),
    mutated("has an operation on what is not there", "{op: 'replace', path: '/nope/a', value: 'x'}"),
    mutated("removes what is not there", "{op: 'remove', path: '/data/nope'}"),
    mutated("moves what is not there", "{op: 'move', from: '/data/nope', path: '/data/b'}"),
    ...[
      "{op: 'add', path: '/metadata/labels/-/x', value: 'y'}",
      "{op: 'add', path: '', value: {}}",
      "{op: 'replace', path: '', value: 3}",
      "{op: 'replace', path: '', value: {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}}}",
      "{op: 'copy', from: '/nope/a', path: '/data/b'}",
      "{op: 'copy', path: '/data/b'}",
      "{op: 'copy', from: '/data/a', path: '/nope/b'}",
      "{op: 'move', from: '/data/a', path: '/nope/b'}",
      "{op: 'test', path: '/metadata/finalizers/0', value: 'x'}",
      "{op: 'test', path: '/data/a', value: 'x'}",
      "{op: 'test', path: '/nope', value: null}",
      "{op: 'test', path: '/nope'}",
      "{op: 'test', path: '/metadata/annotations', value: null}, JSONPatch{op: 'add', path: '/data', value: {'t': 'yes'}}",
      "{op: 'add', path: '/metadata/annotations', value: {}}, JSONPatch{op: 'test', path: '/metadata/annotations', value: null}",
      "{op: 'add', path: '/metadata/finalizers', value: []}, JSONPatch{op: 'test', path: '/metadata/finalizers', value: null}",
      "{op: 'replace', path: '/kind', value: object.metadata}",
      "{op: 'replace', path: '/kind', value: 'Event'}",
      "{op: 'replace', path: '/kind', value: 'PodTemplate'}",
      "{op: 'replace', path: '/kind', value: 'Bogus'}",
      "{op: 'replace', path: '/apiVersion', value: 'events.k8s.io/v1'}, JSONPatch{op: 'replace', path: '/kind', value: 'Event'}",
      "{op: 'replace', path: '/apiVersion', value: 'v2'}",
      "{op: 'replace', path: '/apiVersion', value: true}",
      "{op: 'add', path: '/apiVersion', value: 'a/b/c'}",
      "{op: 'add', path: '/', value: []}",
      "{op: 'add', path: '/metadata/annotations', value: {'a': null}}",
      "{op: 'add', path: '/metadata', value: {'name': 1, 'labels': 2, 'finalizers': 3}}",
      "{op: 'add', path: '/metadata/ownerReferences', value: [{'z': 1, 'b': 2, 'name': 'x'}]}",
    ].map((operation) => mutated(`patches ${operation}`, operation)),
    ...ofZeros.map(zeros),
    ...ofNothing.map(unchanged),
    ...written.map(passedOn),
    mutated("has parameters of no kind", "{op: 'remove', path: '/data/nope'}", {
      paramKind: { apiVersion: "v1", kind: "Bogus" },
    }),
  ]
}

/** Two mutations, of what a struct has that is not a pointer, and is printed although it is not set. */
const ofZeros: readonly (readonly [string, string])[] = [
  [
    "{op: 'remove', path: '/spec/defaultBackend/service/name'}",
    "{op: 'remove', path: '/spec/defaultBackend/service/name'}, JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}",
  ],
  [
    "{op: 'add', path: '/spec/defaultBackend/service', value: {'port': {'number': 5}}}",
    "{op: 'test', path: '/spec/defaultBackend/service/name', value: ''}, JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}",
  ],
  ["{op: 'remove', path: '/status'}", "{op: 'remove', path: '/status'}"],
  ["{op: 'add', path: '/metadata/annotations', value: {}}", "{op: 'remove', path: '/metadata/annotations'}"],
  [
    "{op: 'add', path: '/metadata/finalizers', value: []}",
    "{op: 'copy', from: '/status/loadBalancer', path: '/metadata/labels'}",
  ],
]

function zeros(operations: readonly string[]): Scenario {
  const ingresses = "/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses"
  const rule = {
    apiGroups: ["networking.k8s.io"],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: ["ingresses"],
  }
  const labelled = { ...rule, apiGroups: [""], resources: ["secrets"] }
  const ingress = (annotations: { [key: string]: string }): Json => ({
    metadata: { name: "a", annotations },
    spec: { defaultBackend: { service: { port: { number: 80 } } } },
  })
  return {
    name: `a policy patches what is not set, but printed: ${operations.join(", then ")}`,
    steps: [
      ...policy("a-@{id}", rule, operations),
      ...policy("b-@{id}", labelled, ["{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}"]),
      post(`${core}/secrets?dryRun=All`, { metadata: { name: "a" } }, { untilText: "seen" }),
      post(ingresses, ingress({})),
      put(`${ingresses}/a`, ingress({ a: "b" })),
      put(`${ingresses}/a`, ingress({})),
    ],
  }
}

/** Mutations after which an object is the same, but may have been read anew. */
const ofNothing: readonly Json[] = [
  jsonPatch("[JSONPatch{op: 'test', path: '/metadata/name', value: 'a'}]"),
  jsonPatch("[JSONPatch{op: 'test', path: '/metadata/name', value: 'b'}]"),
  jsonPatch("[JSONPatch{op: 'test', path: '/metadata/name', value: 'a'}].filter(each, false)"),
  applied("Object{}"),
]

function unchanged(mutation: Json): Scenario {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["configmaps"] }
  const labelled = { ...rule, operations: ["CREATE"], resources: ["secrets"] }
  const map = { metadata: { name: "a" }, immutable: true }
  return {
    name: `a policy changes nothing: ${JSON.stringify(mutation)}`,
    steps: [
      ...policy("a-@{id}", rule, [], { mutations: [mutation] }),
      ...policy("b-@{id}", labelled, ["{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}"]),
      post(`${core}/secrets?dryRun=All`, { metadata: { name: "a" } }, { untilText: "seen" }),
      post(`${core}/configmaps`, map),
      put(`${core}/configmaps/a`, map),
      put(`${core}/configmaps/a`, { ...map, binaryData: {} }),
      put(`${core}/configmaps/a`, { ...map, data: {} }),
    ],
  }
}

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const addsText = jsonPatch("[JSONPatch{op: 'add', path: '/stringData', value: {'a': 'b'}}]")
const rollback = "/metadata/annotations/deprecated.deployment.rollback.to"
const addsRollback = jsonPatch(`[JSONPatch{op: 'add', path: '${rollback}', value: 'x'}]`)
const sees = (what: string): Json =>
  jsonPatch(`[JSONPatch{op: 'add', path: '/metadata/labels', value: {'seen': string(${what})}}]`)

/** What is another value when it is converted, which is when all policies are done: a resource, the mutations of policies. */
const written: readonly (readonly [resource: string, mutations: readonly Json[][]])[] = [
  ["secrets", [[addsText, jsonPatch("[JSONPatch{op: 'replace', path: '/stringData/a', value: 'c'}]")]]],
  [
    "secrets",
    [
      [
        applied("Object{stringData: {'a': 'b'}}"),
        jsonPatch("[JSONPatch{op: 'copy', from: '/stringData', path: '/metadata/labels'}]"),
      ],
    ],
  ],
  ["deployments", [[addsRollback]]],
  [
    "deployments",
    [
      [
        applied(
          `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{serviceAccount: 'x'}}}}`,
        ),
        sees("has(object.spec.template.spec.serviceAccountName)"),
      ],
    ],
  ],
  [
    "pods",
    [
      [
        jsonPatch("[JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: -3}]"),
        sees("object.spec.terminationGracePeriodSeconds < 0"),
      ],
    ],
  ],
]

const objects: { readonly [resource: string]: readonly [group: string, Json] } = {
  secrets: ["", { metadata: { name: "a" } }],
  pods: ["", { metadata: { name: "a" }, spec: template.spec }],
  deployments: [
    "apps",
    { metadata: { name: "a", annotations: { c: "d" } }, spec: { selector: { matchLabels: { a: "b" } }, template } },
  ],
}

function passedOn([resource, policies]: (typeof written)[number]): Scenario {
  const [group, object] = objects[resource] ?? ["", {}]
  const rule = { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: [resource] }
  const labelled = { ...rule, apiGroups: [""], resources: ["configmaps"] }
  const path = `${group === "" ? core : `/apis/${group}/v1/namespaces/@{ns}`}/${resource}`
  return {
    name: `a mutation of ${resource} is passed on as it is written: ${JSON.stringify(policies)}`,
    steps: [
      ...policies.flatMap((mutations, index) => policy(`a${index}-@{id}`, rule, [], { mutations })),
      ...policy("b-@{id}", labelled, ["{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}"]),
      post(`${core}/configmaps?dryRun=All`, { metadata: { name: "a" } }, { untilText: "seen" }),
      post(path, object),
      patch(`${path}/a`, mergePatch, { metadata: { annotations: { e: "f" } } }),
    ],
  }
}

function mutated(what: string, operation: string, more: object = {}): Scenario {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }
  const labelled = { ...rule, resources: ["secrets"] }
  return {
    name: `a policy that mutates ${what}`,
    steps: [
      ...policy("a-@{id}", rule, [operation], more),
      // When it is in force, so is the one before.
      ...policy("b-@{id}", labelled, ["{op: 'add', path: '/metadata/labels', value: {'seen': 'yes'}}"]),
      post(`${core}/secrets?dryRun=All`, { metadata: { name: "a" } }, { untilText: "seen" }),
      post(`${core}/configmaps`, { metadata: { name: "a" }, data: { a: "b" } }),
      post(`${core}/configmaps`, { metadata: { name: "b", namespace: "@{ns}" } }),
      post(`${core}/configmaps`, { metadata: { generateName: "c-" } }),
      put(`${core}/configmaps/a`, { metadata: { name: "a" }, data: { a: "c" } }),
      patch(`${core}/configmaps/b?fieldManager=m`, applyPatch, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "b" },
        data: { a: "d" },
      }),
    ],
  }
}

function policy(name: string, rule: Json, operations: readonly string[], more: object = {}): RequestStep[] {
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } }
  const spec = {
    matchConstraints: { namespaceSelector, resourceRules: [rule] },
    reinvocationPolicy: "Never",
    failurePolicy: "Fail",
    mutations: operations.map((each) => jsonPatch(`[JSONPatch${each}]`)),
    ...more,
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata: { name }, spec }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }),
  ]
}

function jsonPatch(expression: string): Json {
  return { patchType: "JSONPatch", jsonPatch: { expression } }
}

function applied(expression: string): Json {
  return { patchType: "ApplyConfiguration", applyConfiguration: { expression } }
}
