// matchLabelKeys and mismatchLabelKeys: the values of a pod's labels go into its selectors when it is made, and only then.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const pods = `${core}/pods`
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"

export function labelKeyCases(): Scenario[] {
  return [
    { name: "a pod's labels are merged into its selectors", steps: merged() },
    { name: "a label key that a selector has already is refused in pods", steps: faults() },
    { name: "templates keep their selectors, and refuse less of label keys", steps: templates() },
    { name: "updates of a pod merge no labels", steps: updates() },
  ]
}

const labels: Body = { app: "a", version: "1", empty: "", "example.com/team": "t" }

/** A selector with its label keys, as terms and constraints have them. */
const keysOf = (labelSelector: Json, matchLabelKeys?: Json, mismatchLabelKeys?: Json): Body => ({
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(matchLabelKeys === undefined ? {} : { matchLabelKeys }),
  ...(mismatchLabelKeys === undefined ? {} : { mismatchLabelKeys }),
})

const exists = (key: string): Body => ({ key, operator: "Exists" })
const topologyKey = "kubernetes.io/hostname"

/** In each of the places that a pod has for it. */
function everywhere(keys: Body): Body[] {
  const term: Body = { topologyKey, ...keys }
  const required: Body = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
  const preferred: Body = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] }
  const { mismatchLabelKeys: _none, ...ofConstraint } = keys
  return [
    { affinity: { podAffinity: { ...required, ...preferred } } },
    { affinity: { podAntiAffinity: { ...required, ...preferred } } },
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", ...ofConstraint }] },
  ]
}

const podOf = (spec: Body, metadata: Body = {}): Body => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", labels, ...metadata },
  spec: { containers: [{ name: "main", image: "busybox" }], ...spec },
})

const tried = (spec: Body, metadata?: Body): RequestStep =>
  post(`${pods}?dryRun=All`, podOf(spec, metadata), { label: JSON.stringify({ ...spec, ...metadata }) })

function merged(): RequestStep[] {
  const selector = { matchLabels: { app: "b" }, matchExpressions: [exists("other")] }
  const lists = [
    keysOf({}, ["app"]),
    keysOf({}, undefined, ["app"]),
    keysOf({}, ["version", "app"], ["empty", "example.com/team"]),
    keysOf(selector, ["version"], ["app", "other"]),
    keysOf({ matchExpressions: [exists("app")] }, ["version"], ["app"]),
    keysOf({ matchLabels: { none: "n" } }, ["none", "app", "missing"], ["lost"]),
    keysOf({}, [], []),
    keysOf({}, null, null),
    keysOf({}, undefined, ["app", "app"]),
  ]
  return [
    ...lists.flatMap((keys) => everywhere(keys).map((spec) => tried(spec))),
    ...lists.slice(0, 3).flatMap((keys) => everywhere(keys).map((spec) => tried(spec, { labels: null }))),
    post(`${pods}?dryRun=All`, aliased, { contentType: "application/yaml" }),
    post(pods, podOf(Object.assign({}, ...everywhere(keysOf(selector, ["version"]))))),
    get(`${pods}/a`),
  ]
}

/** One term, written down once. */
const aliased = `apiVersion: v1
kind: Pod
metadata: {name: aliased, labels: {app: a, constructor: c}}
spec:
  containers: [{name: main, image: busybox}]
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - &term {topologyKey: zone, labelSelector: {}, matchLabelKeys: [app, constructor, valueOf]}
      - *term
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: [*term]
`

function faults(): RequestStep[] {
  const lists = [
    keysOf({ matchLabels: { app: "a" } }, ["app"]),
    keysOf({ matchLabels: { app: "b", version: "1" } }, ["example.com/team", "version", "app"]),
    keysOf({ matchExpressions: [exists("app")] }, ["app"]),
    keysOf({ matchExpressions: [exists("missing")] }, ["missing"]),
    keysOf({ matchLabels: { missing: "m" }, matchExpressions: [exists("missing")] }, ["missing"]),
    keysOf({}, ["app", "app"]),
    keysOf({}, ["missing", "missing"]),
    keysOf({}, ["app"], ["app"]),
    keysOf({}, ["missing"], ["missing"]),
    keysOf({}, ["not a key"], ["nor this"]),
    keysOf(undefined as unknown as Json, ["app"], ["version"]),
    keysOf(null, ["app"], ["version"]),
    keysOf({ matchExpressions: [{ key: "x", operator: "In" }] }, ["app"]),
  ]
  return [
    ...lists.flatMap((keys) => everywhere(keys).map((spec) => tried(spec))),
    ...everywhere(keysOf({}, ["app"], ["version"])).map((spec) =>
      // Upstream reports several in the order of a Go map.
      tried(spec, { labels: { app: "not a value", version: "1" } }),
    ),
  ]
}

function templates(): RequestStep[] {
  const lists = [
    keysOf({}, ["app"], ["version"]),
    keysOf({ matchLabels: { app: "a" } }, ["app"]),
    keysOf({ matchExpressions: [exists("app")] }, ["app"]),
    keysOf({ matchExpressions: [exists("app"), exists("app")] }, ["app"]),
    keysOf({}, ["app", "app"]),
    keysOf({}, ["app"], ["app"]),
  ]
  const made = (spec: Body): Body => ({ metadata: { labels }, spec: podOf(spec)["spec"] ?? {} })
  return lists.flatMap((keys) =>
    everywhere(keys).flatMap((spec) => [
      post(
        `${deployments}?dryRun=All`,
        { metadata: { name: "a" }, spec: { selector: { matchLabels: { app: "a" } }, template: made(spec) } },
        { label: `Deployment ${JSON.stringify(spec)}` },
      ),
      post(
        `${core}/podtemplates?dryRun=All`,
        { metadata: { name: "a" }, template: made(spec) },
        { label: `PodTemplate ${JSON.stringify(spec)}` },
      ),
    ]),
  )
}

function updates(): RequestStep[] {
  const spec: Body = Object.assign({}, ...everywhere(keysOf({ matchLabels: { x: "y" } }, ["app"], ["version"])))
  const gated = podOf({ ...spec, schedulingGates: [{ name: "wait" }, { name: "more" }] })
  const apply = (body: Body): RequestStep => patch(`${pods}/b?fieldManager=m`, applyPatch, body)
  const constraint = "/spec/topologySpreadConstraints/0"
  return [
    post(pods, gated),
    // As kubectl replace does it: without what was merged.
    put(`${pods}/a`, gated, { label: "PUT without what was merged" }),
    patch(`${pods}/a`, mergePatch, { metadata: { labels: { app: "c", version: null } } }),
    patch(`${pods}/a`, mergePatch, { spec: { schedulingGates: [{ name: "wait" }] } }),
    patch(`${pods}/a`, jsonPatch, [{ op: "remove", path: `${constraint}/matchLabelKeys` }]),
    patch(`${pods}/a`, jsonPatch, [{ op: "remove", path: `${constraint}/labelSelector/matchExpressions` }]),
    patch(`${pods}/a`, jsonPatch, [{ op: "add", path: `${constraint}/matchLabelKeys/-`, value: "version" }]),
    patch(`${pods}/a`, mergePatch, { spec: { schedulingGates: null } }),
    get(`${pods}/a`),
    apply(podOf(spec, { name: "b" })),
    get(`${pods}/b`),
    apply(podOf(spec, { name: "b" })),
    apply(podOf(spec, { name: "b", annotations: { n: "1" } })),
  ]
}
