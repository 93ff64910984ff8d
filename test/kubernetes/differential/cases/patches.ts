// Patches beyond what random ones find soon: what has no key, and what is new.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  jsonPatch,
  strategicPatch,
} from "../scenario.ts"
import { served, thing, things } from "./things.ts"

const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"

export function patchCases(): Scenario[] {
  return [
    { name: "what was stored without keys is applied to", steps: appliedToKeyless() },
    { name: "strategic merges take what is new as it is", steps: merges() },
    { name: "strategic merges meet what is there twice", steps: duplicates() },
    { name: "strategic merges have directives alone", steps: directives() },
    { name: "an update with a selfLink", steps: selfLinks() },
    { name: "an update of a custom resource with a selfLink", steps: customSelfLinks() },
    { name: "a patch changes kind or apiVersion", steps: kindsChanged() },
    { name: "a patch gives values of another type to what has a form of its own", steps: ownForms() },
  ]
}

/** Lists that are merged by keys which only an apply needs: they may be stored without, or twice. */
function appliedToKeyless(): RequestStep[] {
  const path = "/api/v1/namespaces/@{ns}/serviceaccounts"
  const account = (more: object = {}): Json => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "a" },
    ...more,
  })
  const apply = (label: string, body: Json, more = ""): RequestStep =>
    patch(`${path}/a?fieldManager=one${more}`, applyPatch, JSON.stringify(body), { label: `APPLY ${label}` })
  const secrets = (...names: (string | undefined)[]): object => ({
    secrets: names.map((name) => (name === undefined ? { kind: "Secret" } : { name })),
  })
  return [
    post(path, account(secrets(undefined, "s"))),
    apply("nothing to keyless items", account()),
    apply("with force", account(), "&force=true"),
    apply("an unknown field", account({ bogus: 1 })),
    apply("another kind", { ...(account() as object), kind: "Secret" }),
    apply("managers", account({ metadata: { name: "a", managedFields: [] } })),
    apply("keyless items", account(secrets(undefined))),
    put(`${path}/a`, account(secrets("s", "s", "t"))),
    apply("nothing to items that are there twice", account()),
    apply("one that is there twice", account(secrets("s"))),
    apply("one that is there once", account(secrets("t"))),
    apply("two of the same", account(secrets("u", "u"))),
    patch(`${path}/a`, mergePatch, secrets(undefined) as Json, { label: "PATCH keyless" }),
    apply("nothing to what became keyless", account()),
    get(`${path}/a`),
  ]
}

function merges(): RequestStep[] {
  const container = { name: "a", image: "x", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }
  const labels = { app: "d" }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const merge = (label: string, spec: Json, more = ""): RequestStep =>
    patch(`${deployments}/d?dryRun=All${more}`, strategicPatch, { spec: { template: { spec } } }, { label })
  const items = (label: string, ...containers: Json[]): RequestStep => merge(label, { containers })
  const one = (label: string, more: object): RequestStep => items(label, { name: "n", image: "y", ...more })
  const retain = { $retainKeys: ["image", "name"] }
  return [
    post(deployments, { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } }),
    items("a key of null", { name: null, image: "y" }),
    items("a key of null twice", { name: null, image: "y" }, { name: null, image: "z" }),
    items("a number as key", { name: 1, image: "y" }),
    items("no key", { image: "y" }),
    items("no item", null),
    items("twice", { name: "n", image: "y" }, { name: "n", image: "z", command: null }),
    one("nulls", { command: null, bogus: null }),
    one("keys to retain", retain),
    one("fewer keys to retain", { $retainKeys: ["image"] }),
    one("a directive in a field", { resources: { $patch: "delete", limits: { cpu: 1 } } }),
    one("a directive in a list", { env: [{ $patch: "replace" }, { name: "A" }] }),
    one("an order", { env: [{ name: "A" }], "$setElementOrder/env": [{ name: "B" }] }),
    one("values to delete", { command: ["a"], "$deleteFromPrimitiveList/command": ["a"] }),
    items("replaced, a key of null", { $patch: "replace" }, { name: null, image: "y" }),
    items("replaced, keys to retain", { $patch: "replace" }, { name: "n", image: "y", command: null, ...retain }),
    items("replaced, no key", { $patch: "replace" }, { image: "y" }),
    items("deleted, a key of null", { $patch: "delete", name: null }),
    items("no directive", { $patch: null, name: "a" }),
    items("a number as directive", { $patch: 1, name: "a" }),
    merge("ordered by null", { containers: [{ name: null }], "$setElementOrder/containers": [{ name: null }] }),
    merge("ordered by nothing", { containers: [{ name: "n" }], "$setElementOrder/containers": [null] }),
    merge("a new list", { initContainers: [{ name: null, image: "y", ...retain }] }),
    merge("a new list, no item", { initContainers: [null, { name: "z", image: "z" }] }),
    merge("a new list, ordered", {
      initContainers: [{ name: null }],
      "$setElementOrder/initContainers": [{ name: null }],
    }),
    merge("strictly", { containers: [{ name: "n", image: "y", bogus: null, ...retain }] }, "&fieldValidation=Strict"),
    merge("a new map", { nodeSelector: { $patch: null, b: "c" } }),
    merge("a new map that is a directive", { nodeSelector: { $patch: "replace", b: "c" } }),
  ]
}

