// Several webhooks: their order, what each sees of the others, and which are called again.

import { type WebhookCall, type WebhookHandler, reviewed } from "../../../../gateway/testing/webhook-server.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { mergePatch, patch, post, remove, type RequestStep } from "../scenario.ts"
import { deny, maps, patchText, pods, type RegisteredHook, rule, space, type WebhookScenario } from "./scenario.ts"

const map = { metadata: { name: "a" }, data: { a: "b" } }
const writes = (): RequestStep[] => [
  post(maps, map),
  patch(`${maps}/a`, mergePatch, { data: { c: "d" } }),
  remove(`${maps}/a`),
]

export function sequenceScenarios(): WebhookScenario[] {
  return [
    {
      name: "configurations are called in the order of their names",
      hooks: ["b", "a", "c", "a"].map((configuration, index) => ({
        kind: "Mutating",
        configuration,
        reply: add(`/data/${index}`, configuration),
      })),
      steps: writes(),
    },
    {
      name: "two webhooks have the same name",
      hooks: ["b", "a"].map((configuration) => ({
        kind: "Mutating",
        configuration,
        webhook: { name: "same.example.com", reinvocationPolicy: "IfNeeded" },
        reply: once(configuration),
      })),
      steps: writes(),
    },
    ...reinvocations.map(([name, hooks]) => ({ name: `webhooks are called again: ${name}`, hooks, steps: writes() })),
    {
      name: "a later webhook denies what an earlier one changed",
      hooks: [
        { kind: "Mutating", reply: add("/data/x", "y") },
        { kind: "Mutating", reply: deny({ message: "no" }) },
        { kind: "Mutating" },
        {},
      ],
      steps: [post(maps, map)],
    },
    {
      name: "several deny",
      hooks: [{ reply: slowly(200, deny({ message: "slow" })) }, { reply: deny({ message: "fast" }) }],
      steps: [post(maps, map)],
    },
    {
      name: "labels that a webhook adds select later ones",
      hooks: [
        { kind: "Mutating", reply: add("/metadata/labels", { color: "red" }) },
        { kind: "Mutating", webhook: { objectSelector: { matchLabels: { color: "red" } } } },
        {
          kind: "Mutating",
          webhook: { matchConditions: [{ name: "a", expression: "has(object.metadata.labels)" }] },
        },
        { webhook: { objectSelector: { matchLabels: { color: "red" } } } },
      ],
      steps: [post(maps, map)],
    },
    ...written.map(([resource, [operations, later], steps]) => ({
      name: `later webhooks are shown ${resource} as an earlier one has written them: ${JSON.stringify(operations)}`,
      hooks: [
        { kind: "Mutating" as const, webhook: own(resource), reply: unlessDeleted(operations) },
        { kind: "Mutating" as const, webhook: own(resource), reply: unlessDeleted(later) },
        { kind: "Mutating" as const, webhook: { ...own(resource), ...whenLabelled } },
        { webhook: own(resource) },
      ],
      steps,
    })),
    {
      name: "built-in plugins run again after webhooks",
      hooks: [
        {
          kind: "Mutating",
          webhook: { rules: [rule("pods")], reinvocationPolicy: "IfNeeded" },
          reply: add("/spec/containers/-", { name: "side", image: "car" }, "/spec/containers/1"),
        },
      ],
      steps: [
        post(`${space}/limitranges`, {
          metadata: { name: "l" },
          spec: { limits: [{ type: "Container", default: { cpu: "1" } }] },
        }),
        post(pods, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }),
      ],
    },
  ]
}

const own = (resource: string): Loose => ({
  rules: [rule(resource)],
  namespaceSelector: {},
  objectSelector: { matchLabels: { own: "@{id}" } },
})
const whenLabelled = { namespaceSelector: { matchLabels: { by: "hook" } } }

function unlessDeleted(operations: readonly Loose[]): WebhookHandler {
  const patching = patchText(JSON.stringify(operations))
  return (call) => ((call.body["request"] as Loose)["operation"] === "DELETE" ? reviewed(call, {}) : patching(call))
}

