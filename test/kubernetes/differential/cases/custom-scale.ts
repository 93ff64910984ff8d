// The scale subresource of custom resources: every form an answer can have, numbers that are none, and what it does not do.

import type { Json } from "../../../../apimachinery/object.ts"
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
  type Scenario,
  strategicPatch,
} from "../scenario.ts"
import { group, list, made, scale, wanted } from "./scaled-things.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"

export function customScaleCases(): Scenario[] {
  return [
    { name: "the scale of a custom resource in every form", steps: [...made(), ...forms()] },
    { name: "a custom resource's scale takes what is a number", steps: [...made(), ...numbers(), ...others()] },
    { name: "a custom resource's selector is no text", steps: [...made(), ...selectors()] },
    { name: "a custom resource's scale is written in other ways", steps: [...made(), ...otherWays()] },
    { name: "a custom resource's scale of a group that is gone is refused", steps: [...made(), ...goneVersions()] },
    { name: "what a custom resource is refused for first", steps: [...made(), ...orders()] },
    {
      name: "a custom resource is read at a revision that is not there yet",
      steps: [...made(), ...future(list), get(`${scale}?${never}`), get(`${list}/absent?${never}`)],
    },
    {
      name: "a ConfigMap is read at a revision that is not there yet",
      steps: [post(maps, { metadata: { name: "a" } }), ...future(maps)],
    },
  ]
}

function forms(): RequestStep[] {
  const accepted = [
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/yaml",
    "text/plain",
  ]
  return [
    ...accepted.flatMap((accept) => [
      get(scale, { headers: { accept }, label: `GET ${accept}` }),
      put(`${scale}?dryRun=All`, wanted(4), { headers: { accept }, label: `PUT ${accept}` }),
      patch(
        `${scale}?dryRun=All`,
        mergePatch,
        { spec: { replicas: 4 } },
        { headers: { accept }, label: `PATCH ${accept}` },
      ),
    ]),
    ...["zero", "none", "absent"].flatMap((name) => [
      get(`${list}/${name}/scale`),
      get(`${list}/${name}/scale`, { headers: { accept: accepted[0] ?? "" }, label: `GET table of ${name}` }),
    ]),
  ]
}

function numbers(): RequestStep[] {
  return [
    ...[-1, 0, null, undefined, 5].map((replicas) =>
      put(scale, wanted(replicas), { label: `PUT ${String(replicas)}` }),
    ),
    ...[-1, 0, null, "x", 1.5, 2 ** 31, 6].map((replicas) =>
      patch(scale, mergePatch, { spec: { replicas } }, { label: `PATCH ${String(replicas)}` }),
    ),
    ...["Strict", "Warn", "Ignore", "Bogus"].map((validation) =>
      patch(
        `${scale}?fieldValidation=${validation}`,
        mergePatch,
        { spec: { replicas: 5, x: 1 } },
        {
          label: `PATCH unknown, ${validation}`,
        },
      ),
    ),
  ]
}

/** A status that is replaced by JSON Patch is kept as it is given: null is not nothing. */
function selectors(): RequestStep[] {
  const values: Json[] = [null, 1, {}, "", "("]
  return values.flatMap((selected, index) => [
    patch(`${list}/a/status`, jsonPatch, [{ op: "add", path: "/status", value: { selected } }], {
      label: `PATCH status ${index}`,
    }),
    patch(`${list}/a?dryRun=All`, jsonPatch, [{ op: "add", path: "/status", value: { n: null, selected } }], {
      label: `PATCH ${index}`,
    }),
    patch(
      `${list}/b?fieldManager=one&dryRun=All`,
      applyPatch,
      { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "b" }, status: { selected } },
      { label: `APPLY ${index}` },
    ),
    get(scale, { label: `GET scale ${index}` }),
  ])
}

function others(): RequestStep[] {
  return [
    put(scale, wanted(1, { name: "b" }), { label: "PUT another name" }),
    put(scale, wanted(1, { resourceVersion: "1" }), { label: "PUT old revision" }),
    put(scale, wanted(1, { uid: "x" }), { label: "PUT another uid" }),
    put(scale, wanted(1, { labels: { q: "r" } }), { label: "PUT labels" }),
    put(`${list}/absent/scale`, wanted(1, { name: "absent" })),
    put(`${list}/none/scale`, wanted(1, { name: "none" })),
    post(scale, wanted(1)),
    remove(scale),
    post(`${list}/a/status`, wanted(1)),
    remove(`${list}/a/status`),
    get(`${list}/a`),
  ]
}

