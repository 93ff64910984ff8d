// Bytes that are given and empty: upstream stores them as others than none, but prints them alike in JSON. So what is read and written
// again is a change.

import type { GroupVersionKind, Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const protobuf = { accept: "application/vnd.kubernetes.protobuf" }

interface Holder extends GroupVersionKind {
  path: string
  name: string
  /** The rest of the object; `bytes`: undefined for none. */
  with: (bytes: Json | undefined) => Body
  /** In a JSON patch. */
  at: string
  /** What both servers write of it a moment later. */
  settled?: string
}

const webhook = (kind: string): Holder => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind,
  path: `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`,
  name: "empty-@{id}",
  with: (caBundle) => ({
    webhooks: [
      {
        name: "a.example.com",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://a.example", ...(caBundle === undefined ? {} : { caBundle }) },
      },
    ],
  }),
  at: "/webhooks/0/clientConfig/caBundle",
})

const map = (kind: string, field: string): Holder => ({
  group: "",
  version: "v1",
  kind,
  path: `${core}/${kind.toLowerCase()}s`,
  name: "a",
  with: (k) => (k === undefined ? {} : { [field]: { k } }),
  at: `/${field}/k`,
})

const apiService: Holder = {
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  path: "/apis/apiregistration.k8s.io/v1/apiservices",
  name: "v1.empty@{id}.example.com",
  with: (caBundle) => ({
    spec: {
      group: "empty@{id}.example.com",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { name: "s", namespace: "n" },
      ...(caBundle === undefined ? {} : { caBundle }),
    },
  }),
  at: "/spec/caBundle",
  settled: "ServiceNotFound",
}

export function emptyByteCases(): Scenario[] {
  return [
    webhook("MutatingWebhookConfiguration"),
    webhook("ValidatingWebhookConfiguration"),
    map("Secret", "data"),
    map("ConfigMap", "binaryData"),
    apiService,
  ]
    .map((holder): Scenario => ({ name: `a ${holder.kind} has bytes that are empty`, steps: written(holder) }))
    .concat(["Secret", "ConfigMap"].map(immutable))
    .concat([
      { name: "bytes of a webhook stay empty", steps: kept(webhook("ValidatingWebhookConfiguration")) },
      { name: "a secret has texts beside its bytes", steps: texts(false) },
      { name: "an immutable secret has texts beside its bytes", steps: texts(true) },
    ])
}

function written(holder: Holder): RequestStep[] {
  const { group, version, kind, path, name } = holder
  const one = `${path}/${name}`
  const object = (bytes: Json | undefined, revision?: string): Body => ({
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...(revision === undefined ? {} : { resourceVersion: revision }) },
    ...holder.with(bytes),
  })
  const current = { ...get(one), save: "now" }
  const puts = (bytes: Json | undefined, how: string, more: Partial<RequestStep> = {}): RequestStep[] => [
    { ...current, label: `GET before ${how}` },
    put(one, object(bytes, "@{now.metadata.resourceVersion}"), { label: `PUT ${how}`, ...more }),
    get(one, { headers: protobuf, label: `GET in protobuf after ${how}` }),
  ]
  const patches = (type: string, body: Json, how: string): RequestStep => patch(one, type, body, { label: how })
  return [
    post(`${path}?dryRun=All`, object(""), { label: 'POST dry ""' }),
    post(path, object(""), { label: 'POST ""' }),
    ...(holder.settled === undefined ? [] : [get(one, { untilText: holder.settled, label: "GET when settled" })]),
    get(one, { headers: protobuf, label: "GET in protobuf" }),
    ...puts("", '""'),
    ...puts(undefined, "none"),
    ...puts(undefined, "none again"),
    ...puts([], "[]"),
    ...puts(null, "null"),
    ...puts(null, "null again"),
    ...puts("", '"" again'),
    ...puts("", '"" in protobuf', { protobuf: { group, version, kind }, contentType: protobuf.accept }),
    ...puts(null, "null once more"),
    patches(mergePatch, { metadata: { labels: { a: "b" } } }, "MERGE a label"),
    patches(mergePatch, holder.with(""), 'MERGE ""'),
    patches(mergePatch, holder.with(""), 'MERGE "" again'),
    patches(mergePatch, { metadata: { labels: { a: "b" } } }, "MERGE the label again"),
    patches(jsonPatch, [{ op: "add", path: holder.at, value: null }], "JSON null"),
    patches(jsonPatch, [{ op: "add", path: holder.at, value: null }], "JSON null again"),
    patches(jsonPatch, [{ op: "add", path: holder.at, value: "" }], 'JSON ""'),
    patches(strategicPatch, holder.with(""), 'STRATEGIC ""'),
    patches(strategicPatch, { metadata: { labels: { a: "c" } } }, "STRATEGIC a label"),
    ...["", "", null, null].map((bytes, index) =>
      patch(`${one}?fieldManager=m&force=true`, applyPatch, object(bytes), {
        label: `APPLY ${JSON.stringify(bytes)} ${index}`,
      }),
    ),
    { method: "DELETE", path: one },
  ]
}