const metadata = { name: "@{id}", labels: { own: "@{id}" } }
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const lifeOf = (path: string, object: Json): RequestStep[] => [
  post(path, object),
  patch(`${path}/@{id}`, mergePatch, { metadata: { annotations: { a: "b" } } }),
  remove(`${path}/@{id}`),
]
const adds = (path: string, value: unknown): Loose => ({ op: "add", path, value })
const rollback = "/metadata/annotations/deprecated.deployment.rollback.to"
const deploymentOf: Json = {
  metadata: { ...metadata, annotations: { c: "d" } },
  spec: { selector: { matchLabels: { a: "b" } }, template },
}
const statefulSet: Json = {
  metadata,
  spec: {
    selector: { matchLabels: { a: "b" } },
    template,
    volumeClaimTemplates: [
      {
        metadata: { name: "v" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
  },
}
const deployments = lifeOf("/apis/apps/v1/namespaces/@{ns}/deployments", deploymentOf)

/** What is another value when it is converted: a resource, the patches of two webhooks, and requests. */
const written: readonly (readonly [string, readonly [Loose[], Loose[]], RequestStep[]])[] = [
  [
    "secrets",
    [[adds("/stringData", { a: "b" })], [adds("/stringData/a", "c"), adds("/data", { d: "ZQ==" })]],
    lifeOf(`${space}/secrets`, { metadata }),
  ],
  [
    "pods",
    [[adds("/spec/serviceAccountName", ""), adds("/spec/terminationGracePeriodSeconds", -3)], []],
    lifeOf(pods, { metadata, spec: template.spec }),
  ],
  [
    "pods",
    [[adds("/spec/serviceAccount", "other")], [{ op: "remove", path: "/spec/serviceAccountName" }]],
    lifeOf(pods, { metadata, spec: template.spec }),
  ],
  [
    "nodes",
    [[adds("/spec/podCIDRs", ["10.0.0.0/24", "10.1.0.0/24"])], [adds("/spec/podCIDR", "10.1.0.0/24")]],
    lifeOf("/api/v1/nodes", { metadata }),
  ],
  ["deployments", [[adds("/spec/template/spec/serviceAccount", "x")], []], deployments],
  ["deployments", [[adds(rollback, "07")], []], deployments],
  ["deployments", [[adds(rollback, "x")], []], deployments],
  ["deployments", [[adds(rollback, "")], [{ op: "remove", path: rollback }]], deployments],
  [
    "statefulsets",
    [
      [
        adds("/spec/volumeClaimTemplates/0/kind", "X"),
        { op: "remove", path: "/spec/volumeClaimTemplates/0/apiVersion" },
      ],
      [],
    ],
    lifeOf("/apis/apps/v1/namespaces/@{ns}/statefulsets", statefulSet),
  ],
  [
    "daemonsets",
    [[adds("/spec/updateStrategy", { type: "OnDelete", rollingUpdate: {} })], []],
    lifeOf("/apis/apps/v1/namespaces/@{ns}/daemonsets", deploymentOf),
  ],
  ["namespaces", [[adds("/metadata/labels/by", "hook")], []], lifeOf("/api/v1/namespaces", { metadata })],
]

/** Adds a value; not if there is one at `unless`. */
function add(path: string, value: unknown, unless?: string): WebhookHandler {
  const patching = patchText(JSON.stringify([{ op: "add", path, value }]))
  return (call) => {
    const { operation, object } = call.body["request"] as Loose
    if (operation === "DELETE" || (unless !== undefined && isThere(object, unless))) return reviewed(call, {})
    return patching(call)
  }
}

function isThere(object: unknown, path: string): boolean {
  const value = path
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object)
  return value !== undefined
}

const once = (word: string): WebhookHandler => add(`/data/${word}`, "x", `/data/${word}`)
const slowly =
  (ms: number, handler: WebhookHandler): WebhookHandler =>
  async (call: WebhookCall) => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return handler(call)
  }

const hook = (reinvocationPolicy: "Never" | "IfNeeded", reply?: WebhookHandler, more: Loose = {}): RegisteredHook => ({
  kind: "Mutating",
  webhook: { reinvocationPolicy, ...more },
  ...(reply === undefined ? {} : { reply }),
})

const counting = (): WebhookHandler => add("/data/n", "1")
const always =
  (word: string): WebhookHandler =>
  (call) => {
    const { operation, object } = call.body["request"] as Loose
    if (operation === "DELETE") return reviewed(call, {})
    return patchText(JSON.stringify([{ op: "add", path: `/data/${word}`, value: `${object.data?.[word] ?? ""}x` }]))(
      call,
    )
  }

const reinvocations: readonly (readonly [string, RegisteredHook[]])[] = [
  ["the first, if the second changes something", [hook("IfNeeded"), hook("Never", once("two"))]],
  ["none, if nothing changes", [hook("IfNeeded"), hook("IfNeeded")]],
  [
    "all before a change",
    [hook("IfNeeded", once("one")), hook("IfNeeded", once("two")), hook("IfNeeded", once("three"))],
  ],
  ["those that always change something", [hook("IfNeeded", always("one")), hook("IfNeeded", always("two"))]],
  ["the last, for no other reason", [hook("Never"), hook("IfNeeded", always("one"))]],
  ["with the same value", [hook("IfNeeded", counting()), hook("IfNeeded", counting())]],
  [
    "not one that was skipped at first",
    [
      hook("IfNeeded", undefined, { objectSelector: { matchLabels: { a: "b" } } }),
      hook("Never", add("/metadata/labels", { a: "b" })),
    ],
  ],
  [
    "not one that no longer matches",
    [
      hook("IfNeeded", undefined, { objectSelector: { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] } }),
      hook("Never", add("/metadata/labels", { a: "b" })),
    ],
  ],
  [
    "after one that failed",
    [hook("IfNeeded", () => ({ code: 500, text: "" }), { failurePolicy: "Ignore" }), hook("Never", once("two"))],
  ],
]