function made(name: string, containers: Json): RequestStep[] {
  const template = { metadata: { labels: { app: name } }, spec: { containers } }
  return [
    post(deployments, { metadata: { name }, spec: { selector: { matchLabels: { app: name } }, template } } as Json),
  ]
}

/** Only what validation does not look at may be there twice. */
function duplicates(): RequestStep[] {
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
    { name: "B", value: "3" },
  ]
  const tolerations = [
    { key: "k", operator: "Exists" },
    { key: "k", operator: "Exists" },
  ]
  const merge = (label: string, container: object, more: object = {}): RequestStep =>
    patch(
      `${deployments}/d?dryRun=All`,
      strategicPatch,
      { spec: { template: { spec: { containers: [{ name: "a", ...container }], ...more } } } } as Json,
      { label },
    )
  const containers = (label: string, ...all: Json[]): RequestStep =>
    patch(
      `${deployments}/d?dryRun=All`,
      strategicPatch,
      { spec: { template: { spec: { containers: all } } } },
      { label },
    )
  const a = { name: "a", image: "y" }
  return [
    ...made("d", [
      { name: "a", image: "x", env, ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }] },
    ]),
    merge("a variable that is there twice", { env: [{ name: "A", value: "4" }] }),
    merge("a variable deleted that is there twice", { env: [{ name: "A", $patch: "delete" }] }),
    merge("a variable given twice", {
      env: [
        { name: "C", value: "4" },
        { name: "C", value: "5" },
      ],
    }),
    merge("variables in order", {
      env: [{ name: "A", value: "4" }],
      "$setElementOrder/env": [{ name: "B" }, { name: "A" }],
    }),
    merge("variables in an order with one twice", { "$setElementOrder/env": [{ name: "A" }, { name: "A" }] }),
    merge("a port that is there twice", { ports: [{ containerPort: 80, name: "p" }] }),
    merge("a port in order", { ports: [{ containerPort: 80 }], "$setElementOrder/ports": [{ containerPort: 80 }] }),
    containers("a container twice", a, { ...a, image: "z" }),
    containers("a container thrice", a, a, a),
    containers("a new container twice", { name: "b", image: "y" }, { name: "b", image: "z" }),
    containers("a container changed and deleted", a, { name: "a", $patch: "delete" }),
    containers("a container deleted and changed", { name: "a", $patch: "delete" }, a),
    containers("a container deleted twice", { name: "a", $patch: "delete" }, { name: "a", $patch: "delete" }),
    containers("a container replaced twice", { $patch: "replace" }, { $patch: "replace" }, a),
    containers("containers merged by directive", { $patch: "merge" }, a),
    containers("containers by a bogus directive", { $patch: "bogus", name: "a" }),
    containers("a container of another type", "x"),
    containers("a container and a text", a, "x"),
    containers("a number for a name that is there", { name: 1 }, { name: 1.5 }),
    merge("an init container twice", {}, { initContainers: [a, a] }),
    merge("tolerations twice", {}, { tolerations }),
    merge(
      "volumes twice",
      {},
      {
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "v", hostPath: { path: "/x" } },
        ],
      },
    ),
    merge("pull secrets twice", {}, { imagePullSecrets: [{ name: "s" }, { name: "s" }] }),
    merge("an object for a list", { env: { name: "A" } }),
    merge("a list for an object", { securityContext: [] }),
    merge("a text for a list", { env: "x" }),
    merge("a text for an object", { resources: "x" }),
    merge("a null in order", { "$setElementOrder/env": null }),
    merge("a text in order", { "$setElementOrder/env": "x" }),
  ]
}

/** What a directive may not say is told in other words where nothing is to be merged by it. */
function directives(): RequestStep[] {
  const labels = { app: "d" }
  const containers = ["a", "b"].map((name) => ({ name, image: "x" }))
  const template = { metadata: { labels }, spec: { containers } }
  const values = ["[[]]", "[{}]", "[]", "null", "1", "1.5", "[1]", "[null]", '["a"]', '[{"name":"b"}]', '[{"name":1}]']
  const ofPod = (text: string): string => `{"spec":{"template":{"spec":{${text}}}}}`
  const bodies = (value: string): string[] => [
    ofPod(`"$setElementOrder/containers":${value}`),
    ofPod(`"$setElementOrder/containers":${value},"containers":[{"name":"a","image":"z"}]`),
    ofPod(`"$setElementOrder/volumes":${value}`),
    ofPod(`"$patch":${value}`),
    ofPod(`"containers":[{"$patch":${value}}]`),
    `{"metadata":{"$setElementOrder/finalizers":${value},"$deleteFromPrimitiveList/finalizers":${value}}}`,
    `{"spec":{"$setElementOrder":${value}}}`,
    `{"spec":{"$setElementOrder/":${value}}}`,
  ]
  const made = { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } }
  return [
    post(deployments, made),
    ...values
      .flatMap(bodies)
      .map((text) => patch(`${deployments}/d?dryRun=All`, strategicPatch, text, { label: text })),
  ]
}

