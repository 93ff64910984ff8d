// Policies that mutate custom resources, of which upstream checks little before: the types of their fields when a configuration is
// applied, and that they are of a kind when a patch has been.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { embedded, embedding, storedElsewhere, versioned } from "./policy-custom-kinds.ts"
import { group, served, thing, things } from "./things.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"

export function policyCustomValueCases(): Scenario[] {
  return [
    { name: "policies mutate custom resources that do not fit", anyOrder: true, steps: unfit() },
    ...Object.entries(unchecked).map(([what, values]) => ({
      name: `a policy's patch makes a custom resource of ${what}`,
      anyOrder: true,
      steps: made(served, values),
    })),
    {
      name: "a policy's patch makes a custom resource of one with other embedded objects",
      anyOrder: true,
      steps: made(
        embedding,
        embedded.flatMap((value) => [
          add("/spec/one", value),
          add("/spec/list", `[${value}]`),
          add("/status/one", value),
        ]),
      ),
    },
    ...["other metadata", "other names", "other times", "no metadata"].map((what) => ({
      name: `a policy's patch makes a custom resource that is stored in another version of ${what}`,
      anyOrder: true,
      steps: made(storedElsewhere, unchecked[what] ?? []),
    })),
    {
      name: "a policy's patch makes a custom resource that is stored in another version of one with other embedded objects",
      anyOrder: true,
      steps: made(
        storedElsewhere,
        embedded.map((value) => add("/status/one", value)),
      ),
    },
    {
      name: "a policy's patch makes a custom resource of a version that is not served",
      anyOrder: true,
      steps: made(
        versioned,
        ["v0", "v2", "v3"].map((version) => add("/apiVersion", `'${group}/${version}'`)),
      ),
    },
  ]
}

const add = (path: string, value: string): string => `[JSONPatch{op: 'add', path: '${path}', value: ${value}}]`
const remover = (path: string): string => `[JSONPatch{op: 'remove', path: '${path}'}]`

/** What nobody looks at between a policy's patch and the validation of the object: patches by what they make. */
const unchecked: Readonly<Record<string, readonly string[]>> = {
  nulls: [
    ...["size", "color", "name", "nothing", "any", "port", "tags", "parts", "labels"].map((field) =>
      add(`/spec/${field}`, "null"),
    ),
    add("/spec", "null"),
    add("/status", "null"),
    add("/spec/tags/0", "null"),
    add("/spec/parts/0", "null"),
    add("/spec/parts/0/count", "null"),
    add("/spec/labels/a", "null"),
    add("/spec/any/x", "null"),
    add("/spec/more", "null"),
  ],
  "values of other types": [
    add("/spec/size", "'x'"),
    add("/spec/size", "1.5"),
    add("/spec/color", "5"),
    add("/spec/tags", "'x'"),
    add("/spec/tags/-", "5"),
    add("/spec/parts", "{'a': 'b'}"),
    add("/spec/parts/0", "'x'"),
    add("/spec/labels", "['x']"),
    add("/spec/any", "5"),
    add("/spec/choice", "'x'"),
    add("/spec", "'x'"),
    add("/status", "5"),
  ],
  "fields that are not declared": [
    add("/spec/more", "5"),
    add("/spec/parts/0/more", "{'a': 'b'}"),
    add("/more", "'x'"),
    add("/metadata/more", "'x'"),
    add("/spec/any/more", "'x'"),
    add("/spec/parts/-", "{'name': 'q', 'more': 'x'}"),
    add("/status/more", "'x'"),
    add("/status", "{'more': 'x'}"),
  ],
  "other metadata": [
    ...["5", "'x'", "null", "['x']", "{'a': 'b'}"].flatMap((value) =>
      ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"].map((field) =>
        add(`/metadata/${field}`, value),
      ),
    ),
    add("/metadata/labels/other", "5"),
    add("/metadata/annotations/other", "5"),
    add("/metadata/annotations/other", "null"),
    add("/metadata/finalizers", "[5]"),
    add("/metadata/ownerReferences", "[5]"),
    add("/metadata/ownerReferences", "[{'name': 'a'}]"),
    add("/metadata/managedFields", "[{'manager': 'a'}]"),
    add("/metadata/managedFields", "[]"),
    add("/metadata/finalizers", "[]"),
  ],
  "other names": ["name", "namespace", "generateName", "uid", "resourceVersion", "selfLink"].flatMap((field) => [
    ...["5", "null", "'other'", "{'a': 'b'}"].map((value) => add(`/metadata/${field}`, value)),
    remover(`/metadata/${field}`),
  ]),
  "other times": ["creationTimestamp", "deletionTimestamp", "generation", "deletionGracePeriodSeconds"].flatMap(
    (field) => ["5", "null", "'x'", "1.5", "'2024-01-01T00:00:00Z'"].map((value) => add(`/metadata/${field}`, value)),
  ),
  "no metadata": [
    ...["5", "'x'", "null", "{'a': 'b'}", "['x']"].map((value) => add("/metadata", value)),
    remover("/metadata"),
  ],
  "names that JavaScript's objects inherit": [
    add("/__proto__", "{'spec': {'size': 99}, 'status': {'phase': 'w'}}"),
    "[JSONPatch{op: 'remove', path: '/spec'}, JSONPatch{op: 'add', path: '/__proto__', value: {'spec': {'size': 99}}}]",
    "[JSONPatch{op: 'remove', path: '/spec'}, JSONPatch{op: 'add', path: '/__proto__', value: {'spec': {'size': 5}}}]",
    "[JSONPatch{op: 'remove', path: '/metadata'}, JSONPatch{op: 'add', path: '/__proto__', value: object}]",
    add("/__proto__", "null"),
    add("/constructor", "{'a': 'b'}"),
    add("/spec/__proto__", "{'size': 99, 'more': 'x'}"),
    add("/spec/any/__proto__", "{'size': 99}"),
    add("/spec/labels/__proto__", "'x'"),
    add("/metadata/__proto__", "{'labels': {'x': 'y'}}"),
    add("/metadata/labels/__proto__", "'x'"),
    add("/metadata/annotations/__proto__", "5"),
  ],
  "another kind": [
    add("/kind", "'Other'"),
    add("/apiVersion", "'other/v1'"),
    add("/apiVersion", "'g@{id}.example.com/v2'"),
    add("/apiVersion", "'v1'"),
    add("/apiVersion", "'a/b/c'"),
    remover("/apiVersion"),
    add("/apiVersion", "null"),
    add("/kind", "null"),
    remover("/spec"),
    add("", "5"),
    add("", "{'kind': 'Thing'}"),
  ],
}

