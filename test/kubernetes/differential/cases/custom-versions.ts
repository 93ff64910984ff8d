// What reading a custom resource adds to it: a status that is a default, and fields of one version alone,
// which are in the way of managers who speak another.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const group = "w@{id}.example.com"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const list = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })
const text = { type: "string" }
const as = (manager: string) => `?fieldManager=${manager}`

export function customVersionCases(): Scenario[] {
  return [
    { name: "a custom resource has the status that is its default", steps: presetStatus() },
    { name: "a custom resource has a field of one version that a manager does not know", steps: foreignFields() },
    { name: "a custom resource is scaled in a version that presets its status", steps: presetElsewhere() },
    { name: "a custom resource gets a number in a version with other defaults", steps: scaledElsewhere() },
    {
      name: "a custom resource is applied in a version that keeps unknown fields",
      anyOrder: true,
      steps: freeVersion(),
    },
    { name: "a definition no longer serves the version of a manager", steps: unservedVersion() },
    { name: "objects are stored in a version that their definition has lost", steps: lostVersion() },
  ]
}

function definition(versions: readonly object[]): Json {
  const names = { plural: "things", kind: "Thing" }
  return {
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  } as unknown as Json
}

const thing = (version: string, name: string, spec: Json, more: object = {}): Json => ({
  apiVersion: `${group}/${version}`,
  kind: "Thing",
  metadata: { name },
  spec,
  ...more,
})

function presetStatus(): RequestStep[] {
  const status = object({ phase: text, more: { ...text, default: "m" } }, { default: { phase: "New" } })
  const schema = { openAPIV3Schema: object({ spec: object({ key: text }), status }) }
  const version = { name: "v1", served: true, storage: true, schema, subresources: { status: {} } }
  const things = list("v1")
  return [
    post(definitions, definition([version])),
    get(things, { untilCode: 200 }),
    post(`${things}${as("m1")}`, thing("v1", "a", { key: "x" })),
    get(`${things}/a`, { save: "a" }),
    put(
      `${things}/a${as("m1")}`,
      thing("v1", "a", { key: "x" }, { metadata: { name: "a", resourceVersion: "@{a.metadata.resourceVersion}" } }),
      { label: "PUT the same" },
    ),
    post(things, thing("v1", "given", { key: "x" }, { status: { phase: "Old" } })),
    post(`${things}?dryRun=All`, thing("v1", "dry", { key: "x" })),
    patch(`${things}/applied?fieldManager=m`, applyPatch, thing("v1", "applied", { key: "x" })),
    patch(`${things}/a/status${as("m2")}`, mergePatch, { status: { phase: "Done" } }),
    patch(`${things}/a/status${as("m2")}`, mergePatch, { status: null }, { label: "PATCH no status" }),
    patch(`${things}/a${as("m3")}`, mergePatch, { spec: { key: "y" }, status: null }, { label: "PATCH spec" }),
    get(things, { label: "LIST" }),
  ]
}

/** The defaults around the number are those of the version in which it is stored. */
function scaledElsewhere(): RequestStep[] {
  const free = { "x-kubernetes-preserve-unknown-fields": true }
  const spec = (name: string): object =>
    object({ n: { type: "integer" }, [name]: { ...text, default: "c" }, both: { ...text, default: name } }, free)
  const scale = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" }
  const version = (name: string, field: string) => {
    const schema = { openAPIV3Schema: object({ spec: spec(field) }) }
    return { name, served: true, storage: name === "v1", schema, subresources: { scale } }
  }
  const path = `${list("v2")}/a`
  const scaled: Json = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 3 } }
  const versions = ["v1", "v2"]
  const reads = (label: string): RequestStep[] =>
    versions.map((each) => get(`${list(each)}/a`, { label: `GET ${each} ${label}` }))
  return [
    post(definitions, definition([version("v1", "one"), version("v2", "two")])),
    ...versions.map((each) => get(list(each), { untilCode: 200 })),
    post(list("v2"), { apiVersion: `${group}/v2`, kind: "Thing", metadata: { name: "a" } }),
    put(`${path}/scale?fieldManager=s`, scaled),
    ...reads("scaled"),
    ...versions.flatMap((each) => [
      patch(`${list(each)}/a?fieldManager=p`, mergePatch, { metadata: { labels: {} } }, { label: `PATCH ${each}` }),
      patch(
        `${list(each)}/a?fieldManager=p`,
        mergePatch,
        { metadata: { labels: {} } },
        { label: `PATCH ${each} again` },
      ),
    ]),
    patch(`${list("v1")}/a?fieldManager=m&force=true`, applyPatch, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
    }),
    ...reads("applied"),
  ]
}

