// Random writes in every form that webhooks are called for: bodies in JSON, YAML and protobuf, with fields that are unknown or given twice,
// patches of every type, deletions with options, and subresources with kinds of their own; of kinds of one or two versions or groups, in
// either of which webhooks are called.

import { stringify } from "yaml"
import type { Json } from "../../../../apimachinery/object.ts"
import { encodeProtobuf } from "../../../../apimachinery/schema/protobuf/encode.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import { type JsonObject, type Kind, kindNamed, nameOf } from "../generate/objects.ts"
import { fuller } from "../random/lives.ts"
import { titled } from "../random/titled.ts"
import { isJsonObject } from "../random/values.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  strategicPatch,
  withQuery,
} from "../scenario.ts"
import { operation, own, selected } from "./random-kinds.ts"
import type { RegisteredHook, WebhookScenario } from "./scenario.ts"

const length = 24

/** Kinds of one resource, and subresources besides the status: with the kinds of what is written there. */
interface Target {
  kinds: readonly string[]
  subresources?: Readonly<Record<string, (random: Random, name: string) => Json>>
  /** Subresources that are posted. */
  posted?: Readonly<Record<string, (random: Random, name: string) => Json>>
}

const scale = (random: Random, name: string): Json => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name, namespace: "@{ns}", ...(chance(random, 0.2) ? { labels: { x: "y" } } : {}) },
  spec: { replicas: random(4) - (chance(random, 0.1) ? 2 : 0) },
})

/** Without claims: a patch that changes nothing of one is tried twice upstream, and reviewed each time. */
const targets: readonly Target[] = [
  { kinds: ["v1/events", "events.k8s.io/v1/events"] },
  { kinds: ["events.k8s.io/v1/events", "v1/events"] },
  { kinds: ["autoscaling/v2/horizontalpodautoscalers", "autoscaling/v1/horizontalpodautoscalers"] },
  { kinds: ["apps/v1/deployments"], subresources: { scale } },
  { kinds: ["apps/v1/statefulsets"], subresources: { scale } },
  { kinds: ["apps/v1/replicasets"], subresources: { scale } },
  { kinds: ["v1/replicationcontrollers"], subresources: { scale } },
  { kinds: ["v1/secrets"] },
  { kinds: ["v1/nodes"] },
  { kinds: ["v1/persistentvolumes"] },
  { kinds: ["v1/endpoints"] },
  { kinds: ["coordination.k8s.io/v1/leases"] },
  { kinds: ["policy/v1/poddisruptionbudgets"] },
  { kinds: ["batch/v1/cronjobs"] },
  { kinds: ["batch/v1/jobs"] },
  { kinds: ["networking.k8s.io/v1/ingresses"] },
  { kinds: ["discovery.k8s.io/v1/endpointslices"] },
  {
    kinds: ["v1/pods"],
    posted: {
      binding: (random, name) => ({
        ...(chance(random, 0.5) ? { metadata: { name, annotations: { a: "b" } } } : {}),
        target: { kind: "Node", name: pick(random, ["n", ""]) },
      }),
      eviction: (random, name) => ({
        metadata: { name, labels: { x: "y" } },
        ...(chance(random, 0.5) ? { deleteOptions: { gracePeriodSeconds: random(3) } } : {}),
      }),
    },
  },
  {
    kinds: ["v1/serviceaccounts"],
    posted: {
      token: (random) => ({ spec: { audiences: ["a"], ...(chance(random, 0.5) ? { expirationSeconds: 700 } : {}) } }),
    },
  },
  {
    kinds: ["certificates.k8s.io/v1/certificatesigningrequests"],
    subresources: {
      approval: (random, name) => ({
        metadata: { name },
        status: {
          conditions: [
            { type: pick(random, ["Approved", "Denied", "Failed"]), status: "True", reason: "r", message: "m" },
          ],
        },
      }),
    },
  },
]

export function randomFormHookScenario(seed: number): WebhookScenario {
  const random = createRandom(seed)
  const target = pick(random, targets)
  const known = target.kinds.map(kindNamed)
  const main = known[0] as Kind
  const hooks = Array.from({ length: pick(random, [0, 1, 1, 2, 3]) }, () => patchingHook(random, pick(random, known)))
  const writes = Array.from({ length }, () => write(random, target, known))
  const watching: RegisteredHook[] = known.map((kind) => ({ webhook: inVersion(kind), reply: warning(["seen"]) }))
  return {
    name: `forms of writes in webhooks at random, seed ${seed}: ${main.title}`,
    hooks: [...hooks, ...watching],
    steps: titled([
      post(main.path, whole(main, own(main.other()))),
      ...writes,
      remove(`${main.path}?labelSelector=own%3D@{id}&gracePeriodSeconds=0`),
    ]),
    anyOrder: true,
    byChance: true,
  }
}