/** What is no Scale, encodings and patch types beside JSON's. */
function otherWays(): RequestStep[] {
  const protobuf = { group: "autoscaling", version: "v1", kind: "Scale" }
  const asProtobuf = { accept: "application/vnd.kubernetes.protobuf" }
  const bodies: readonly (readonly [string, Json])[] = [
    ["text as replicas", wanted("x")],
    ["a fraction", wanted(1.5)],
    ["too many", wanted(2 ** 31)],
    ["a list as spec", { ...(wanted(1) as object), spec: [] }],
    ["a text as spec", { ...(wanted(1) as object), spec: "x" }],
    ["no spec", { ...(wanted(1) as object), spec: null }],
    ["a text as metadata", { ...(wanted(1) as object), metadata: "x" }],
    ["a number as name", wanted(1, { name: 5 })],
    ["a bad status", { ...(wanted(1) as object), status: { replicas: "x" } }],
    ["another kind", { ...(wanted(1) as object), kind: "Thing", apiVersion: `${group}/v1` }],
    ["another version", { ...(wanted(1) as object), apiVersion: "autoscaling/v2" }],
    ["extensions", { ...(wanted(1) as object), apiVersion: "extensions/v1beta1" }],
    ["no kind", { metadata: { name: "a" }, spec: { replicas: 1 } }],
    ["unknown fields", { ...(wanted(1) as object), bogus: 1 }],
    ["nothing", {}],
    ["null", null],
    ["a list", []],
    ["no JSON", "{"],
    ["an empty text", ""],
  ]
  const validations = ["", "&fieldValidation=Strict", "&fieldValidation=Warn"]
  const dry = `${scale}?dryRun=All`
  return [
    get(scale, { headers: asProtobuf, label: "GET protobuf" }),
    get(scale, { headers: { accept: `${asProtobuf.accept}, application/json` }, label: "GET protobuf or JSON" }),
    put(dry, wanted(4), { protobuf, label: "PUT protobuf" }),
    put(dry, wanted(4), { headers: asProtobuf, label: "PUT JSON, wanting protobuf" }),
    put(dry, wanted(4), { contentType: "text/plain", label: "PUT plain text" }),
    put(dry, JSON.stringify(wanted(4)), { contentType: "application/yaml", label: "PUT yaml" }),
    ...bodies.flatMap(([label, body]) =>
      validations.map((more) => put(`${dry}${more}`, body, { label: `PUT ${label}${more}` })),
    ),
    ...bodies.map(([label, body]) => patch(dry, mergePatch, body, { label: `MERGE ${label}` })),
    ...bodies.map(([label, body]) =>
      patch(`${dry}&fieldManager=x`, applyPatch, typeof body === "string" ? body : JSON.stringify(body), {
        label: `APPLY ${label}`,
      }),
    ),
    patch(`${dry}&fieldManager=x`, applyPatch, JSON.stringify(wanted(7)), { label: "APPLY" }),
    patch(dry, applyPatch, JSON.stringify(wanted(7)), { label: "APPLY by nobody" }),
    patch(`${list}/absent/scale?fieldManager=x`, applyPatch, JSON.stringify(wanted(7, { name: "absent" })), {
      label: "APPLY to what is not there",
    }),
    patch(dry, strategicPatch, { spec: { replicas: 2 } }, { label: "STRATEGIC" }),
    patch(dry, jsonPatch, [{ op: "replace", path: "/spec/replicas", value: 2 }], { label: "JSON" }),
    patch(dry, jsonPatch, [{ op: "replace", path: "/spec/replicas", value: "x" }], { label: "JSON text" }),
    patch(dry, jsonPatch, [{ op: "remove", path: "/spec/absent" }], { label: "JSON absent" }),
    patch(dry, jsonPatch, [{ op: "remove", path: "/metadata/name" }], { label: "JSON without name" }),
    patch(dry, "text/plain", "x", { label: "PATCH plain text" }),
  ]
}

function goneVersions(): RequestStep[] {
  const versions = ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2", "apps/v1"]
  const selectors = [undefined, null, { app: "x" }, "app=x", { app: 1 }]
  return versions.flatMap((apiVersion) => [
    put(scale, { ...(wanted(5) as object), apiVersion }, { label: `PUT ${apiVersion}` }),
    ...selectors.map((selector) =>
      patch(scale, mergePatch, { apiVersion, status: { selector } } as Json, {
        label: `MERGE ${apiVersion} ${JSON.stringify(selector)}`,
      }),
    ),
  ])
}

/** The type of a patch before the form of its answer, which for other bodies comes first. */
function orders(): RequestStep[] {
  const accepted = ["application/vnd.kubernetes.protobuf", "text/plain", "application/json"]
  const types = ["application/vnd.kubernetes.protobuf", strategicPatch, mergePatch, "text/plain"]
  return [scale, `${list}/a`, `${list}/absent`].flatMap((path) =>
    accepted.flatMap((accept) => [
      ...types.map((type) =>
        patch(path, type, "{", { headers: { accept }, label: `PATCH ${path} ${type}, wanting ${accept}` }),
      ),
      put(path, "{", { headers: { accept }, contentType: "text/plain", label: `PUT ${path}, wanting ${accept}` }),
    ]),
  )
}

const never = "resourceVersion=99999999999"

/** A server waits some seconds for each. */
function future(path: string): RequestStep[] {
  return [
    get(`${path}/a?${never}`),
    get(`${path}?${never}`),
    get(`${path}?${never}&resourceVersionMatch=NotOlderThan`),
    get(`${path}?${never}&resourceVersionMatch=Exact`),
    get(`${path}?${never}&limit=1`),
    get(`${path}?${never}&fieldSelector=metadata.name%3Da`),
  ]
}