/** By what does not decode the object: an apply that changes nothing, and a deletion that waits. */
function kept({ group, version, kind, path, name, with: bytes }: Holder): RequestStep[] {
  const one = `${path}/${name}`
  const type = { apiVersion: `${group}/${version}`, kind }
  const metadata = { name, labels: { a: "b" }, finalizers: ["example.com/f"] }
  const read = (when: string): RequestStep => get(one, { headers: protobuf, label: `GET in protobuf ${when}` })
  const applied = (when: string): RequestStep[] => [
    patch(
      `${one}?fieldManager=n`,
      applyPatch,
      { ...type, metadata: { name, labels: { a: "b" } } },
      {
        label: `APPLY a label ${when}`,
      },
    ),
    read(`after an apply ${when}`),
  ]
  const puts = (when: string, given: Json | undefined): RequestStep[] => [
    { ...get(one), save: "now", label: `GET before ${when}` },
    put(
      one,
      { ...type, metadata: { ...metadata, resourceVersion: "@{now.metadata.resourceVersion}" }, ...bytes(given) },
      {
        label: `PUT ${when}`,
      },
    ),
  ]
  return [
    post(path, { ...type, metadata: { name, finalizers: metadata.finalizers }, ...bytes("") }),
    ...applied("that changes something"),
    ...puts("empty ones", ""),
    ...applied("that changes nothing"),
    { method: "DELETE", path: one },
    read("after the deletion"),
    ...puts("the same", ""),
    ...puts("none", undefined),
    ...puts("empty ones again", ""),
    ...applied("at the end"),
    patch(one, mergePatch, { metadata: { finalizers: null } }, { label: "PATCH finalizers" }),
  ]
}

/** Texts become bytes when the object is decoded. */
function texts(immutable: boolean): RequestStep[] {
  const one = `${core}/secrets/a`
  const of = (data: Json, stringData: Json): Body => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a" },
    ...(immutable ? { immutable } : {}),
    data,
    stringData,
  })
  const given: [data: Json, stringData: Json][] = [
    [{ k: null }, { a: "b" }],
    [{ k: null }, { a: "b" }],
    [{ k: "" }, { a: "b" }],
    [{ k: "" }, { a: "b" }],
    [{ k: null }, { a: "b", k: "" }],
    [{ k: null }, { a: "b", k: "x" }],
    [{ k: null }, {}],
    [{}, { k: null }],
    [{}, {}],
    [null, null],
  ]
  return [
    post(`${core}/secrets`, of({ k: null }, { a: "b" })),
    ...given.flatMap(([data, stringData], index) => [
      put(one, of(data, stringData), { label: `PUT ${index}` }),
      get(one, { headers: protobuf, label: `GET in protobuf ${index}` }),
      patch(`${one}?fieldManager=m&force=true`, applyPatch, of(data, stringData), { label: `APPLY ${index}` }),
    ]),
  ]
}

function immutable(kind: string): Scenario {
  const holder = map(kind, kind === "Secret" ? "data" : "binaryData")
  const { path, name } = holder
  const object = (bytes: Json): Body => ({ metadata: { name }, immutable: true, ...holder.with(bytes) })
  const steps = ["", null, "aGk="].flatMap((first) => [
    post(path, object(first), { label: `POST ${JSON.stringify(first)}` }),
    ...["", null, []].map((bytes) =>
      put(`${path}/${name}`, object(bytes), {
        label: `PUT ${JSON.stringify(bytes)} after ${JSON.stringify(first)}`,
      }),
    ),
    patch(`${path}/${name}`, mergePatch, { metadata: { labels: { a: "b" } } }, { label: `LABEL ${String(first)}` }),
    { method: "DELETE", path: `${path}/${name}`, label: `DELETE ${String(first)}` },
  ])
  return { name: `bytes of an immutable ${kind} are empty`, steps }
}