const whole = ({ facts }: Kind, object: JsonObject): JsonObject => ({
  apiVersion: apiVersionOf(facts),
  kind: facts.kind,
  ...object,
})

const inVersion = (kind: Kind, more: Loose = {}): Loose =>
  selected(kind, { apiVersions: [kind.facts.version], ...more })

const warning =
  (warnings: readonly string[]): WebhookHandler =>
  (call) =>
    reviewed(call, { warnings: [...warnings] })

function patchingHook(random: Random, kind: Kind): RegisteredHook {
  const base = own(kind.other())
  const operations = operation(random, kind, base)
  const webhook = {
    ...inVersion(kind, { operations: pick(random, [["*"], ["*"], ["CREATE"], ["UPDATE"]]) }),
    ...(chance(random, 0.4) ? { reinvocationPolicy: "IfNeeded" } : {}),
    ...(chance(random, 0.3) ? { matchPolicy: "Exact" } : {}),
    ...(chance(random, 0.2) ? { failurePolicy: "Ignore" } : {}),
  }
  const response = {
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
    ...(chance(random, 0.3) ? { warnings: ["mutated", "mutated"] } : {}),
    ...(chance(random, 0.3) ? { auditAnnotations: { a: "b" } } : {}),
  }
  const reply: WebhookHandler = (call) =>
    reviewed(call, (call.body["request"] as Loose)["operation"] === "DELETE" ? {} : response)
  return { kind: "Mutating", webhook, reply }
}

/** In JSON, YAML or protobuf; also with fields that are unknown or given twice. */
function written({ random, kind: { facts, schema }, query }: Draft, step: RequestStep): RequestStep {
  const { body } = step
  if (!isJsonObject(body)) return step
  const dice = random(6)
  if (dice === 0) return { ...step, body: stringify(body), contentType: "application/yaml" }
  if (dice === 1) return { ...step, body: withOddFields(random, query, body) }
  if (dice === 2) {
    const text = `${stringify(body)}bogus: 1\n${chance(random, 0.5) ? "bogus: 2\n" : ""}`
    return { ...step, body: text, contentType: "application/yaml" }
  }
  if (dice > 3) return step
  try {
    encodeProtobuf(schema, structuredClone(body))
  } catch {
    return step // cannot be encoded as a message
  }
  return { ...step, protobuf: { group: facts.group, version: facts.version, kind: facts.kind } }
}

/** As a text. Where nobody is told of it, no known field is given twice: only its last value counts then (endpoints/body.ts). */
function withOddFields(random: Random, query: string, body: JsonObject): string {
  const text = JSON.stringify(body)
  const known = [
    '"metadata":{"bogus":1}',
    `"kind":${JSON.stringify(body["kind"])}`,
    `"spec":${JSON.stringify(body["spec"] ?? {})}`,
    `"status":{"none":{}}`,
  ]
  const odd = Array.from({ length: 1 + random(3) }, () =>
    pick(random, ['"bogus":1', '"other":{"a":null}', ...(query === ignoring ? [] : known)]),
  )
  return chance(random, 0.5) ? `${text.slice(0, -1)},${odd.join(",")}}` : `{${odd.join(",")},${text.slice(1)}`
}

const ignoring = "fieldValidation=Ignore"

const queries = [
  "",
  "",
  "",
  "dryRun=All",
  "fieldManager=m",
  "fieldManager=n&force=true",
  "fieldValidation=Strict",
  ignoring,
  "fieldValidation=Warn&dryRun=All",
]

const deletions: readonly (Json | undefined)[] = [
  undefined,
  {},
  { gracePeriodSeconds: 0 },
  { gracePeriodSeconds: 3, propagationPolicy: "Foreground" },
  { propagationPolicy: "Orphan" },
  { orphanDependents: true },
  { dryRun: ["All"] },
  { preconditions: { uid: "x" } },
  { apiVersion: "v1", kind: "DeleteOptions", ignoreStoreReadErrorWithClusterBreakingPotential: false },
  { bogus: 1, gracePeriodSeconds: 0 },
]

