// Several webhooks: their order, what each sees of the others, and which are called again.

import { type WebhookCall, type WebhookHandler, reviewed } from "../../../../gateway/testing/webhook-server.ts"
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
