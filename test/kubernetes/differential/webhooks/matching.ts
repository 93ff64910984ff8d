// Which requests a webhook is called for.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { get, mergePatch, patch, post, remove, type RequestStep } from "../scenario.ts"
import { maps, pods, type RegisteredHook, rule, space, type WebhookScenario } from "./scenario.ts"

export const map = (name: string, more: object = {}): Json => ({ metadata: { name }, ...more }) as Json

export const validating = (...webhooks: Loose[]): RegisteredHook[] => webhooks.map((webhook) => ({ webhook }))

export function matchingScenarios(): WebhookScenario[] {
  return [
    { name: "rules select by resource and operation", hooks: validating(...rules), steps: writes() },
    { name: "namespaces are selected by their labels", hooks: validating(...ofNamespaces), steps: inNamespaces() },
    { name: "objects are selected by their labels", hooks: validating(...ofObjects), steps: withLabels() },
    { name: "namespaces have conditions and selectors", hooks: ofOwnNamespaces(), steps: ownNamespaces() },
  ]
}

export const within = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } } }

const rules: readonly Loose[] = [
  { rules: [rule("configmaps", { operations: ["CREATE", "DELETE"] })] },
  { rules: [rule("pods/*")] },
  { rules: [rule("*/status", { scope: "Namespaced" })] },
  { rules: [rule("*", { scope: "Namespaced" })] },
  {
    rules: [rule("pods", { apiGroups: [""], apiVersions: ["v2"] }), rule("pods/eviction", { operations: ["CREATE"] })],
  },
  { rules: [rule("*/*", { apiGroups: ["apps"], scope: "Namespaced" })] },
  { rules: [rule("*/*", { scope: "Cluster" })], objectSelector: { matchLabels: { own: "@{id}" } } },
  { rules: [rule(["configmaps", "pods/status"], { operations: ["UPDATE"] })] },
]

export function writes(): RequestStep[] {
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }
  return [
    post(maps, map("a", { data: { a: "b" } })),
    patch(`${maps}/a`, mergePatch, { data: { c: "d" } }),
    remove(`${maps}/a`),
    post(pods, pod),
    patch(`${pods}/p/status`, mergePatch, { status: { message: "m" } }),
    get(`${pods}/p/exec?command=a`),
    post(`${pods}/p/eviction`, { metadata: { name: "p" } }),
    post("/apis/apps/v1/namespaces/@{ns}/controllerrevisions", map("r", { revision: 1 })),
    post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
      metadata: { name: "@{id}", labels: { own: "@{id}" } },
      rules: [],
    }),
    remove("/apis/rbac.authorization.k8s.io/v1/clusterroles/@{id}"),
  ]
}

const named = { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } }
const ofNamespaces: readonly Loose[] = [
  { rules: [rule("*")], namespaceSelector: { matchLabels: { ...named.matchLabels, color: "red" } } },
  {
    rules: [rule("*")],
    namespaceSelector: { ...named, matchExpressions: [{ key: "color", operator: "NotIn", values: ["red"] }] },
  },
  { rules: [rule("namespaces/*")], namespaceSelector: named },
  {
    rules: [rule("namespaces", { operations: ["UPDATE", "DELETE"] })],
    namespaceSelector: { ...named, matchExpressions: [{ key: "color", operator: "Exists" }] },
  },
]

function inNamespaces(): RequestStep[] {
  const label = (color: string | null, more = ""): RequestStep =>
    patch(`${space}${more}`, mergePatch, { metadata: { labels: { color } } })
  return [
    post(maps, map("a")),
    label("red"),
    post(maps, map("b")),
    label("blue", "/status"),
    label(null),
    post(maps, map("c")),
    post("/api/v1/namespaces/absent-@{id}/configmaps", map("a")),
    label("red"),
    remove(space),
  ]
}

const ofObjects: readonly Loose[] = [
  { objectSelector: { matchLabels: { color: "red" } } },
  { objectSelector: { matchExpressions: [{ key: "color", operator: "DoesNotExist" }] } },
  { rules: [rule("pods/*")], objectSelector: { matchLabels: { color: "red" } } },
  { rules: [rule("pods/*")], objectSelector: { matchExpressions: [{ key: "color", operator: "DoesNotExist" }] } },
].map((webhook) => ({ rules: [rule("*/*", { scope: "Namespaced" })], ...webhook }))

function withLabels(): RequestStep[] {
  const labels = { color: "red" }
  const pod = { metadata: { name: "p", labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  return [
    post(maps, map("a")),
    patch(`${maps}/a`, mergePatch, { metadata: { labels } }),
    patch(`${maps}/a`, mergePatch, { metadata: { labels: null } }),
    remove(`${maps}/a`),
    post(pods, pod),
    get(`${pods}/p/exec?command=a`),
    get(`${pods}/p/proxy/`),
    post(`${pods}/p/binding`, { metadata: { labels }, target: { kind: "Node", name: "n" } }),
    post(`${pods}/p/eviction`, { metadata: { name: "p" } }),
  ]
}

/** A namespace is in itself. */
function ofOwnNamespaces(): RegisteredHook[] {
  const own = { matchLabels: { own: "@{id}" } }
  return [
    { objectSelector: own, matchConditions: [{ name: "a", expression: "request.namespace == request.name" }] },
    { objectSelector: own, matchConditions: [{ name: "a", expression: "namespaceObject == null" }] },
    {
      objectSelector: own,
      matchConditions: [{ name: "a", expression: "authorizer.requestResource.check('delete').allowed()" }],
    },
    { namespaceSelector: own },
    { objectSelector: own, namespaceSelector: { matchExpressions: [{ key: "own", operator: "DoesNotExist" }] } },
  ].map((webhook) => ({
    webhook: {
      failurePolicy: "Ignore",
      namespaceSelector: {},
      rules: [rule("namespaces/*"), rule("namespaces")],
      ...webhook,
    },
  }))
}

function ownNamespaces(): RequestStep[] {
  const labels = { own: "@{id}" }
  const all = "/api/v1/namespaces"
  return [
    post(all, { metadata: { name: "@{id}", labels } }),
    post(all, { metadata: { generateName: "gen-", labels } }),
    patch(`${all}/@{id}`, mergePatch, { metadata: { labels: { own: null } } }),
    patch(`${all}/@{id}`, mergePatch, { metadata: { labels } }),
    remove(`${all}/@{id}`),
  ]
}