/** What a random write is made of. */
interface Draft {
  random: Random
  target: Target
  kind: Kind
  /** All kinds of the target. */
  known: readonly Kind[]
  /** As it would be created. */
  object: JsonObject
  name: string
  one: string
  query: string
  /** Of each write another one. */
  n: string
}

function write(random: Random, target: Target, known: readonly Kind[]): RequestStep {
  const kind = pick(random, known)
  const base = own(kind.other())
  const name = nameOf(base)
  const query = pick(random, queries)
  const object = whole(kind, chance(random, 0.4) ? base : fuller(random, base, kind, 1 + random(2)))
  const n = String(random(1_000_000))
  const draft = { random, target, kind, known, object, name, one: `${kind.path}/${name}`, query, n }
  return pick(random, [
    ...wholeWrites(draft),
    ...patches(draft),
    ...statusWrites(draft),
    ...deletionsOf(draft),
    ...subresourceWrites(draft),
  ])()
}

type Writes = readonly (() => RequestStep)[]

function wholeWrites(draft: Draft): Writes {
  const { kind, object, one, query } = draft
  const { metadata, ...rest } = object
  const { name: _, ...unnamed } = metadata as JsonObject
  const created = (): RequestStep => written(draft, post(withQuery(kind.path, query), object))
  const updated = (): RequestStep => written(draft, put(withQuery(one, query), object))
  return [
    created,
    created,
    () => post(withQuery(kind.path, "dryRun=All"), { ...rest, metadata: { ...unnamed, generateName: "gen-" } }),
    updated,
    updated,
    () => get(one),
  ]
}

function patches({ random, kind, known, object, one, query, n }: Draft): Writes {
  const { metadata: _, ...rest } = object
  const to = withQuery(one, query)
  const asManager = query === "" ? withQuery(one, "fieldManager=k") : to
  const operations = operation(random, kind, own(kind.other())) as unknown as Json
  const { facts } = pick(random, known)
  return [
    () => patch(to, mergePatch, { metadata: { annotations: { n } } }),
    () => patch(to, mergePatch, { ...rest, bogus: 1 }),
    () => patch(to, mergePatch, withOddFields(random, query, rest)),
    () => patch(to, mergePatch, { apiVersion: apiVersionOf(facts), metadata: { labels: { n } } }),
    () => patch(one, mergePatch, { metadata: { finalizers: pick<Json>(random, [null, ["example.com/f"]]) } }),
    () => patch(to, strategicPatch, rest),
    () => patch(to, strategicPatch, { metadata: { labels: { n } }, bogus: 1 }),
    () => patch(to, jsonPatch, operations),
    () => patch(to, jsonPatch, [{ op: "add", path: "/bogus", value: 1 }]),
    () => patch(asManager, applyPatch, object),
    () => patch(asManager, applyPatch, { ...object, bogus: 1 }),
  ]
}

function statusWrites(draft: Draft): Writes {
  const { kind, object, name, one, query, n } = draft
  const status: Json = isJsonObject(object["status"]) ? object["status"] : {}
  const to = withQuery(`${one}/status`, query)
  return [
    () => written(draft, put(to, object)),
    () => patch(to, mergePatch, { metadata: { annotations: { n } }, status }),
    () => patch(bySubresource(`${one}/status`, query), applyPatch, whole(kind, { metadata: { name }, status })),
  ]
}

const bySubresource = (path: string, query: string): string => withQuery(path, `${query}&fieldManager=s`)

function deletionsOf({ random, kind, one }: Draft): Writes {
  const query = pick(random, ["", "dryRun=All", "gracePeriodSeconds=1"])
  const options = pick(random, deletions)
  return [() => remove(withQuery(one, query), options), () => remove(`${kind.path}?labelSelector=own%3D@{id}`, options)]
}

function subresourceWrites({ random, target: { subresources = {}, posted = {} }, name, one, query }: Draft): Writes {
  return [
    ...Object.entries(posted).map(
      ([sub, make]) =>
        (): RequestStep =>
          post(withQuery(`${one}/${sub}`, query), make(random, name)),
    ),
    ...Object.entries(subresources).flatMap(([sub, make]): Writes => {
      const path = `${one}/${sub}`
      const to = withQuery(path, query)
      const value = make(random, name)
      return [
        () => put(to, value),
        () => put(to, { ...(value as JsonObject), bogus: 1 }),
        () => patch(to, mergePatch, value),
        () => patch(bySubresource(path, query), applyPatch, value),
        () => get(path),
      ]
    }),
  ]
}
