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
  const writes = Array.from({ length }, () => write(random, target, pick(random, known), known))
  const watching: RegisteredHook[] = known.map((kind) => ({ webhook: inVersion(kind), reply: warning(["seen"]) }))
  return {
    name: `forms of writes in webhooks at random, seed ${seed}: ${main.title}`,
    hooks: [...hooks, ...watching],
    steps: titled([
      post(main.path, whole(main, own(main.other()))),
      ...writes,
      ...["o", "g"].map(() => remove(`${main.path}?labelSelector=own%3D@{id}&gracePeriodSeconds=0`)),
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
function written(random: Random, { facts, schema }: Kind, step: RequestStep): RequestStep {
  const { body } = step
  if (!isJsonObject(body)) return step
  const dice = random(6)
  if (dice === 0) return { ...step, body: stringify(body), contentType: "application/yaml" }
  if (dice === 1) return { ...step, body: withOddFields(random, body) }
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

/** As a text. */
function withOddFields(random: Random, body: JsonObject): string {
  const text = JSON.stringify(body)
  const odd = Array.from({ length: 1 + random(3) }, () =>
    pick(random, [
      '"bogus":1',
      '"other":{"a":null}',
      '"metadata":{"bogus":1}',
      `"kind":${JSON.stringify(body["kind"])}`,
      `"spec":${JSON.stringify(body["spec"] ?? {})}`,
      `"status":{"none":{}}`,
    ]),
  )
  return chance(random, 0.5) ? `${text.slice(0, -1)},${odd.join(",")}}` : `{${odd.join(",")},${text.slice(1)}`
}

const queries = [
  "",
  "",
  "",
  "dryRun=All",
  "fieldManager=m",
  "fieldManager=n&force=true",
  "fieldValidation=Strict",
  "fieldValidation=Ignore",
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

function write(
  random: Random,
  { subresources = {}, posted = {} }: Target,
  kind: Kind,
  known: readonly Kind[],
): RequestStep {
  const { path } = kind
  const base = own(kind.other())
  const name = nameOf(base)
  const one = `${path}/${name}`
  const query = pick(random, queries)
  const object = whole(kind, chance(random, 0.4) ? base : fuller(random, base, kind, 1 + random(2)))
  const status: Json = isJsonObject(object["status"]) ? object["status"] : {}
  const n = String(random(1_000_000))
  const { metadata, ...rest } = object
  const { name: _, ...unnamed } = metadata as JsonObject
  const other = pick(random, known)
  const ops = operation(random, kind, base) as unknown as Json
  const steps: (() => RequestStep)[] = [
    () => written(random, kind, post(withQuery(path, query), object)),
    () => written(random, kind, post(withQuery(path, query), object)),
    () => post(withQuery(path, "dryRun=All"), { ...rest, metadata: { ...unnamed, generateName: "gen-" } }),
    () => written(random, kind, put(withQuery(one, query), object)),
    () => written(random, kind, put(withQuery(one, query), object)),
    () => patch(withQuery(one, query), mergePatch, { metadata: { annotations: { n } } }),
    () => patch(withQuery(one, query), mergePatch, { ...rest, bogus: 1 }),
    () => patch(withQuery(one, query), mergePatch, withOddFields(random, rest)),
    () =>
      patch(withQuery(one, query), mergePatch, { apiVersion: apiVersionOf(other.facts), metadata: { labels: { n } } }),
    () => patch(withQuery(one, query), strategicPatch, rest),
    () => patch(withQuery(one, query), strategicPatch, { metadata: { labels: { n } }, bogus: 1 }),
    () => patch(withQuery(one, query), jsonPatch, ops),
    () => patch(withQuery(one, query), jsonPatch, [{ op: "add", path: "/bogus", value: 1 }]),
    () => patch(withQuery(one, query === "" ? "fieldManager=k" : query), applyPatch, object),
    () => patch(withQuery(one, query === "" ? "fieldManager=k" : query), applyPatch, { ...object, bogus: 1 }),
    () => written(random, kind, put(withQuery(`${one}/status`, query), object)),
    () => patch(withQuery(`${one}/status`, query), mergePatch, { metadata: { annotations: { n } }, status }),
    () =>
      patch(
        withQuery(`${one}/status`, `${query}&fieldManager=s`),
        applyPatch,
        whole(kind, { metadata: { name }, status }),
      ),
    () => remove(withQuery(one, pick(random, ["", "dryRun=All", "gracePeriodSeconds=1"])), pick(random, deletions)),
    () => remove(`${path}?labelSelector=own%3D@{id}`, pick(random, deletions)),
    () => patch(one, mergePatch, { metadata: { finalizers: pick<Json>(random, [null, ["example.com/f"]]) } }),
    () => get(one),
    ...Object.entries(posted).map(
      ([sub, make]) =>
        () =>
          post(withQuery(`${one}/${sub}`, query), make(random, name)),
    ),
  ]
  for (const [sub, make] of Object.entries(subresources)) {
    const value = (): Json => make(random, name)
    steps.push(
      () => put(withQuery(`${one}/${sub}`, query), value()),
      () => put(withQuery(`${one}/${sub}`, query), { ...(value() as JsonObject), bogus: 1 }),
      () => patch(withQuery(`${one}/${sub}`, query), mergePatch, value()),
      () => patch(withQuery(`${one}/${sub}`, `${query}&fieldManager=s`), applyPatch, value()),
      () => get(`${one}/${sub}`),
    )
  }
  return pick(random, steps)()
}