/** What only the stored version knows is stored. */
function freeVersion(): RequestStep[] {
  const schema = (fields: object, more: object = {}): object => ({
    schema: {
      openAPIV3Schema: object({ spec: object({ both: text, part: object(fields), list: items(fields) }) }, more),
    },
  })
  const items = (fields: object): object => ({ type: "array", items: object(fields) })
  const free = { "x-kubernetes-preserve-unknown-fields": true }
  const v1 = {
    name: "v1",
    served: true,
    storage: true,
    ...schema({ a: text, only: text, more: { ...text, default: "d" } }),
  }
  const v2 = { name: "v2", served: true, storage: false, ...schema({ a: text, max: { type: "integer" } }, free) }
  const apply = (label: string, spec: Json, query = "", version = "v2", more: object = {}): RequestStep[] => [
    patch(`${list(version)}/a?fieldManager=m&force=true${query}`, applyPatch, thing(version, "a", spec, more), {
      label: `APPLY ${label}`,
    }),
    ...["v1", "v2"].map((each) => get(`${list(each)}/a`, { label: `GET ${each} after ${label}` })),
  ]
  const parts = (part: object): Json => ({ part, list: [part] }) as Json
  return [
    post(definitions, definition([v1, v2])),
    ...["v1", "v2"].map((each) => get(list(each), { untilCode: 200 })),
    ...apply("dry", parts({ a: "x", only: "y", none: "z" }), "&dryRun=All"),
    ...apply("first", parts({ a: "x", only: "y", none: "z" })),
    ...apply("the same", parts({ a: "x", only: "y", none: "z" })),
    ...apply("the same strictly", parts({ a: "x", only: "y", none: "z" }), "&fieldValidation=Strict"),
    ...apply("null", parts({ a: "x", only: null, none: null })),
    ...apply("less", parts({ a: "x" })),
    ...apply("of another type", parts({ a: "x", only: 5 })),
    ...apply("as stored", parts({ a: "x", only: "v" }), "", "v1"),
    ...apply("more", { both: "b" }, "", "v2", { other: { a: 1 } }),
    patch(`${list("v2")}/a`, mergePatch, { spec: { part: { only: "w" }, other: 1 } }),
    get(`${list("v1")}/a`, { label: "GET v1 after PATCH" }),
  ]
}

/** Which storedVersions is to prevent. In the end the definition has the version again, so that it can be deleted everywhere. */
function lostVersion(): RequestStep[] {
  const schema = { openAPIV3Schema: object({ spec: object({ key: text }) }) }
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema })
  const path = `${definitions}/things.${group}`
  const versions = (label: string, ...all: object[]): RequestStep =>
    patch(path, mergePatch, { spec: { versions: all } } as unknown as Json, { label: `WRITE ${label}` })
  const things = list("v2")
  return [
    post(definitions, definition([version("v1", true)])),
    get(list("v1"), { untilCode: 200 }),
    post(list("v1"), thing("v1", "a", { key: "x" })),
    versions("both", version("v1", false), version("v2", true)),
    get(things, { untilCode: 200 }),
    post(things, thing("v2", "b", { key: "x" })),
    patch(`${path}/status`, mergePatch, { status: { storedVersions: ["v2"] } }, { label: "WRITE stored" }),
    versions("without v1", version("v2", true)),
    get(list("v1"), { untilCode: 404 }),
    ...[things, `${things}?limit=1`, `${things}?resourceVersion=0`, `${things}/a`, `${things}/b`].map((of) => get(of)),
    put(`${things}/a`, thing("v2", "a", { key: "y" })),
    patch(`${things}/a`, mergePatch, { spec: { key: "z" } }),
    remove(`${things}/a`),
    remove(`${things}/b`),
    remove(things),
    remove(path, undefined, { label: "WRITE end" }),
    versions("both again", version("v1", false), version("v2", true)),
    get(path, { untilCode: 404, label: "READ no definition" }),
  ]
}

