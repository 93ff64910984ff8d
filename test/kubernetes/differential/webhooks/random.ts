// Random webhooks, and random writes that they are called for: of a kind between whose versions another webhook converts, and of built-in
// kinds with several versions or with one.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { group, scaledVersions, servedBy, thing, versionsOf, type Webhook } from "../conversions/kind.ts"
import { applyPatch, get, jsonPatch, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { titled } from "../random/titled.ts"
import { at, patches as customPatches } from "./converted-patches.ts"
import { allow, deny, patchText, type RegisteredHook, rule, type WebhookScenario } from "./scenario.ts"

const length = 25

/** What is written: in versions, with subresources, and how webhooks may patch it. */
interface Target {
  group: string
  versions: readonly string[]
  resource: string
  kind: string
  spec: (random: Random, version: string) => Json
  subresources: readonly string[]
  patches: readonly Loose[][]
}

/**
 * Of metadata that a webhook removes or makes of another type, nothing is shown to others; and what it gives another name is found under
 * that of the request upstream (known-differences.yaml).
 */
const isOdd = ({ path, value }: Loose): boolean =>
  ["/metadata", "/metadata/name", "/metadata/bogus", "/metadata/generation"].includes(path) ||
  (/^\/metadata\/(labels|annotations|finalizers)$/.test(path) && /^\[\]$|5/.test(JSON.stringify(value)))

/** Of conversions that the objects ask for. */
const modes = ["stamp", "labels", "labels null", "unknown fields", "another name", "failed", "spec null", "nulls"]

const thingTarget = (subresources: readonly string[]): Target => ({
  group,
  versions: ["v1", "v2", "v3"],
  resource: "things",
  kind: "Thing",
  spec: (random, version) => ({
    ...(version === "v1"
      ? { hostPort: pick(random, ["a:1", "b", "UPPER:1"]) }
      : { host: pick(random, ["a", "UPPER"]) }),
    ...(chance(random, 0.3) ? { extra: "e", replicas: random(4) } : {}),
    ...(chance(random, 0.3) ? { mode: { [pick(random, ["v1", "v2", "v3"])]: pick(random, modes) } } : {}),
  }),
  subresources,
  // What gives an object another name is found under that of the request upstream (known-differences.yaml).
  patches: customPatches.filter((operations) => !operations.some(isOdd)),
})

const autoscalers: Target = {
  group: "autoscaling",
  versions: ["v1", "v2"],
  resource: "horizontalpodautoscalers",
  kind: "HorizontalPodAutoscaler",
  spec: (random, version) => ({
    maxReplicas: pick(random, [0, 3, 5]),
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    ...(version === "v1" && chance(random, 0.5) ? { targetCPUUtilizationPercentage: 50 } : {}),
  }),
  subresources: ["status"],
  patches: [
    [at("/spec/maxReplicas", 7)],
    [at("/spec/maxReplicas", "7")],
    [at("/spec/minReplicas", 2)],
    [at("/spec/targetCPUUtilizationPercentage", 60)],
    [at("/spec/metrics", [])],
    [at("/spec/behavior", { scaleUp: { stabilizationWindowSeconds: 3 } })],
    [at("/metadata/labels", { by: "hook" })],
    [at("/status/currentReplicas", 3)],
    [{ op: "remove", path: "/spec/scaleTargetRef" }],
    [at("/bogus", 1)],
  ],
}

const maps: Target = {
  group: "",
  versions: ["v1"],
  resource: "configmaps",
  kind: "ConfigMap",
  spec: () => ({}),
  subresources: [],
  patches: [
    [at("/data", { by: "hook" })],
    [at("/data/by", "hook")],
    [at("/immutable", true)],
    [at("/binaryData", { a: "%" })],
    [at("/metadata/labels", { by: "hook" })],
    [at("/metadata/finalizers", ["example.com/f"])],
    [{ op: "test", path: "/metadata/name", value: "b" }],
    [at("/apiVersion", "v2")],
  ],
}

export function randomWebhookScenario(conversion: Webhook, seed: number): WebhookScenario {
  const random = createRandom(seed)
  const scaled = chance(random, 0.4)
  const versions = scaled ? scaledVersions() : versionsOf("v1", chance(random, 0.3) ? { v3: { served: false } } : {})
  const targets = [thingTarget(scaled ? ["status", "scale"] : []), autoscalers, maps]
  const main = pick(random, [targets[0], targets[0], ...targets]) as Target
  const count = 2 + random(6)
  let refusals = 0
  const hooks = Array.from({ length: count }, () => {
    const made = randomHook(random, chance(random, 0.85) ? main : pick(random, targets), refusals === 0)
    if (made.refuses) refusals++
    return made.hook
  })
  const writes = Array.from({ length }, () => write(random, chance(random, 0.85) ? main : pick(random, targets)))
  const steps = [...servedBy(conversion, { versions }), ...titled(writes)]
  return { name: `webhooks at random, seed ${seed}`, hooks, steps, anyOrder: true, byChance: true }
}

/** Of several that refuse at the same time, upstream tells the first to have answered: only one does. */
function randomHook(random: Random, target: Target, mayRefuse: boolean): { hook: RegisteredHook; refuses: boolean } {
  const kind = chance(random, 0.65) ? "Mutating" : "Validating"
  const rules = Array.from({ length: pick(random, [1, 1, 2]) }, () =>
    rule(
      pick(random, [
        ["*/*"],
        [target.resource, `${target.resource}/*`],
        [target.resource],
        [`${target.resource}/status`],
      ]),
      {
        apiGroups: [target.group],
        apiVersions: [pick(random, [...target.versions, "*"])],
        operations: pick(random, [["*"], ["*"], ["CREATE"], ["UPDATE", "DELETE"]]),
      },
    ),
  )
  const some = (probability: number, fields: Loose): Loose => (chance(random, probability) ? fields : {})
  const webhook = {
    rules,
    ...some(0.3, { matchPolicy: "Exact" }),
    ...some(0.4, { failurePolicy: "Ignore" }),
    ...some(0.2, { sideEffects: "NoneOnDryRun" }),
    ...some(0.2, { admissionReviewVersions: ["v1beta1"] }),
    ...some(0.2, { objectSelector: pick(random, selectors) }),
    ...some(0.25, { matchConditions: [{ name: "a", expression: pick(random, expressions) }] }),
    ...(kind === "Mutating" ? some(0.4, { reinvocationPolicy: "IfNeeded" }) : {}),
  }
  const configuration = pick(random, ["a", "b"])
  const refuses = mayRefuse && chance(random, 0.1)
  const patching = kind === "Mutating" && chance(random, 0.65)
  const reply = refuses
    ? deny({ message: "no" })
    : patching
      ? patchText(JSON.stringify(pick(random, target.patches)))
      : allow
  // What has no object cannot be patched, which would end most deletions.
  const hook: RegisteredHook = {
    kind,
    configuration,
    webhook,
    reply: (call) => ((call.body["request"] as Loose)["operation"] === "DELETE" && patching ? allow : reply)(call),
  }
  return { hook, refuses }
}

const selectors: readonly Loose[] = [
  { matchLabels: { by: "hook" } },
  { matchLabels: { by: "webhook" } },
  { matchExpressions: [{ key: "by", operator: "DoesNotExist" }] },
  { matchLabels: { x: "y" } },
]

const expressions = [
  "has(object.spec.host)",
  "object != null && has(object.metadata.labels)",
  "oldObject == null",
  "request.kind == request.requestKind",
  'request.kind.version == "v2"',
  "object.spec.stamp == 'converted'",
  'request.subResource == ""',
]

function write(random: Random, target: Target): RequestStep {
  const version = pick(random, target.versions)
  const base = target.group === "" ? `/api/${version}` : `/apis/${target.group}/${version}`
  const path = `${base}/namespaces/@{ns}/${target.resource}`
  const name = pick(random, ["a", "a", "b"])
  const apiVersion = target.group === "" ? version : `${target.group}/${version}`
  const labels = pick(random, [undefined, { x: "y" }, { by: "hook" }])
  const object = {
    ...(thing(version, name, target.spec(random, version)) as Loose),
    apiVersion,
    kind: target.kind,
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
  } as Json
  const subresource =
    target.subresources.length > 0 && chance(random, 0.2) ? `/${pick(random, target.subresources)}` : ""
  const query = pick(random, ["", "", "", "?dryRun=All", "?fieldManager=m", "?fieldManager=n&force=true"])
  const one = `${path}/${name}${subresource}${query}`
  const change = pick<Json>(random, [
    {},
    { metadata: { labels: { x: "z" } } },
    { metadata: { labels: null } },
    { spec: target.spec(random, version), status: { replicas: random(3) } },
    { status: { replicas: 2, currentReplicas: 2, desiredReplicas: 1 }, spec: { replicas: random(5) } },
  ])
  return pick(random, [
    () => post(`${path}${query}`, object),
    () => post(`${path}${query}`, object),
    () => put(one, object),
    () => patch(one, mergePatch, change),
    () => patch(one, mergePatch, change),
    () => patch(one, jsonPatch, [{ op: "add", path: "/metadata/labels", value: { x: "w" } }]),
    () => patch(one, applyPatch, subresource === "/scale" ? { ...scale, spec: { replicas: 3 } } : object),
    () => remove(`${path}/${name}${query.startsWith("?dryRun") ? query : ""}`),
    () => (chance(random, 0.3) ? remove(path) : get(`${path}/${name}`)),
  ])()
}

const scale = { apiVersion: "autoscaling/v1", kind: "Scale" }
