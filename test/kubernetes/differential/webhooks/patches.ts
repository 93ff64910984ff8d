// Patches of mutating webhooks: what they change, and what is said of those that cannot be applied.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { patchText, rule, type WebhookScenario } from "./scenario.ts"

const space = "/api/v1/namespaces/@{ns}"
const maps = `${space}/configmaps`
const pods = `${space}/pods`
const map = { metadata: { name: "a", labels: { x: "y" } }, data: { a: "b" } }
const create = (): RequestStep[] => [post(maps, map)]

export function patchScenarios(): WebhookScenario[] {
  return [
    ...[...texts, ...operations.map((each) => JSON.stringify(each))].map((text) => ({
      name: `a patch is ${text.slice(0, 120)}`,
      hooks: [{ kind: "Mutating" as const, reply: patchText(text) }, {}],
      steps: create(),
    })),
    ...texts.slice(0, 6).map((text) => ({
      name: `a patch is ignored: ${text}`,
      hooks: [{ kind: "Mutating" as const, webhook: { failurePolicy: "Ignore" }, reply: patchText(text) }, {}],
      steps: create(),
    })),
    ...metadata.map(([path, value]) => ({
      name: `metadata is patched: ${path} ${JSON.stringify(value)}`,
      hooks: [{ kind: "Mutating" as const, reply: patchText(JSON.stringify([{ op: "add", path, value }])) }, {}],
      steps: [
        ...create(),
        patch(`${maps}/a`, mergePatch, { data: { c: "d" } }),
        put(`${maps}/a`, { metadata: { name: "a" } }),
      ],
    })),
    {
      name: "a create with a generated name is patched",
      hooks: [{ kind: "Mutating", reply: add("/data", { a: "c" }) }, {}],
      steps: [post(maps, { metadata: { generateName: "gen-" } })],
    },
    {
      name: "a patch names an object that had none",
      hooks: [{ kind: "Mutating", reply: add("/metadata/name", "named-@") }, {}],
      steps: [post(maps, { metadata: { generateName: "gen-" } })],
    },
    {
      name: "a patch gives a name",
      hooks: [{ kind: "Mutating", reply: add("/metadata/name", "named") }, {}],
      steps: [post(maps, { metadata: { generateName: "gen-" } }), post(maps, map)],
    },
    {
      name: "a patch gives an object that is applied again another name",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("*/*", { operations: ["UPDATE"] })] },
          reply: add("/metadata/name", "other"),
        },
        {},
      ],
      steps: renamed(),
    },
    {
      name: "a patch gives a new applied object another name",
      hooks: [{ kind: "Mutating", reply: add("/metadata/name", "other") }, {}],
      steps: [
        patch(`${maps}/a?fieldManager=m&dryRun=All`, applyPatch, {
          apiVersion: "v1",
          kind: "ConfigMap",
          data: { a: "b" },
        }),
        patch(`${maps}/a?fieldManager=m`, applyPatch, { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } }),
        get(`${maps}/a`),
        get(`${maps}/other`),
      ],
    },
    {
      name: "a patch takes the name of an applied object",
      hooks: [{ kind: "Mutating", reply: patchText('[{"op":"remove","path":"/metadata/name"}]') }, {}],
      steps: renamed(),
    },
    {
      name: "a patch gives an applied object another namespace",
      hooks: [{ kind: "Mutating", reply: add("/metadata/namespace", "other") }, {}],
      steps: renamed(),
    },
    {
      name: "what has no object is patched",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("*/*", { operations: ["DELETE", "CONNECT"] })] },
          reply: add("/x", 1),
        },
      ],
      steps: [
        ...create(),
        remove(`${maps}/a`),
        remove(maps),
        post(pods, pod),
        { method: "GET", path: `${pods}/p/exec?command=a` },
        { method: "GET", path: `${pods}/p/proxy/x` },
      ],
    },
    {
      name: "the options of a connection are patched",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("*/*", { operations: ["CONNECT"] })] },
          reply: add("/container", "other"),
        },
        {},
      ],
      steps: [post(pods, pod), { method: "GET", path: `${pods}/p/exec?command=a` }],
    },
    {
      name: "subresources are patched",
      hooks: [
        { kind: "Mutating", webhook: { rules: [rule("deployments/scale")] }, reply: add("/spec/replicas", 5) },
        { kind: "Mutating", webhook: { rules: [rule("pods/binding")] }, reply: add("/target/name", "other") },
        { kind: "Mutating", webhook: { rules: [rule("pods/status")] }, reply: add("/status/message", "other") },
        {
          kind: "Mutating",
          webhook: { rules: [rule("pods/eviction")] },
          reply: add("/deleteOptions", { dryRun: ["All"] }),
        },
        {},
      ],
      steps: subresources(),
    },
    {
      name: "a pod is patched",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("pods")] },
          reply: add("/spec/containers/-", { name: "side", image: "car" }),
        },
        { kind: "Mutating", webhook: { rules: [rule("pods")], reinvocationPolicy: "IfNeeded" } },
        {},
      ],
      steps: [post(pods, pod), patch(`${pods}/p`, mergePatch, { metadata: { labels: { a: "b" } } })],
    },
    ...podPatches.map(([path, value]) => ({
      name: `a pod is patched: ${path} ${JSON.stringify(value)}`,
      hooks: [{ kind: "Mutating" as const, webhook: { rules: [rule("pods")] }, reply: add(path, value) }],
      steps: [post(`${pods}?dryRun=All`, pod)],
    })),
    {
      name: "an apply is patched",
      hooks: [{ kind: "Mutating", reply: add("/data/z", "by webhook") }, {}],
      steps: [1, 2, 3].map((count) =>
        patch(`${maps}/a?fieldManager=m`, "application/apply-patch+yaml", {
          apiVersion: "v1",
          kind: "ConfigMap",
          data: count === 3 ? { a: "b" } : { a: "b", z: "own" },
        }),
      ),
    },
    {
      name: "a patch makes an object faulty",
      hooks: [{ kind: "Mutating", reply: add("/data", { "a b": "c" }) }, {}],
      steps: [...create(), put(`${maps}/a`, map)],
    },
  ]
}

