// Names, labels, annotations, finalizers, owners, and unknown fields, for every kind.

import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { fieldsOf, printPath, withValue } from "./fields.ts"
import { asUpdate, type JsonObject, type Kind, nameOf } from "./objects.ts"

const names = [
  "",
  "Upper",
  "under_score",
  "dotted.name",
  "-dash",
  "with/slash",
  "with%percent",
  "..",
  "with space",
  "a:colon",
  "9digit",
  "x".repeat(64),
  "x".repeat(254),
]

const metadata: readonly JsonObject[] = [
  { labels: { "bad key!": "x" } },
  { labels: { key: "bad value!" } },
  { labels: { [`${"x".repeat(64)}`]: "x" } },
  { labels: { "": "y" } },
  { labels: { "Example.com/key": "x" } },
  { labels: { "a/b/c": "y" } },
  { labels: { key: "x".repeat(64) } },
  { labels: { key: 7 } },
  { annotations: { "bad key!": "x" } },
  { annotations: { Key: "any value! at all" } },
  { annotations: { key: "x".repeat(262_145) } },
  { annotations: { key: null } },
  { finalizers: ["plain"] },
  { finalizers: ["example.com/ok", "example.com/ok"] },
  { finalizers: ["bad finalizer!"] },
  { finalizers: ["kubernetes", "foregroundDeletion", "orphan"] },
  { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }] },
  { ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
  { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "o", uid: "u" }] },
  {
    ownerReferences: [
      { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u", controller: true },
      { apiVersion: "v1", kind: "ConfigMap", name: "p", uid: "v", controller: true },
    ],
  },
  { uid: "my-uid", creationTimestamp: "2020-01-01T00:00:00Z", generation: 7, selfLink: "/x" },
  { resourceVersion: "7" },
  { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 7 },
  { generation: -1 },
  { creationTimestamp: "yesterday" },
  { generateName: "bad name!" },
  { generateName: "gen-" },
  { managedFields: [{ manager: "me", operation: "Bogus" }] },
]

export function metadataScenarios(kind: Kind): Scenario[] {
  return [
    { name: `${kind.title} has a name of its kind`, steps: naming(kind) },
    { name: `${kind.title} is created with any metadata`, steps: metadata.map((more) => creation(kind, more)) },
    {
      name: `${kind.title} is updated to any metadata`,
      steps: [
        post(kind.path, kind.object(), { label: "POST valid", save: "valid" }),
        ...metadata.map((more) => update(kind, more)),
      ],
    },
    { name: `${kind.title} has no unknown fields`, steps: unknownFields(kind) },
    ...(kind.facts.subresources.some(({ name }) => name === "status") ? [statusPatches(kind)] : []),
  ]
}

/** Of fields that may not change, one at a time. */
const immutable: readonly JsonObject[] = [
  { uid: "x" },
  { uid: "x", resourceVersion: "1" },
  { creationTimestamp: "2020-01-01T00:00:00Z" },
  { deletionGracePeriodSeconds: 3 },
  { name: "other" },
  { namespace: "other" },
]

function statusPatches(kind: Kind): Scenario {
  const steps = [...metadata, ...immutable].map((more) =>
    patch(
      `${kind.objectPath}/status?dryRun=All`,
      mergePatch,
      { metadata: more },
      { label: `PATCH status ${shown(more)}` },
    ),
  )
  return {
    name: `${kind.title} has metadata patched with its status`,
    steps: [post(kind.path, kind.object(), { label: "POST valid", save: "valid" }), ...steps],
  }
}

function withMeta(kind: Kind, more: JsonObject): JsonObject {
  const object = kind.object()
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), ...more } }
}

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 90 ? `${text.slice(0, 70)}… (${text.length})` : text
}

function creation(kind: Kind, more: JsonObject): RequestStep {
  return post(`${kind.path}?dryRun=All`, withMeta(kind, more), { label: `POST metadata ${shown(more)}` })
}

