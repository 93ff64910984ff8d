// Bytes in JSON: base64, or a list of numbers, which Go's decoder takes for them too; and authorities that are none.

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

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

export function byteCases(): Scenario[] {
  return [
    { name: "bytes of a secret are written in many ways", steps: written(secret) },
    { name: "bytes of a config map are written in many ways", steps: written(configMap) },
    { name: "bytes of a webhook are written in many ways", steps: written(webhook) },
    { name: "a certificate is requested in many ways", steps: requested() },
    { name: "a definition without a trusted authority for its webhook", steps: distrusted() },
  ]
}

const lists: Json[] = [
  [104, 105],
  [],
  [null, 1],
  [100, 300],
  [100, -1],
  [1.5],
  [2 ** 53],
  ["a", 1],
  [[1]],
  [{}],
  [true],
]
const others: Json[] = [{}, 7, 1.5, true, "no base64!", "aGk=\n", "aGk", "", null]
const values = lists.concat(others)

interface Holder {
  kind: string
  apiVersion: string
  path: string
  name: string
  with: (bytes: Json) => Body
  /** Of the bytes, in JSON patches. */
  at: string
}

const secret: Holder = {
  kind: "Secret",
  apiVersion: "v1",
  path: `${core}/secrets`,
  name: "a",
  with: (k) => ({ data: { k } }),
  at: "/data/k",
}

const configMap: Holder = {
  ...secret,
  kind: "ConfigMap",
  path: `${core}/configmaps`,
  with: (k) => ({ binaryData: { k } }),
  at: "/binaryData/k",
}

const webhook: Holder = {
  kind: "MutatingWebhookConfiguration",
  apiVersion: "admissionregistration.k8s.io/v1",
  path: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  name: "bytes-@{id}",
  with: (caBundle) => ({
    webhooks: [
      {
        name: "a.example.com",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://a.example", caBundle },
      },
    ],
  }),
  at: "/webhooks/0/clientConfig/caBundle",
}

function written({ kind, apiVersion, path, name, with: with_, at }: Holder): RequestStep[] {
  const object = (bytes: Json, own = name): Body => ({ apiVersion, kind, metadata: { name: own }, ...with_(bytes) })
  const one = `${path}/${name}?dryRun=All`
  return [
    post(path, object("aGk=")),
    ...values.flatMap((value) => {
      const label = (verb: string): { label: string } => ({ label: `${verb} ${JSON.stringify(value)}` })
      return [
        post(`${path}?dryRun=All`, object(value, `${name}-new`), label("POST")),
        put(one, object(value), label("PUT")),
        patch(one, mergePatch, with_(value), label("merge")),
        patch(one, strategicPatch, with_(value), label("strategic merge")),
        patch(one, jsonPatch, [{ op: "add", path: at, value }], label("JSON patch")),
        patch(`${one}&fieldManager=m&force=true`, applyPatch, object(value), label("apply")),
      ]
    }),
    remove(`${path}/${name}`),
  ]
}

function requested(): RequestStep[] {
  return values.map((request) =>
    post(
      `${requests}?dryRun=All`,
      { metadata: { name: "bytes-@{id}" }, spec: { signerName: "example.com/a", usages: ["client auth"], request } },
      { label: `POST ${JSON.stringify(request)}` },
    ),
  )
}

/** A line's end, as projects ship it for an injector to replace; a block that is none; one of another type. */
const bundles = ["Cg==", "aGk="].concat(
  ["CERTIFICATE", "CERTIFICATE REQUEST"].map((type) =>
    Buffer.from(`-----BEGIN ${type}-----\naGk=\n-----END ${type}-----\n`).toString("base64"),
  ),
)

function distrusted(): RequestStep[] {
  const group = "trust@{id}.example.com"
  const name = `things.${group}`
  const converting = (caBundle: Json): Body => ({
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a.example", caBundle } },
  })
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }
  const definition = (conversion: Body): Body => ({
    metadata: { name },
    spec: { group, scope: "Cluster", names: { plural: "things", kind: "Thing" }, versions: [version], conversion },
  })
  const change = (caBundle: Json): RequestStep =>
    patch(`${definitions}/${name}?dryRun=All`, mergePatch, { spec: { conversion: converting(caBundle) } })
  return [
    ...bundles.map((bundle) => post(`${definitions}?dryRun=All`, definition(converting(bundle)))),
    post(definitions, definition(converting("Cg=="))),
    get(`/apis/${group}/v1/things`, { untilCode: 200, label: "GET before it is trusted" }),
    get(`/apis/${group}/v1`, { label: "GET what is told before it" }),
    patch(`${definitions}/${name}`, mergePatch, { spec: { conversion: { strategy: "None", webhook: null } } }),
    get(`/apis/${group}/v1`, { untilCode: 200, label: "GET what is told after it" }),
    ...bundles.map(change),
    remove(`${definitions}/${name}`),
  ]
}