const add = (path: string, value: unknown) => patchText(JSON.stringify([{ op: "add", path, value }]))
/** In all ways to write, of a new object and of one that is there. */
function renamed(): RequestStep[] {
  const apply = (name: string, data: object, more = ""): RequestStep =>
    patch(`${maps}/${name}?fieldManager=m${more}`, applyPatch, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
      data,
    } as Json)
  return [
    apply("a", { a: "b" }, "&dryRun=All"),
    apply("a", { a: "b" }),
    apply("a", { a: "c" }),
    get(`${maps}/a`),
    get(`${maps}/other`),
    post(maps, { metadata: { name: "b" } }),
    apply("b", { a: "b" }),
    apply("other", { a: "b" }),
    apply("other", { e: "f" }),
    patch(`${maps}/other`, mergePatch, { data: { c: "d" } }),
    put(`${maps}/other`, { metadata: { name: "other" } }),
    put("/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases/l", { metadata: { name: "l" }, spec: {} }),
    get(maps, { label: "LIST" }),
  ]
}

const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }

function subresources(): RequestStep[] {
  const labels = { app: "a" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  return [
    post(deployments, { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } }),
    patch(`${deployments}/d/scale`, mergePatch, { spec: { replicas: 3 } }),
    post(pods, pod),
    post(`${pods}/p/binding`, { target: { kind: "Node", name: "n" } }),
    patch(`${pods}/p/status`, mergePatch, { status: { message: "m" } }),
    post(`${pods}/p/eviction`, { metadata: { name: "p" } }),
    { method: "GET", path: `${pods}/p` },
  ]
}

const texts = [
  "null",
  "{}",
  "5",
  '"x"',
  "true",
  "[]",
  "[",
  "words",
  "[null]",
  "[5]",
  "[[]]",
  "[{}]",
  '[{"op":5}]',
  '[{"op":"add"}]',
  '[{"op":"add","path":"/data/a"}]',
  '[{"op":"add","path":"/data/a","value":null}]',
  '[{"path":"/data/a","value":"c"}]',
  '[{"op":null,"path":"/data/a","value":"c"}]',
  '[{"op":"add","path":5,"value":"c"}]',
  '[{"op":"add","path":null,"value":"c"}]',
  '[{"op":["add"],"path":"/data/a","value":"c"}]',
  '[{"op":{},"path":{},"value":"c"}]',
  '[{"Op":"add","Path":"/data/a","Value":"c"}]',
  '[{"op":"add","path":"/data/a","value":"c"}] x',
  '[{"op":"add","path":"/data/a","value":"c"},]',
  '[{"op":"add","op":"remove","path":"/data/a","value":"c"}]',
  '[{"op":"move","path":"/data/c"}]',
  '[{"op":"move","from":5,"path":"/data/c"}]',
  '[{"op":"copy","from":null,"path":"/data/c"}]',
  '[{"op":"test","path":5}]',
  ' \n[{"op":"add","path":"/data/a","value":"c"}]\n',
  '\ufeff[{"op":"add","path":"/data/a","value":"c"}]',
]