/** Upstream forgets it only where it stores. */
function selfLinks(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const map = (selfLink: string, more: object = {}): Json => ({ metadata: { name: "a", selfLink }, ...more })
  const applied = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", ...(map("/z") as object) })
  return [
    post(`${maps}?dryRun=All`, map("/x")),
    post(maps, map("/x")),
    put(`${maps}/a?dryRun=All`, map("/x")),
    put(`${maps}/a`, map("/x")),
    patch(`${maps}/a?dryRun=All`, mergePatch, { metadata: { selfLink: "/z" } }),
    patch(`${maps}/a?dryRun=All&fieldManager=x`, applyPatch, applied),
    put(`${maps}/a`, map("/y", { data: { a: "b" } })),
    get(`${maps}/a`),
  ]
}

function customSelfLinks(): RequestStep[] {
  const linked = (selfLink: string, more: object = {}): Json =>
    thing({ size: 1 }, "a", { metadata: { name: "a", selfLink, ...more } })
  const [read, save] = ["@{a.metadata.resourceVersion}", "a"]
  return [
    ...served,
    post(`${things}?dryRun=All`, linked("/x")),
    post(things, linked("/x"), { save }),
    put(`${things}/a?dryRun=All`, linked("/x", { resourceVersion: read })),
    patch(`${things}/a?dryRun=All`, mergePatch, { metadata: { selfLink: "/z" } }),
    patch(`${things}/a/status?dryRun=All`, mergePatch, { metadata: { selfLink: "/z" }, status: { phase: "x" } }),
    patch(`${things}/a?dryRun=All&fieldManager=x`, applyPatch, linked("/z")),
    put(`${things}/a`, linked("/y", { resourceVersion: read, labels: { a: "b" } })),
    get(`${things}/a`),
  ]
}

function kindsChanged(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const values: Json[] = [null, "", "v1", "a/b/c", "apps/v1", "ConfigMap", "Pod", false, 0, {}, []]
  const changes = values.flatMap((value): { [key: string]: Json }[] => [
    { apiVersion: value },
    { kind: value },
    { apiVersion: value, kind: null },
    { kind: value, apiVersion: null },
  ])
  const operations = (change: { [key: string]: Json }): Json =>
    Object.entries(change).map(([name, value]) =>
      value === null ? { op: "remove", path: `/${name}` } : { op: "replace", path: `/${name}`, value },
    )
  return [
    post(maps, { metadata: { name: "a" } }),
    ...changes.flatMap((change) => {
      const label = JSON.stringify(change)
      return [
        patch(`${maps}/a?dryRun=All`, mergePatch, change, { label: `PATCH merge ${label}` }),
        patch(`${maps}/a?dryRun=All`, strategicPatch, change, { label: `PATCH strategic ${label}` }),
        patch(`${maps}/a?dryRun=All`, jsonPatch, operations(change), { label: `PATCH json ${label}` }),
      ]
    }),
  ]
}

function ownForms(): RequestStep[] {
  const budgets = "/apis/policy/v1/namespaces/@{ns}/poddisruptionbudgets"
  const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
  const kinds = [
    { path: budgets, apiVersion: "policy/v1", kind: "PodDisruptionBudget", fields: { minAvailable: 1 } },
    { path: leases, apiVersion: "coordination.k8s.io/v1", kind: "Lease", fields: { renewTime: null } },
  ]
  const values: Json[] = [{}, [], true, 1.5, 7, "x", null]
  const parts: Json[] = [1.5, { annotations: 1.5 }, { finalizers: 1.5 }, { ownerReferences: [1.5] }]
  return kinds.flatMap(({ path, apiVersion, kind, fields }) => [
    post(path, { metadata: { name: "a" }, spec: fields }),
    ...parts.map((metadata) =>
      patch(
        `${path}/a?dryRun=All`,
        strategicPatch,
        { metadata },
        {
          label: `PATCH strategic ${kind} ${JSON.stringify({ metadata })}`,
        },
      ),
    ),
    ...values.flatMap((value) => {
      const spec = { [Object.keys(fields)[0] ?? ""]: value }
      const label = `${kind} ${JSON.stringify(spec)}`
      const whole = { apiVersion, kind, metadata: { name: "a" }, spec }
      return [
        patch(`${path}/a?dryRun=All&fieldManager=m&force=true`, applyPatch, whole, { label: `APPLY ${label}` }),
        patch(`${path}/a?dryRun=All`, strategicPatch, { spec }, { label: `PATCH strategic ${label}` }),
        patch(`${path}/a?dryRun=All`, mergePatch, { spec }, { label: `PATCH merge ${label}` }),
      ]
    }),
  ])
}