function presetElsewhere(): RequestStep[] {
  const status = object({ size: { type: "integer", default: 0 } })
  const openAPIV3Schema = (preset: object) =>
    object({ spec: object({ size: { type: "integer" } }), status: { ...status, ...preset } })
  const versions = [
    { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: openAPIV3Schema({}) } },
    {
      name: "v2",
      served: true,
      storage: false,
      schema: { openAPIV3Schema: openAPIV3Schema({ default: {} }) },
      subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
    },
  ]
  const [stored, other] = [list("v1"), list("v2")]
  return [
    post(definitions, definition(versions)),
    get(other, { untilCode: 200 }),
    post(stored, thing("v1", "a", { size: 1 })),
    put(`${other}/a/scale`, { metadata: { name: "a" }, spec: { replicas: 4 } } as Json),
    get(`${stored}/a`),
    get(`${other}/a`),
    patch(`${other}/a`, mergePatch, { metadata: { labels: { a: "b" } } }),
    get(`${stored}/a`, { label: "GET v1 at the end" }),
    post(other, thing("v2", "b", { size: 1 })),
    patch(`${other}/b`, mergePatch, {}, { label: "PATCH b the same" }),
    get(`${stored}/b`, { label: "GET b" }),
  ]
}

const schema = (properties: object) => ({ openAPIV3Schema: object({ spec: object({ part: object(properties) }) }) })
const old = { name: "v1beta1", served: true, storage: false, schema: schema({ key: text }) }
const only = {
  name: "v1",
  served: true,
  storage: true,
  schema: schema({ key: text, extra: { ...text, default: "e" } }),
}
const [before, now] = [list("v1beta1"), list("v1")]

function foreignFields(): RequestStep[] {
  return [
    post(definitions, definition([old, only])),
    get(before, { untilCode: 200 }),
    patch(`${before}/a${as("m1")}`, applyPatch, thing("v1beta1", "a", { part: { key: "x" } })),
    get(`${now}/a`, { label: "GET v1" }),
    get(`${before}/a`, { label: "GET v1beta1" }),
    patch(`${now}/a${as("m1")}`, applyPatch, thing("v1", "a", { part: { key: "y" } }), {
      label: "APPLY v1 as the same",
    }),
    patch(`${now}/a${as("m2")}`, applyPatch, thing("v1", "a", { part: { extra: "f" } }), {
      label: "APPLY v1 as another",
    }),
    patch(`${now}/a${as("m3")}`, mergePatch, { spec: { part: { key: "z" } } }, { label: "PATCH v1" }),
    get(`${now}/a`, { label: "GET v1 at the end" }),
    post(`${now}${as("m4")}`, thing("v1", "b", { part: { key: "x", extra: "g" } })),
    patch(`${before}/b${as("m5")}`, mergePatch, { spec: { part: { key: "y" } } }, { label: "PATCH b v1beta1" }),
    patch(`${now}/b${as("m6")}`, applyPatch, thing("v1", "b", { part: { key: "y" } }), { label: "APPLY b" }),
    get(`${now}/b`, { label: "GET b" }),
  ]
}

function unservedVersion(): RequestStep[] {
  return [
    post(definitions, definition([old, only])),
    get(before, { untilCode: 200 }),
    patch(`${before}/c${as("m1")}`, applyPatch, thing("v1beta1", "c", { part: { key: "x" } })),
    patch(`${before}/d${as("m1")}`, applyPatch, thing("v1beta1", "d", {})),
    patch(`${definitions}/things.${group}`, mergePatch, {
      spec: { versions: [{ ...old, served: false }, only] },
    } as unknown as Json),
    get(before, { untilCode: 404, label: "LIST v1beta1 when not served" }),
    patch(`${now}/c${as("m1")}`, applyPatch, thing("v1", "c", { part: { key: "y" } }), { label: "APPLY c" }),
    patch(`${now}/d${as("m2")}`, mergePatch, { spec: { part: { key: "y" } } }, { label: "PATCH d" }),
  ]
}
