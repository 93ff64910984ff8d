// Random policies that mutate and are in force: patches and applied configurations of objects of several kinds, in a row and again, with
// conditions, variables and parameters, and what becomes of their errors. Each is about objects of its own.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { applyPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
const count = 12

export function randomMutationScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const numbers = Array.from({ length: count }, (_, number) => String(number))
  const marks = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': 'yes'}}]"
  const steps = [
    post(`${core}/limitranges`, { metadata: { name: "p", labels: { param: "p" } }, spec: { limits: [] } }),
    ...numbers.flatMap((number) => inForce(number, ...policyOf(random))),
    ...inForce("last", { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: marks } }] }),
    post(`${core}/services?dryRun=All`, service("last"), { untilText: '"seen"' }),
    ...numbers.flatMap((number) => requests(random, number)),
  ]
  return { name: `mutations of policies at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const metadata = (policy: string): JsonObject => ({
  name: `o${policy}`,
  labels: { policy, "a/b": "c" },
  annotations: { "x/y": "z" },
  finalizers: ["example.com/one", "example.com/two"],
})

const service = (policy: string): JsonObject => ({
  metadata: { name: `o${policy}`, labels: { policy } },
  spec: { type: "ExternalName", externalName: "example.com", ports: [{ name: "p", port: 80 }] },
})

const deployment = (policy: string): JsonObject => ({
  metadata: { name: `o${policy}`, labels: { policy, "a/b": "c" }, annotations: { "x/y": "z" } },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: {
        containers: [
          { name: "c", image: "i", args: ["x"], ports: [{ containerPort: 80 }], env: [{ name: "E", value: "1" }] },
          { name: "d", image: "j" },
        ],
        tolerations: [{ key: "t", operator: "Exists" }],
        volumes: [{ name: "v", emptyDir: {} }],
      },
    },
  },
})

const secret = (policy: string): JsonObject => ({
  metadata: metadata(policy),
  type: "Opaque",
  data: { a: "Yg==" },
})

function requests(random: Random, policy: string): RequestStep[] {
  const kinds: readonly (readonly [string, JsonObject, JsonObject])[] = [
    [deployments, deployment(policy), { apiVersion: "apps/v1", kind: "Deployment" }],
    [`${core}/secrets`, secret(policy), { apiVersion: "v1", kind: "Secret" }],
  ]
  return kinds.flatMap(([path, object, type]) => {
    const at = `${path}/o${policy}`
    const change = { metadata: { labels: { other: "x" }, annotations: { k: "v" } } }
    return [
      post(`${path}?fieldManager=a`, object),
      pick(random, [
        () => patch(`${at}?fieldManager=b`, mergePatch, change),
        () => put(`${at}?fieldManager=b`, object),
        () => patch(`${at}?fieldManager=b&force=true`, applyPatch, { ...type, ...object }),
        () => patch(`${at}?fieldManager=b&dryRun=All`, mergePatch, change),
      ])(),
    ]
  })
}

const texts = [
  "'x'",
  "object.metadata.name",
  "variables.word",
  "request.operation",
  "string(size(object.metadata.labels))",
  "object.metadata.labels['a/b']",
  "object.metadata.labels.nope",
  "has(oldObject.metadata) ? 'old' : 'new'",
  "params.metadata.name",
]

const values = (random: Random): string =>
  pick(random, [
    ...texts,
    "{'k': 'v'}",
    "['a', 'b']",
    "[]",
    "{}",
    "null",
    "5",
    "true",
    "Object.metadata.labels{k: 'v'}",
    "Object.spec.template.spec.containers{name: 'e', image: 'k'}",
    "{'name': 'e', 'image': 'k'}",
    "object.metadata.labels",
    "object.spec.template.spec.containers[0]",
    "object.spec.template.spec.containers.map(c, c.name)",
    "1.5",
    "object",
  ])

const paths = [
  "/metadata/labels/new",
  "/metadata/labels/a~1b",
  "/metadata/annotations/x~1y",
  "/metadata/labels",
  "/metadata/labels/nope",
  "/metadata/labels/policy",
  "/metadata/finalizers/0",
  "/metadata/finalizers/-",
  "/metadata/finalizers/1",
  "/metadata/finalizers/7",
  "/metadata/finalizers",
  "/spec/template/spec/containers/0/image",
  "/spec/template/spec/containers/-",
  "/spec/template/spec/containers/0",
  "/spec/template/spec/containers/1",
  "/spec/template/spec/containers/-1",
  "/spec/template/spec/containers/00",
  "/spec/replicas",
  "/spec/template/metadata/labels/new",
  "/data/a",
  "/stringData/b",
  "/immutable",
  "/status/replicas",
  "/metadata/uid",
  "/metadata/managedFields",
  "/kind",
  "/apiVersion",
  "metadata",
  "/",
  "",
  "/metadata/labels/",
  "/metadata/generateName",
  "/spec/minReadySeconds",
]

const path = (random: Random): string =>
  chance(random, 0.12)
    ? `'/metadata/labels/' + jsonpatch.escapeKey(${pick(random, ["'a/b'", "'m~n'", "object.metadata.name"])})`
    : `'${pick(random, paths)}'`

function operation(random: Random): string {
  const op = pick(random, ["add", "add", "add", "replace", "replace", "remove", "move", "copy", "test"])
  const fields = [`op: '${op}'`, `path: ${path(random)}`]
  if (["move", "copy"].includes(op) || chance(random, 0.03)) fields.push(`from: ${path(random)}`)
  if (["add", "replace", "test"].includes(op) ? chance(random, 0.95) : chance(random, 0.1))
    fields.push(`value: ${values(random)}`)
  const made = `JSONPatch{${fields.join(", ")}}`
  return chance(random, 0.1) ? `${pick(random, ["has(object.data)", "1 / 0 == 1", "true"])} ? ${made} : ${made}` : made
}

function patches(random: Random): JsonObject {
  const list = `[${Array.from({ length: random(4) }, () => operation(random)).join(", ")}]`
  const expression = chance(random, 0.1) ? `has(object.spec) ? ${list} : []` : list
  return { patchType: "JSONPatch", jsonPatch: { expression } }
}

const pod = "Object.spec.template.spec"

function fieldOfPod(random: Random): string {
  const named = (name: string, field: string): string => `${pod}.containers{name: '${name}', ${field}}`
  const field = pick(random, [
    "image: 'new'",
    "args: ['y']",
    `env: [${pod}.containers.env{name: 'E', value: ${pick(random, texts)}}]`,
    `env: [${pod}.containers.env{name: 'F', value: 'f'}]`,
    `ports: [${pod}.containers.ports{containerPort: 81}]`,
    `ports: [${pod}.containers.ports{containerPort: 80, protocol: 'TCP', name: 'web'}]`,
    `resources: ${pod}.containers.resources{limits: {'cpu': '1'}}`,
    `securityContext: ${pod}.containers.securityContext{runAsNonRoot: true}`,
  ])
  return pick(random, [
    `containers: [${named(pick(random, ["c", "d", "e"]), field)}]`,
    `containers: object.spec.template.spec.containers.map(each, ${pod}.containers{name: each.name, ${field}})`,
    `initContainers: [${pod}.initContainers{name: 'i', image: 'i'}]`,
    `volumes: [${pod}.volumes{name: 'w', emptyDir: ${pod}.volumes.emptyDir{}}]`,
    `volumes: [${pod}.volumes{name: 'v', hostPath: ${pod}.volumes.hostPath{path: '/x'}}]`,
    `tolerations: [${pod}.tolerations{key: 'u', operator: 'Exists'}]`,
    "nodeSelector: {'n': 'o'}",
    "restartPolicy: 'Never'",
    `securityContext: ${pod}.securityContext{fsGroup: 5}`,
    "serviceAccountName: 'x'",
    `topologySpreadConstraints: []`,
  ])
}

function configuration(random: Random): JsonObject {
  const inMetadata = (field: string): string => `Object{metadata: Object.metadata{${field}}}`
  const expression = pick<() => string>(random, [
    () => inMetadata(`labels: {${pick(random, ["'new'", "'a/b'", "'policy'"])}: ${pick(random, texts)}}`),
    () => inMetadata(`?labels: ${pick(random, ["optional.none()", "optional.of({'o': 'p'})"])}`),
    () => inMetadata(`annotations: {'k': ${pick(random, texts)}}, finalizers: ['example.com/three']`),
    () =>
      inMetadata(
        `ownerReferences: [Object.metadata.ownerReferences{apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u'}]`,
      ),
    () => `Object{spec: Object.spec{replicas: ${pick(random, ["3", "object.spec.replicas + 1", "-1"])}}}`,
    () => `Object{spec: Object.spec{template: Object.spec.template{spec: ${pod}{${fieldOfPod(random)}}}}}`,
    () => `Object{spec: Object.spec{template: Object.spec.template{spec: ${pod}{${fieldOfPod(random)}}}}}`,
    () => `Object{spec: Object.spec{template: Object.spec.template{spec: ${pod}{${fieldOfPod(random)}}}}}`,
    () => `Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'q': 'r'}}}}`,
    () => "Object{data: {'b': 'Yg=='}}",
    () => "Object{type: 'other'}",
    () => "Object{status: Object.status{replicas: 3}}",
    () => "has(object.spec) ? Object{} : Object{immutable: true}",
    () => "Object{kind: 'Other'}",
    () => "Object{}",
  ])()
  return { patchType: "ApplyConfiguration", applyConfiguration: { expression } }
}

