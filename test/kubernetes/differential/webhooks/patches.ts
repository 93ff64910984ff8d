// Patches of mutating webhooks: what they change, and what is said of those that cannot be applied.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { maps, patchText, pods, rule, type WebhookScenario } from "./scenario.ts"
import { metadata, operations, podPatches, texts } from "./patch-texts.ts"

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
      name: "a patch gives an object of the cluster a namespace",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("clusterroles")], objectSelector: { matchLabels: { own: "@{id}" } } },
          reply: add("/metadata/namespace", "other"),
        },
      ],
      steps: ofCluster(),
    },
    ...["/metadata/labels", "/binaryData", "/data"].map((path) => ({
      name: `a patch of an immutable object gives it an empty ${path}`,
      hooks: [{ kind: "Mutating" as const, reply: add(path, {}) }, {}],
      steps: [{}, { binaryData: {} }, { data: {} }, { data: null }].flatMap((more, index) => [
        post(maps, { ...map, data: {}, immutable: index > 0 }, { label: `POST ${index}` }),
        put(`${maps}/a?dryRun=All`, { ...map, data: {}, immutable: true, ...more }, { label: `PUT ${index}` }),
        remove(`${maps}/a`),
      ]),
    })),
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
      name: "a patch removes what every object has",
      hooks: ["/spec/scaleTargetRef", "/spec/scaleTargetRef", "/status", "/spec/behavior"].map((path) => ({
        kind: "Mutating" as const,
        webhook: { rules: [rule("horizontalpodautoscalers")], failurePolicy: "Ignore" },
        reply: patchText(JSON.stringify([{ op: "remove", path }])),
      })),
      steps: ["v1", "v2"].map((version) =>
        post(`/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`, {
          metadata: { name: `a-${version}` },
          spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
        }),
      ),
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
      name: "a patch gives a scale another name and no valid number",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("deployments/scale")] },
          reply: patchText(
            JSON.stringify([
              { op: "add", path: "/metadata/name", value: "other" },
              { op: "add", path: "/spec/replicas", value: -1 },
            ]),
          ),
        },
      ],
      steps: subresources().slice(0, 2),
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

function ofCluster(): RequestStep[] {
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
  const role = { metadata: { name: "@{id}", labels: { own: "@{id}" } }, rules: [] }
  const applied = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...role }
  return [
    post(`${roles}?dryRun=All`, role),
    patch(`${roles}/@{id}?fieldManager=m`, applyPatch, applied),
    put(`${roles}/@{id}`, role),
    patch(`${roles}/@{id}`, mergePatch, { metadata: { annotations: { a: "b" } } }),
    remove(`${roles}/@{id}`),
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
