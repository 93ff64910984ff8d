// Random webhooks that patch objects of a built-in kind: fields that its schema has, and metadata, of objects that are created, updated,
// patched and applied, also through subresources.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import { type JsonObject, type Kind, kinds, nameOf } from "../generate/objects.ts"
import { fuller } from "../random/lives.ts"
import { placesOf } from "../random/mutate.ts"
import { ruling } from "../random/ruling.ts"
import { titled } from "../random/titled.ts"
import { isJsonObject, plausibleValue } from "../random/values.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  strategicPatch,
  withQuery,
} from "../scenario.ts"
import { patchText, type RegisteredHook, rule, type WebhookScenario } from "./scenario.ts"

const length = 20

/** Of definitions and configurations of admission, which no webhook is called for or which change what is compared. */
const left: ReadonlySet<string> = new Set([...ruling, "customresourcedefinitions", "apiservices"])

const all = kinds().filter(({ facts }) => !left.has(facts.resource) && facts.group !== "admissionregistration.k8s.io")

export function randomKindHookScenario(seed: number): WebhookScenario {
  const random = createRandom(seed)
  const kind = pick(random, all)
  const base = own(kind.other())
  const hooks = Array.from({ length: 1 + random(3) }, () => patchingHook(random, kind, base))
  const writes = Array.from({ length }, () => write(random, kind, base))
  return {
    name: `kinds in webhooks at random, seed ${seed}: ${kind.title}`,
    hooks: [...hooks, watching(kind)],
    steps: titled([...writes, remove(`${kind.path}/${nameOf(base)}?gracePeriodSeconds=0`)]),
    anyOrder: true,
    byChance: true,
  }
}

export const own = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object["metadata"] as JsonObject), labels: { own: "@{id}" } },
})

/** The fields of a webhook that is called for a kind's objects with the label of `own`. */
export function selected({ facts }: Kind, more: Loose): Loose {
  const { group, resource, namespaced } = facts
  return {
    rules: [rule([resource, `${resource}/*`], { apiGroups: [group], ...more })],
    ...(namespaced ? {} : { namespaceSelector: {}, objectSelector: { matchLabels: { own: "@{id}" } } }),
  }
}

const watching = (kind: Kind): RegisteredHook => ({ webhook: selected(kind, {}) })

function patchingHook(random: Random, kind: Kind, base: JsonObject): RegisteredHook {
  const operations = Array.from({ length: pick(random, [1, 1, 1, 2]) }, () => operation(random, kind, base)).flat()
  const webhook = {
    ...selected(kind, { operations: pick(random, [["*"], ["*"], ["CREATE"], ["UPDATE"]]) }),
    ...(chance(random, 0.4) ? { reinvocationPolicy: "IfNeeded" } : {}),
  }
  const reply: WebhookHandler = (call) =>
    (call.body["request"] as Loose)["operation"] === "DELETE"
      ? reviewed(call, {})
      : patchText(JSON.stringify(operations))(call)
  return { kind: "Mutating", webhook, reply }
}

const pointer = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

export function operation(random: Random, kind: Kind, base: JsonObject): Loose[] {
  if (chance(random, 0.25)) return pick(random, ofMetadata)
  const places = placesOf(base, kind.schema).filter(({ path }) => path.length > 0 && path[0] !== "metadata")
  const place = pick(random, [{ path: [], value: base, schema: kind.schema }, ...places])
  const fields = Object.entries(place.schema?.fields ?? {}).filter(
    ([name]) => place.path.length > 0 || !["apiVersion", "kind", "metadata"].includes(name),
  )
  if (isJsonObject(place.value) && fields.length > 0 && chance(random, 0.85)) {
    const [name, field] = pick(random, fields)
    return [{ op: "add", path: pointer([...place.path, name]), value: plausibleValue(random, field.schema, name) }]
  }
  if (["apiVersion", "kind"].includes(String(place.path[0])) || place.path.length === 0) return pick(random, ofMetadata)
  const path = pointer(place.path)
  const name = String(place.path.findLast((step) => typeof step === "string"))
  return pick<() => Loose[]>(random, [
    () => [{ op: "remove", path }],
    () => [{ op: "replace", path, value: null }],
    () => [
      { op: "replace", path, value: place.schema === undefined ? "x" : plausibleValue(random, place.schema, name) },
    ],
  ])()
}

