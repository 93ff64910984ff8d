// Admission webhooks that are called in another version than that of the request, of a kind between whose versions a webhook converts.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import type { WebhookCall, WebhookHandler, WebhookReply } from "../../../../gateway/testing/webhook-server.ts"
import {
  as,
  type Webhook as Conversion,
  group,
  scaledVersions,
  servedBy,
  thing,
  v1,
  v2,
  v3,
  versionsOf,
} from "../conversions/kind.ts"
import { objectModes } from "../conversions/webhook.ts"
import { applyPatch, get, jsonPatch, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { at, patches } from "./converted-patches.ts"
import { allow, answer, patchText, type RegisteredHook, rule, type WebhookScenario } from "./scenario.ts"

export function convertedScenarios(conversion: Conversion): WebhookScenario[] {
  const served = servedBy(conversion)
  const withStatus = servedBy(conversion, { versions: scaledVersions() })
  return [
    { name: "converted resources are reviewed", hooks: inAllVersions, steps: [...served, ...life()] },
    { name: "converted resources are patched", hooks: patching("v2"), steps: [...served, ...patched()] },
    {
      name: "converted resources are patched in the version of the request",
      hooks: patching("v1"),
      steps: [...served, ...patched()],
    },
    {
      name: "subresources of converted resources are reviewed",
      hooks: ofSubresources,
      steps: [...withStatus, ...scaled()],
    },
    { name: "converted resources are selected", hooks: selecting, steps: [...served, ...selected()] },
    { name: "converted resources meet conditions", hooks: withConditions, steps: [...served, ...conditions()] },
    ...(["Mutating", "Validating"] as const).map((kind) => ({
      name: `resources are not converted for ${kind.toLowerCase()} webhooks`,
      hooks: [hook(kind, "v2", { failurePolicy: "Ignore" })],
      steps: [...served, ...objectModes.flatMap((mode) => unconverted({ v2: mode }, mode))],
    })),
    {
      name: "resources are not converted back from webhooks",
      hooks: [hook("Mutating", "v2", {}, asAnnotated), hook("Mutating", "v2", { failurePolicy: "Ignore" })],
      steps: [...served, ...objectModes.flatMap((mode) => unconverted({ v1: mode }, mode))],
    },
    {
      name: "resources are not converted back between webhooks",
      hooks: [hook("Mutating", "v2", {}, asAnnotated), hook("Mutating", "v1", { failurePolicy: "Ignore" })],
      steps: [...served, ...objectModes.flatMap((mode) => unconverted({ v1: mode }, mode))],
    },
    {
      name: "resources are not converted for conditions of webhooks",
      hooks: (["Mutating", "Validating"] as const).map((kind) =>
        hook(kind, "v2", { failurePolicy: "Ignore", matchConditions: [{ name: "a", expression: "false" }] }),
      ),
      steps: [...served, ...["failed", "another name", "nothing"].flatMap((mode) => unconverted({ v2: mode }, mode))],
    },
    {
      name: "converted resources have versions that are not served",
      hooks: inAllVersions,
      steps: [...servedBy(conversion, { versions: versionsOf("v1", { v3: { served: false } }) }), ...life([v1, v2])],
    },
  ]
}

function hook(
  kind: "Mutating" | "Validating",
  version: string,
  more: Loose = {},
  reply: WebhookHandler = allow,
): RegisteredHook {
  const rules = [rule(["things", "things/*"], { apiGroups: [group], apiVersions: [version] })]
  return { kind, webhook: { rules, ...more }, reply }
}

const inAllVersions: readonly RegisteredHook[] = [
  ...["v1", "v2", "v3", "v1"].map((version) => hook("Mutating", version)),
  ...["v1", "v2", "v3"].map((version) => hook("Validating", version)),
  hook("Validating", "v2", { matchPolicy: "Exact" }),
]

function life(paths = [v1, v2, v3]): RequestStep[] {
  const specs: Record<string, Json> = {
    [v1]: { hostPort: "a:1" },
    [v2]: { host: "a", extra: "x" },
    [v3]: { host: "a" },
  }
  return paths.flatMap((path) => {
    const version = path.split("/")[3] ?? ""
    const object = (name: string): Json => thing(version, name, specs[path] ?? {})
    return [
      post(`${path}${as("m")}`, object(`${version}-a`)),
      post(`${path}${as("m")}&dryRun=All`, object(`${version}-b`), { label: `POST dry ${version}` }),
      patch(`${path}/${version}-a${as("m")}`, mergePatch, { metadata: { labels: { a: "b" } } }),
      patch(`${path}/${version}-a${as("m")}`, mergePatch, {}, { label: `PATCH nothing in ${version}` }),
      patch(`${path}/${version}-a${as("m")}`, jsonPatch, [{ op: "add", path: "/metadata/labels/c", value: "d" }]),
      patch(`${path}/${version}-a${as("n")}`, applyPatch, thing(version, `${version}-a`, { extra: "applied" })),
      patch(`${path}/${version}-c${as("n")}`, applyPatch, thing(version, `${version}-c`, specs[path] ?? {})),
      put(`${path}/${version}-d`, object(`${version}-d`), { label: `PUT new in ${version}` }),
      remove(`${path}/${version}-a?dryRun=All`),
      remove(`${path}/${version}-a`),
      remove(path),
    ]
  })
}

/** A patch is the annotation of that name. */
const asAnnotated = (call: WebhookCall): WebhookReply | Promise<WebhookReply> => {
  const text: unknown = (call.body["request"] as Loose)["object"]?.metadata?.annotations?.patch
  return (typeof text === "string" ? patchText(text) : answer({}))(call)
}

/** What the patching webhook has made is seen by one of the same version, by one of another, and by one of the same again. */
const patching = (version: string): readonly RegisteredHook[] => {
  const other = version === "v1" ? "v2" : "v1"
  return [
    hook("Mutating", version, { reinvocationPolicy: "IfNeeded" }, asAnnotated),
    ...[version, other, version].map((each) => hook("Mutating", each)),
    hook("Mutating", other, { reinvocationPolicy: "IfNeeded" }),
    ...["v1", "v2"].map((each) => hook("Validating", each)),
  ]
}

/** Each patch is made of a new object, which is not stored, and of an update, which is. */
function patched(): RequestStep[] {
  return patches.flatMap((operations, index) => {
    const text = JSON.stringify(operations)
    const name = `p${index}`
    const metadata = (of: string): object => ({ metadata: { name: of, annotations: { patch: text } } })
    return [
      post(`${v1}?dryRun=All`, thing("v1", `${name}-new`, { hostPort: "a:1" }, metadata(`${name}-new`)), {
        label: `POST v1 ${text}`,
      }),
      post(`${v2}?dryRun=All`, thing("v2", `${name}-new`, { host: "a" }, metadata(`${name}-new`)), {
        label: `POST v2 ${text}`,
      }),
      post(v1, thing("v1", name, { hostPort: "a:1" }), { label: `POST ${name}` }),
      patch(`${v1}/${name}`, mergePatch, metadata(name) as Json, { label: `PATCH v1 ${text}` }),
      get(`${v2}/${name}`, { label: `GET after ${text}` }),
    ]
  })
}

const ofSubresources: readonly RegisteredHook[] = [
  hook("Mutating", "v2", {}, (call) => {
    const { subResource, operation } = call.body["request"] as Loose
    if (operation === "DELETE") return allow(call)
    const value =
      subResource === "scale" ? [at("/spec/replicas", 7)] : [at("/status/by", "hook"), at("/spec/by", "hook")]
    return patchText(JSON.stringify(value))(call)
  }),
  ...["v1", "v3"].map((version) => hook("Mutating", version)),
  ...["v1", "v2", "v3"].map((version) => hook("Validating", version)),
]

function scaled(): RequestStep[] {
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale" }
  return [
    post(`${v1}${as("m")}`, thing("v1", "a", { replicas: 2 }, { status: { replicas: 1 } })),
    post(`${v2}${as("m")}`, thing("v2", "b", { replicas: 2 }, { status: { replicas: 1 } })),
    ...[v1, v2].flatMap((path) => [
      patch(`${path}/a/status${as("m")}`, mergePatch, { status: { replicas: 3 } }),
      patch(`${path}/a/status${as("n")}`, applyPatch, {
        apiVersion: `${group}/${path.split("/")[3]}`,
        kind: "Thing",
        status: { ready: true },
      }),
      patch(`${path}/a/scale${as("m")}`, mergePatch, { spec: { replicas: 4 } }),
      patch(`${path}/a/scale?dryRun=All`, mergePatch, { spec: { replicas: 5 } }),
      put(`${path}/a/scale`, { ...scale, metadata: { name: "a", namespace: "@{ns}" }, spec: { replicas: 6 } }),
      patch(
        `${path}/a/scale${as("n")}`,
        applyPatch,
        { ...scale, spec: { replicas: 8 } },
        { label: `APPLY scale ${path}` },
      ),
      get(`${path}/a`),
    ]),
    post(v1, thing("v1", "c", { mode: { v2: "failed" } }), { label: "POST c" }),
    patch(`${v1}/c/status`, mergePatch, { status: { replicas: 3 } }),
    patch(`${v1}/c/scale`, mergePatch, { spec: { replicas: 3 } }),
    remove(`${v1}/c`),
    remove(v2),
  ]
}

/** Of the labels that a conversion gives, only mutating webhooks that are called behind one of the same version know. */
const selecting: readonly RegisteredHook[] = [
  hook("Mutating", "v1", { objectSelector: { matchLabels: { by: "webhook" } } }),
  hook("Mutating", "v2"),
  hook("Mutating", "v1", { objectSelector: { matchLabels: { by: "webhook" } } }),
  hook("Mutating", "v1"),
  hook("Mutating", "v1", { objectSelector: { matchLabels: { by: "webhook" } } }),
  hook("Mutating", "v2", { objectSelector: { matchExpressions: [{ key: "by", operator: "DoesNotExist" }] } }),
  hook("Validating", "v2", { objectSelector: { matchLabels: { by: "webhook" } } }),
]

function selected(): RequestStep[] {
  return ["labels", "labels null", "labels empty", "stamp"].flatMap((mode, index) => [
    post(v1, thing("v1", `a${index}`, { hostPort: "a:1", mode: { v2: mode } } as Json), { label: `POST ${mode}` }),
    patch(`${v1}/a${index}`, mergePatch, { metadata: { labels: { by: "client" } } }, { label: `PATCH ${mode}` }),
    remove(`${v1}/a${index}`, undefined, { label: `DELETE ${mode}` }),
  ])
}

const withConditions: readonly RegisteredHook[] = (["Mutating", "Validating"] as const).flatMap((kind) => [
  ...[
    "has(object.spec.host)",
    "has(object.spec.hostPort)",
    'object.apiVersion.endsWith("/v2")',
    "oldObject != null && has(oldObject.spec.host)",
    'request.kind.version == "v2" && request.requestKind.version == "v1"',
    "object.spec.stamp == 'converted'",
    "object.metadata.labels.by == 'webhook'",
  ].map((expression) => hook(kind, "v2", { failurePolicy: "Ignore", matchConditions: [{ name: "a", expression }] })),
  hook(kind, "v1", {
    failurePolicy: "Ignore",
    matchConditions: [{ name: "a", expression: "has(object.spec.hostPort)" }],
  }),
])

function conditions(): RequestStep[] {
  return ["", "stamp", "labels", "unknown fields"].flatMap((mode, index) => {
    const of = mode === "" ? {} : { mode: { v2: mode } }
    return [
      post(v1, thing("v1", `a${index}`, { hostPort: "a:1", ...of } as Json), { label: `POST v1 ${mode}` }),
      post(v2, thing("v2", `b${index}`, { host: "a", ...of } as Json), { label: `POST v2 ${mode}` }),
      patch(`${v1}/a${index}`, mergePatch, { metadata: { labels: { a: "b" } } }, { label: `PATCH ${mode}` }),
      remove(`${v1}/a${index}`, undefined, { label: `DELETE ${mode}` }),
    ]
  })
}

/** The object, and then the stored one, asks for a conversion that fails, or that is an odd one. */
function unconverted(mode: Json, about: string): RequestStep[] {
  const name = about.replaceAll(" ", "-")
  const metadata = { name, annotations: { patch: JSON.stringify([at("/spec/stamp", "patched")]) } }
  return [
    post(`${v1}?dryRun=All`, thing("v1", name, { hostPort: "a:1", mode }, { metadata }), { label: `POST ${about}` }),
    post(v1, thing("v1", name, { hostPort: "a:1" }, { metadata }), { label: `POST usual for ${about}` }),
    patch(`${v1}/${name}`, mergePatch, { spec: { mode } }, { label: `PATCH to ${about}` }),
    patch(`${v1}/${name}`, mergePatch, { spec: { mode: null } }, { label: `PATCH from ${about}` }),
    get(`${v1}/${name}`),
    remove(`${v1}/${name}`),
  ]
}