const operations: readonly Loose[][] = [
  [{ op: "remove", path: "/data/none" }],
  [{ op: "remove", path: "/none/deep" }],
  [{ op: "remove", path: "" }],
  [{ op: "replace", path: "/data/none", value: "x" }],
  [{ op: "replace", path: "", value: {} }],
  [{ op: "add", path: "", value: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" } } }],
  [{ op: "add", path: "/data/a/b", value: "x" }],
  [{ op: "add", path: "/none/deep", value: "x" }],
  [{ op: "add", path: "data", value: "x" }],
  [{ op: "add", path: "/data", value: 5 }],
  [{ op: "add", path: "/data", value: { a: 5 } }],
  [{ op: "add", path: "/data", value: null }],
  [{ op: "add", path: "/binaryData", value: { a: "?" } }],
  [{ op: "add", path: "/immutable", value: "yes" }],
  [{ op: "add", path: "/none", value: 1 }],
  [{ op: "add", path: "/Data", value: { a: "upper" } }],
  [{ op: "add", path: "/kind", value: "Secret" }],
  [{ op: "add", path: "/kind", value: "None" }],
  [{ op: "add", path: "/apiVersion", value: "v2" }],
  [{ op: "add", path: "/apiVersion", value: "a/b/c" }],
  [{ op: "remove", path: "/kind" }],
  [{ op: "remove", path: "/apiVersion" }],
  [{ op: "replace", path: "/metadata", value: null }],
  [{ op: "replace", path: "/metadata", value: 5 }],
  [{ op: "remove", path: "/metadata" }],
  [{ op: "test", path: "/data/a", value: "b" }],
  [{ op: "test", path: "/data/a", value: "c" }],
  [{ op: "test", path: "/data/none", value: "c" }],
  [{ op: "test", path: "/data/none", value: null }],
  [{ op: "move", from: "/data/a", path: "/data/c" }],
  [{ op: "move", from: "/data/none", path: "/data/c" }],
  [{ op: "move", from: "/none/x", path: "/data/c" }],
  [{ op: "copy", from: "/data/a", path: "/data/c" }],
  [{ op: "copy", from: "/data/none", path: "/data/c" }],
  [{ op: "odd", path: "/data/a" }],
  [{ op: "ADD", path: "/data/a", value: "x" }],
  [{ op: "add", path: "/metadata/finalizers/-", value: "example.com/a" }],
  [
    { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
    { op: "add", path: "/metadata/finalizers/5", value: "example.com/b" },
  ],
  [
    { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
    { op: "remove", path: "/metadata/finalizers/x" },
  ],
  [
    { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
    { op: "add", path: "/metadata/finalizers/-1", value: "example.com/b" },
  ],
  [{ op: "replace", path: "/data/a", value: "b" }],
]

const metadata: readonly (readonly [string, unknown])[] = [
  ["/metadata/namespace", "other"],
  ["/metadata/namespace", ""],
  ["/metadata/uid", "11111111-2222-3333-4444-555555555555"],
  ["/metadata/resourceVersion", "1"],
  ["/metadata/creationTimestamp", "2020-01-01T00:00:00Z"],
  ["/metadata/creationTimestamp", null],
  ["/metadata/creationTimestamp", "yesterday"],
  ["/metadata/deletionTimestamp", "2020-01-01T00:00:00Z"],
  ["/metadata/generation", 7],
  ["/metadata/selfLink", "/x"],
  ["/metadata/generateName", "g-"],
  ["/metadata/labels", { a: "not a value" }],
  ["/metadata/annotations", { a: "b" }],
  ["/metadata/managedFields", []],
  ["/metadata/managedFields", [{ manager: "w", operation: "Update" }]],
  ["/metadata/finalizers", ["example.com/a"]],
  [
    "/metadata/ownerReferences",
    [
      { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" },
      { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" },
    ],
  ],
]

const podPatches: readonly (readonly [string, unknown])[] = [
  ["/spec/containers/0/resources", { limits: { cpu: "1000m" } }],
  ["/spec/containers/0/resources", { limits: { cpu: "odd" } }],
  ["/spec/containers/0/ports", [{ containerPort: 80 }]],
  ["/spec/containers/0/ports", [{ containerPort: "80" }]],
  ["/spec/containers/0/image", ""],
  ["/spec/containers/0/none", 1],
  ["/spec/volumes", [{ name: "v", emptyDir: {} }]],
  ["/spec/serviceAccountName", "absent"],
  ["/spec/priorityClassName", "absent"],
  ["/spec/priority", 5],
  ["/spec/nodeName", "n"],
  ["/spec/tolerations", []],
  ["/spec/activeDeadlineSeconds", 1.5],
  ["/spec/securityContext", null],
  ["/spec/hostNetwork", "true"],
  ["/status", { phase: "Running" }],
]