function update(kind: Kind, more: JsonObject): RequestStep {
  return put(`${kind.objectPath}?dryRun=All`, asUpdate(kind, withMeta(kind, more)), {
    label: `PUT metadata ${shown(more)}`,
  })
}

function naming(kind: Kind): RequestStep[] {
  const named = (name: string): RequestStep => creation(kind, { name })
  const generated = withMeta(kind, { generateName: "gen-" })
  delete (generated["metadata"] as JsonObject)["name"]
  return [
    ...names.map(named),
    post(kind.path, generated, { label: "POST generateName" }),
    post(
      `${kind.path}?dryRun=All`,
      { ...generated, metadata: { generateName: "Bad_Name-" } },
      { label: "POST bad generateName" },
    ),
    post(
      `${kind.path}?dryRun=All`,
      { ...generated, metadata: { generateName: "x".repeat(300) } },
      { label: "POST long generateName" },
    ),
    { method: "GET", path: `${kind.path}/Bad_Name` },
    { method: "GET", path: `${kind.path}/a%2Fb` },
  ]
}

/** At the root, in metadata, and in the most deeply nested structs. */
function unknownFields(kind: Kind): RequestStep[] {
  const paths = fieldsOf(kind.schema, [], { except: ["ObjectMeta"] })
    .filter(({ schema, path }) => schema.type === "object" && schema.fields !== undefined && path[0] !== "status")
    .map(({ path }) => path)
  const some = [[], ["metadata"], ...paths.slice(0, 2), ...paths.slice(-1)]
  const steps = some.flatMap((path) => {
    const object = withValue(kind.object(), kind.schema, [...path, "bogus"], 1)
    return ["Ignore", "Warn", "Strict"].map((how) =>
      post(`${kind.path}?dryRun=All&fieldValidation=${how}`, object, {
        label: `POST ${printPath([...path, "bogus"])} ${how}`,
      }),
    )
  })
  const two = { ...kind.object(), bogus: 1, more: { bogus: 2 } }
  const twice = JSON.stringify(kind.object()).replace(
    '"metadata":{',
    '"metadata":{"labels":{"a":"1","a":"2"},"generateName":"a-","generateName":"b-",',
  )
  const twiceYaml = `apiVersion: ${apiVersionOf(kind.facts)}\nkind: ${kind.facts.kind}\nkind: ${kind.facts.kind}\nmetadata:\n  name: ${nameOf(kind.object())}\n  bogus: 1\n`
  return [
    ...steps,
    post(`${kind.path}?dryRun=All&fieldValidation=Bogus`, kind.object(), { label: "POST bogus validation" }),
    ...["Ignore", "Warn", "Strict"].flatMap((how) => [
      post(`${kind.path}?dryRun=All&fieldValidation=${how}`, twice, { label: `POST duplicates ${how}` }),
      post(`${kind.path}?dryRun=All&fieldValidation=${how}`, twiceYaml, {
        label: `POST duplicates in YAML ${how}`,
        contentType: "application/yaml",
      }),
    ]),
    post(kind.path, kind.object(), { label: "POST valid" }),
    ...["Ignore", "Warn", "Strict"].flatMap((how) => [
      put(`${kind.objectPath}?dryRun=All&fieldValidation=${how}`, two, { label: `PUT unknown ${how}` }),
      patch(
        `${kind.objectPath}?dryRun=All&fieldValidation=${how}`,
        mergePatch,
        { bogus: 1, metadata: { bogus: 2 } },
        {
          label: `PATCH merge unknown ${how}`,
        },
      ),
      patch(
        `${kind.objectPath}?dryRun=All&fieldValidation=${how}`,
        strategicPatch,
        { bogus: 1, metadata: { bogus: 2 } },
        {
          label: `PATCH strategic unknown ${how}`,
        },
      ),
    ]),
  ]
}