const at = (path: string, value: unknown): Loose[] => [{ op: "add", path, value }]

/** A revision that no server has come to: one that it has is compared as that of the step that made it. */
const unissued = "98765432198765"
const ofMetadata: readonly Loose[][] = [
  at("/metadata/labels/by", "hook"),
  at("/metadata/annotations", { by: "hook" }),
  at("/metadata/annotations", { "a b": "hook" }),
  at("/metadata/finalizers", ["example.com/f"]),
  at("/metadata/finalizers", ["f"]),
  at("/metadata/finalizers", []),
  at("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }]),
  at("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Event", name: "x", uid: "u", controller: true }]),
  at("/metadata/uid", "u-1"),
  at("/metadata/generation", 9),
  at("/metadata/generation", -9),
  at("/metadata/creationTimestamp", "2020-01-01T00:00:00Z"),
  at("/metadata/creationTimestamp", null),
  at("/metadata/deletionTimestamp", "2020-01-01T00:00:00Z"),
  at("/metadata/deletionGracePeriodSeconds", 7),
  at("/metadata/resourceVersion", ""),
  at("/metadata/resourceVersion", unissued),
  at("/metadata/resourceVersion", "x"),
  at("/metadata/selfLink", "/x"),
  at("/metadata/managedFields", []),
  at("/metadata/managedFields", null),
  at("/metadata/managedFields", [
    { manager: "x", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:spec": {} } },
  ]),
  at("/metadata/managedFields", [{ manager: "x" }]),
  at("/metadata/managedFields/0/manager", "hook"),
  at("/metadata/managedFields/0/subresource", "status"),
  at("/metadata/managedFields/0/operation", "Apply"),
  at("/metadata/managedFields/0/apiVersion", "example.com/v9"),
  at("/metadata/managedFields/0/fieldsV1", { "f:metadata": { "f:labels": { "f:by": {} } } }),
  at("/metadata/generateName", "gen-"),
  at("/metadata/namespace", "default"),
  at("/metadata/namespace", ""),
  at("/metadata/labels", null),
]

function write(random: Random, kind: Kind, base: JsonObject): RequestStep {
  const { facts, path } = kind
  const one = `${path}/${nameOf(base)}`
  const query = pick(random, ["", "", "", "dryRun=All", "fieldManager=m", "fieldManager=n&force=true"])
  const whole = (object: JsonObject): JsonObject => ({ apiVersion: apiVersionOf(facts), kind: facts.kind, ...object })
  const changed = fuller(random, base, kind, 1 + random(2))
  const status: Json = isJsonObject(changed["status"]) ? changed["status"] : {}
  const n = String(random(1_000_000))
  return pick<() => RequestStep>(random, [
    () => post(withQuery(path, query), whole(base)),
    () => post(withQuery(path, query), whole(changed)),
    () => put(withQuery(one, query), whole(base)),
    () => put(withQuery(one, query), whole(changed)),
    () => patch(withQuery(one, query), mergePatch, { metadata: { annotations: { n } } }),
    () => patch(withQuery(one, query), strategicPatch, { metadata: { labels: { n } } }),
    () => patch(withQuery(one, query), applyPatch, whole(changed)),
    () => patch(withQuery(`${one}/status`, query), mergePatch, { metadata: { annotations: { n } }, status }),
    () => patch(withQuery(`${one}/status`, query), applyPatch, whole({ metadata: { name: nameOf(base) }, status })),
    () => get(one),
    () => remove(withQuery(one, query.startsWith("dry") ? query : "")),
    () => patch(one, mergePatch, { metadata: { finalizers: null } }),
    () => remove(`${path}?labelSelector=own%3D@{id}`),
  ])()
}