/** A policy and what its binding has. */
function policyOf(random: Random): [JsonObject, JsonObject] {
  const hasParams = chance(random, 0.2)
  const mutations = Array.from({ length: 1 + random(3) }, () => pick(random, [patches, patches, configuration])(random))
  const conditions = ["object != null", "has(object.spec)", "oldObject == null", "1 / 0 == 0", "params != null"]
  return [
    {
      mutations,
      ...(hasParams ? { paramKind: { apiVersion: "v1", kind: "LimitRange" } } : {}),
      failurePolicy: pick(random, ["Fail", "Fail", "Ignore"]),
      reinvocationPolicy: pick(random, ["Never", "IfNeeded"]),
      variables: [{ name: "word", expression: pick(random, ["'w'", "string(1 / 0)", "object.metadata.name + 'w'"]) }],
      ...(chance(random, 0.2) ? { matchConditions: [{ name: "c", expression: pick(random, conditions) }] } : {}),
    },
    hasParams && chance(random, 0.9)
      ? {
          paramRef: {
            ...pick<JsonObject>(random, [
              { name: "p" },
              { name: "absent" },
              { selector: { matchLabels: { param: "p" } } },
            ]),
            parameterNotFoundAction: pick(random, ["Allow", "Deny"]),
          },
        }
      : {},
  ]
}

function inForce(policy: string, spec: JsonObject, binding: JsonObject = {}): RequestStep[] {
  const name = `w${policy}-@{id}`
  const rule = (group: string, resource: string): Json => ({
    apiGroups: [group],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: [resource],
  })
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
    objectSelector: { matchLabels: { policy } },
    resourceRules: [rule("apps", "deployments"), rule("", "secrets"), rule("", "services")],
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: { reinvocationPolicy: "Never", ...spec, matchConstraints },
    }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name, ...binding } }),
  ]
}
