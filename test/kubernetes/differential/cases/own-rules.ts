// What some kinds and verbs refuse by rules that are theirs alone.

import type { Json } from "../../../../apimachinery/object.ts"
import { kindNamed } from "../generate/objects.ts"
import {
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"

export function ownRuleCases(): Scenario[] {
  return [
    { name: "access reviews of any attributes", steps: reviews() },
    { name: "a namespace's phase is its deletion's", steps: phases() },
    { name: "flows that every server has stay as they are", steps: flows() },
    { name: "a claim keeps the class of attributes it was given", steps: claims() },
    { name: "a job's status is one that jobs have", steps: jobStatuses() },
    { name: "a revision of a controller holds an object", steps: revisions() },
    { name: "data of a revision of a controller is the same", steps: revisionTexts() },
    { name: "data of a revision of a controller is fit for HTML", steps: revisionBytes() },
    { name: "managed fields have one form", steps: managedFields() },
    { name: "objects are not exported", steps: exports() },
    { name: "a budget selects by no expression of a former version", steps: budgets() },
  ]
}

function reviews(): RequestStep[] {
  const root = "/apis/authorization.k8s.io/v1"
  const local = `${root}/namespaces/@{ns}/localsubjectaccessreviews`
  const about = { namespace: "@{ns}", verb: "get", resource: "pods" }
  const spec = (more: Body = {}): Body => ({ user: "a", resourceAttributes: { ...about, ...more } })
  const requirement = (operator: string, values: Json): Body => ({ key: "a", operator, values })
  const selectors: Body[] = [
    {},
    { rawSelector: "a=b" },
    { rawSelector: "a in (" },
    { rawSelector: "a=b", requirements: [requirement("In", ["b"])] },
    { requirements: [requirement("In", ["b"])] },
    { requirements: [requirement("In", [])] },
    { requirements: [requirement("NotIn", ["b", "c"])] },
    { requirements: [requirement("Exists", [])] },
    { requirements: [requirement("Exists", ["b"])] },
    { requirements: [requirement("Near", ["b"])] },
    { requirements: [{ operator: "In", values: ["b"] }] },
    { requirements: [{ key: "a b", operator: "In", values: ["b c"] }] },
    { requirements: [requirement("", []), requirement("In", ["b"])] },
  ]
  return [
    post(`${root}/subjectaccessreviews`, { metadata: { name: "a" }, spec: spec() }),
    post(`${root}/subjectaccessreviews`, { metadata: { labels: { a: "b" } }, spec: spec() }),
    post(`${root}/subjectaccessreviews`, { metadata: { managedFields: [] }, spec: spec() }),
    post(`${root}/selfsubjectaccessreviews`, { metadata: { name: "a" }, spec: spec() }),
    post(local, { metadata: { name: "a" }, spec: spec() }),
    post(local, { metadata: { namespace: "@{ns}" }, spec: spec() }),
    post(local, { metadata: { namespace: "other" }, spec: spec() }),
    post(local, { spec: spec({ namespace: "other" }) }),
    post(local, { spec: spec({ namespace: "" }) }),
    post(local, { spec: { user: "a", nonResourceAttributes: { path: "/" } } }),
    post(local, { spec: {} }),
    ...selectors.flatMap((selector, index) => [
      post(
        `${root}/subjectaccessreviews`,
        { spec: spec({ fieldSelector: selector }) },
        { label: `by fields, ${index}` },
      ),
      post(
        `${root}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes: { ...about, labelSelector: selector } } },
        { label: `by labels, ${index}` },
      ),
    ]),
  ]
}

function phases(): RequestStep[] {
  const path = "/api/v1/namespaces/m@{id}"
  const phase = (text: Json): RequestStep => patch(`${path}/status`, mergePatch, { status: { phase: text } })
  return [
    post("/api/v1/namespaces", { metadata: { name: "m@{id}" }, spec: { finalizers: ["example.com/mine"] } }),
    phase("Terminating"),
    phase("Bogus"),
    phase(null),
    phase("Active"),
    remove(path),
    phase("Active"),
    phase("Terminating"),
    put(`${path}/finalize`, { metadata: { name: "m@{id}" }, spec: { finalizers: [] } }),
  ]
}

function flows(): RequestStep[] {
  const root = "/apis/flowcontrol.apiserver.k8s.io/v1"
  const change = (path: string, spec: Body): RequestStep =>
    patch(`${root}/${path}?dryRun=All`, mergePatch, { spec }, { label: `${path} ${JSON.stringify(spec)}` })
  const levels = `${root}/prioritylevelconfigurations?dryRun=All`
  return [
    change("flowschemas/exempt", { matchingPrecedence: 2 }),
    change("flowschemas/exempt", { rules: [] }),
    change("flowschemas/catch-all", { matchingPrecedence: 9999 }),
    change("flowschemas/catch-all", { distinguisherMethod: null }),
    change("prioritylevelconfigurations/exempt", { type: "Limited" }),
    change("prioritylevelconfigurations/exempt", { limited: { nominalConcurrencyShares: 5 } }),
    change("prioritylevelconfigurations/catch-all", { limited: { nominalConcurrencyShares: 6 } }),
    post(levels, {
      metadata: {
        name: "m@{id}",
        annotations: { "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": "" },
      },
      spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    }),
  ]
}

function claims(): RequestStep[] {
  const claim = kindNamed("v1/persistentvolumeclaims")
  const named = (volumeAttributesClassName: Json): RequestStep =>
    patch(claim.objectPath, mergePatch, { spec: { volumeAttributesClassName } })
  return [
    post(claim.path, claim.object()),
    patch(`${claim.objectPath}/status`, mergePatch, { status: { phase: "Bound" } }),
    named("gold"),
    named(null),
    named("gold"),
    named(""),
    named("gold"),
    patch(`${claim.objectPath}/status`, mergePatch, { status: { currentVolumeAttributesClassName: "gold" } }),
    named("silver"),
    named(null),
    named(""),
  ]
}

function jobStatuses(): RequestStep[] {
  const jobs = "/apis/batch/v1/namespaces/@{ns}/jobs"
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } }
  const make = (name: string, spec: Body): RequestStep =>
    post(jobs, { metadata: { name }, spec: { suspend: true, template, ...spec } })
  const conditions = (...types: string[]): Body => ({
    conditions: types.map((type) => ({ type, status: "True" })),
  })
  const set = (name: string, status: Body): RequestStep =>
    patch(
      `${jobs}/${name}/status?dryRun=All`,
      strategicPatch,
      { status },
      { label: `${name} ${JSON.stringify(status)}` },
    )
  const indexed = { completionMode: "Indexed", completions: 5, parallelism: 2 }
  const statuses: Body[] = [
    { completedIndexes: "0-2" },
    { completedIndexes: "2-0" },
    { completedIndexes: "0-9" },
    { completedIndexes: "a" },
    { completedIndexes: "0,,1" },
    { failedIndexes: "1" },
    { failedIndexes: "7" },
    { completedIndexes: "0,1", failedIndexes: "1" },
    conditions("SuccessCriteriaMet"),
    conditions("SuccessCriteriaMet", "Failed"),
    conditions("SuccessCriteriaMet", "FailureTarget"),
    conditions("Complete"),
    conditions("Complete", "Failed"),
    { active: 1, ready: 2 },
    { active: -1 },
  ]
  return [
    make("plain", {}),
    make("indexed", indexed),
    make("limited", { ...indexed, backoffLimitPerIndex: 1 }),
    make("successful", { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } }),
    ...["plain", "indexed", "limited", "successful"].flatMap((name) => statuses.map((status) => set(name, status))),
  ]
}

function revisions(): RequestStep[] {
  const path = "/apis/apps/v1/namespaces/@{ns}/controllerrevisions"
  const values: Json[] = [null, 1, "text", [], {}, { a: 1 }, true]
  return [
    ...values.map((data) =>
      post(`${path}?dryRun=All`, { metadata: { name: "a" }, revision: 1, data }, { label: JSON.stringify(data) }),
    ),
    post(`${path}?dryRun=All`, { metadata: { name: "a" }, revision: -1, data: {} }),
    post(`${path}?dryRun=All`, { metadata: { name: "a" } }),
    post(path, { metadata: { name: "a" }, revision: 1, data: { a: 1 } }),
    patch(`${path}/a`, mergePatch, { data: { a: 2 } }),
    patch(`${path}/a`, mergePatch, { revision: 2 }),
  ]
}

/** The data of a revision may not change. Upstream compares texts: what says the same in another one is refused there. */
function revisionTexts(): RequestStep[] {
  const path = "/apis/apps/v1/namespaces/@{ns}/controllerrevisions"
  const revision = (data: string): string =>
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"revision":1,"data":${data}}`
  const first = '{"b":1,"a":{"d":1.50,"c":"<é"}}'
  const texts: [label: string, data: string][] = [
    ["the same", first],
    ["another order", '{"a":{"d":1.50,"c":"<é"},"b":1}'],
    ["another order inside", '{"b":1,"a":{"c":"<é","d":1.50}}'],
    ["one more", '{"b":1,"a":{"d":1.50,"c":"<é"},"e":null}'],
    ["text with spaces", '{ "b": 1, "a": { "d": 1.50, "c": "<é" } }'],
    ["text with another number", '{"b":1,"a":{"d":1.5,"c":"<é"}}'],
    ["text with an escape", '{"b":1,"a":{"d":1.50,"c":"\\u003cé"}}'],
  ]
  const json = { contentType: "application/json" }
  const sorted = { a: { b: 1, c: "x" }, d: 2 }
  return [
    { ...post(path, revision(first)), ...json, label: "create" },
    ...texts.map(([label, data]) => ({ ...put(`${path}/a?dryRun=All`, revision(data)), ...json, label })),
    patch(`${path}/a?dryRun=All`, mergePatch, { revision: 2 }, { label: "text of a patch, in order" }),
    post(path, { metadata: { name: "sorted" }, revision: 1, data: sorted }),
    patch(`${path}/sorted?dryRun=All`, mergePatch, { revision: 2 }),
    patch(`${path}/sorted?dryRun=All`, mergePatch, { data: { d: 2, a: { c: "x" } } }),
  ]
}

/** As Go's encoder writes it: controllers compare the bytes that they read with those that they would write. */
function revisionBytes(): RequestStep[] {
  const path = "/apis/apps/v1/namespaces/@{ns}/controllerrevisions"
  const kind = { group: "apps", version: "v1", kind: "ControllerRevision" }
  const inProtobuf = { accept: "application/vnd.kubernetes.protobuf" }
  const text = '{"a\\u003cb":"c \\u0026\\u0026 d \\u003e e\\u2028\\u2029","é":"\\"\\\\"}'
  const body = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"revision":1,"data":${text}}`
  return [
    { ...post(path, body), contentType: "application/json" },
    get(`${path}/a`, { headers: inProtobuf }),
    get(path, { headers: inProtobuf, label: "LIST" }),
    post(path, { metadata: { name: "b" }, revision: 1, data: { "a<b": "c && d > e" } }, { protobuf: kind }),
    get(`${path}/b`, { headers: inProtobuf }),
    { ...put(`${path}/a`, body), contentType: "application/json" },
  ]
}

function managedFields(): RequestStep[] {
  const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }
  const changes: Body[] = [
    {},
    { fieldsType: "FieldsV2" },
    { fieldsType: "" },
    { operation: "Create" },
    { operation: "" },
    { manager: "x".repeat(129) },
    { manager: "a\u0000b" },
    { subresource: "x".repeat(257) },
    { apiVersion: "v9" },
    { apiVersion: "" },
    { fieldsV1: { "f:data": { "f:a": {} } } },
    { fieldsV1: { "x:data": {} } },
    { fieldsV1: [] },
    { fieldsV1: "text" },
  ]
  return changes.map((change) =>
    post(
      `${core}/configmaps?dryRun=All`,
      { metadata: { name: "a", managedFields: [{ ...entry, ...change }] }, data: { a: "b" } },
      { label: JSON.stringify(change).slice(0, 60) },
    ),
  )
}

function exports(): RequestStep[] {
  const path = `${core}/configmaps`
  return [
    post(path, { metadata: { name: "a" } }),
    ...["true", "1", "", "false", "0", "bogus", "false&export=true"].map((value) => get(`${path}/a?export=${value}`)),
    get(`${path}?export=true`),
    get(`${path}/absent?export=true`),
  ]
}

function budgets(): RequestStep[] {
  const path = "/apis/policy/v1/namespaces/@{ns}/poddisruptionbudgets"
  const of = (operator: string): Json => ({
    key: "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match",
    operator,
  })
  const other: Json = { key: "a", operator: "Exists" }
  const selectors: Json[] = [
    {},
    { matchExpressions: [] },
    { matchExpressions: [of("Exists")] },
    { matchExpressions: [of("DoesNotExist")] },
    { matchExpressions: [of("Exists"), of("Exists")] },
    { matchExpressions: [of("Bogus"), other] },
    { matchLabels: {}, matchExpressions: [of("Exists")] },
    { matchLabels: { a: "b" }, matchExpressions: [of("Exists")] },
  ]
  return selectors.flatMap((selector, index) => [
    post(path, { metadata: { name: `b${index}` }, spec: { selector } }, { label: `POST ${index}` }),
    get(`${path}/b${index}`),
    patch(`${path}/b${index}`, mergePatch, { spec: { selector: selectors.at(-1 - index) ?? null } }),
  ])
}