/** By each patch alone, and before a configuration is applied, which looks at the whole object: created and updated, by every verb. */
function made(defined: readonly RequestStep[], patches: readonly string[]): RequestStep[] {
  const applied = "Object{spec: Object.spec{port: 5}}"
  const all = [...patches.map((patch) => [patch]), ...patches.map((patch) => [patch, applied])]
  const given = thing({ size: 1, tags: ["t"], parts: [{ name: "p", count: 2 }], labels: { a: "b" }, any: {} }, "a", {
    status: { phase: "x" },
  }) as { metadata: object }
  const named = (name: string, policy?: string, resourceVersion?: string): Json => ({
    ...given,
    metadata: {
      name,
      finalizers: ["example.com/f"],
      annotations: { x: "y" },
      ...(policy === undefined ? {} : { labels: { policy } }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  })
  return [
    ...defined,
    ...all.flatMap((mutations, index) => policy(`w${index}`, mutations)),
    ...policy("last", [add("/metadata/annotations", "{'seen': 'yes'}")]),
    post(`${things}?dryRun=All`, named("last", "last"), { untilText: '"seen"' }),
    ...all.flatMap((mutations, index) => {
      const [name, by] = [`o${index}`, `w${index}`]
      const labelled = (verb: string) => ({ label: `${verb} ${mutations.join(" ")}` })
      const change = { metadata: { labels: { policy: by } } }
      return [
        post(`${things}?dryRun=All`, named(`${name}d`, by), labelled("POST dry")),
        post(things, named(`${name}p`, by), labelled("POST")),
        post(things, named(name), { label: `POST ${index}`, save: name }),
        put(
          `${things}/${name}?dryRun=All`,
          named(name, by, `@{${name}.metadata.resourceVersion}`),
          labelled("PUT dry"),
        ),
        patch(`${things}/${name}/status`, mergePatch, { ...change, status: { phase: "z" } }, labelled("PATCH status")),
        patch(`${things}/${name}`, mergePatch, change, labelled("PATCH")),
      ]
    }),
    ...[...all.keys()]
      .map((index) => `w${index}`)
      .concat("last")
      .flatMap(unbound),
  ]
}

function unbound(name: string): RequestStep[] {
  return ["mutatingadmissionpolicybindings", "mutatingadmissionpolicies"].map((kind) =>
    remove(`${policies}/${kind}/${name}-@{id}`),
  )
}

/** By the name of the policy. */
const mutations: Readonly<Record<string, string>> = {
  applied: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
  within: "Object{spec: Object.spec{port: 5}}",
  removed: "[JSONPatch{op: 'remove', path: '/kind'}]",
  mistyped: "[JSONPatch{op: 'add', path: '/kind', value: {'a': 'b'}}]",
  emptied: "[JSONPatch{op: 'replace', path: '/kind', value: ''}]",
  versioned: "[JSONPatch{op: 'replace', path: '/apiVersion', value: 5}]",
}

function unfit(): RequestStep[] {
  const labelled = (spec: Json, name: string): Json =>
    thing(spec, name, { metadata: { name, labels: { policy: name } } })
  const names = Object.keys(mutations)
  const marks = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': 'yes'}}]"
  const faults = [{}, { size: "x" }, { size: 1.5, tags: "t" }, { parts: [{ name: 5 }, "p"] }, { labels: { a: 1 } }]
  return [
    ...served,
    ...Object.entries({ ...mutations, last: marks }).flatMap(([name, expression]) => policy(name, [expression])),
    post(`${things}?dryRun=All`, labelled({ size: 1 }, "last"), { untilText: '"seen"' }),
    ...names.flatMap((name) =>
      faults.map((fault) =>
        post(`${things}?dryRun=All`, labelled({ size: 1, ...fault }, name), {
          label: `POST ${name} ${JSON.stringify(fault)}`,
        }),
      ),
    ),
    ...[...names, "last"].flatMap(unbound),
  ]
}

/** Of the objects whose label has its name. */
function policy(name: string, expressions: readonly string[]): RequestStep[] {
  const metadata = { name: `${name}-@{id}` }
  const spec = {
    reinvocationPolicy: "Never",
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      objectSelector: { matchLabels: { policy: name } },
      resourceRules: [
        { apiGroups: [group], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: ["things", "things/*"] },
      ],
    },
    mutations: expressions.map((expression) =>
      expression.startsWith("[")
        ? { patchType: "JSONPatch", jsonPatch: { expression } }
        : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    ),
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata, spec }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata, spec: { policyName: metadata.name } }),
  ]
}
