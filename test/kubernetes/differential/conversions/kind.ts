// The kind of these scenarios: a definition with versions between which the webhook converts, and its objects.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep } from "../scenario.ts"
import { definitions } from "../cases/things.ts"

export interface Webhook {
  url: string
  caBundle: string
}

export const group = "c@{id}.example.com"
export const definitionPath = `${definitions}/things.${group}`
const things = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`

export const [v1, v2, v3] = [things("v1"), things("v2"), things("v3")]
export const as = (manager: string): string => `?fieldManager=${manager}`

const text = { type: "string" }
const common = {
  mode: { type: "object", additionalProperties: text },
  asked: text,
  stamp: text,
  ready: { type: "boolean" },
}
const fields: Readonly<Record<string, object>> = {
  v1: { ...common, hostPort: text },
  v2: {
    ...common,
    host: { ...text, pattern: "^[a-z]*$" },
    port: text,
    extra: text,
    preset: { ...text, default: "v2" },
  },
  v3: { ...common, host: text, port: text, extra: text },
}

/** `more`: by version, what differs from the usual. */
export const versionsOf = (storage: string, more: Readonly<Record<string, object>> = {}): Json =>
  Object.entries(fields).map(([name, properties]) => ({
    name,
    served: true,
    storage: name === storage,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties },
          status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    },
    ...more[name],
  })) as unknown as Json

const both = { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }

/** A number of replicas instead of the usual fields, which are kept; and of the subresources, v3 has none. */
export const scaledVersions = (replicas = "replicas"): Json => {
  const kept = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
  const spec = { ...kept, properties: { [replicas]: { type: "integer" } } }
  const schema = { openAPIV3Schema: { type: "object", properties: { spec, status: kept } } }
  return versionsOf("v1", { v1: { subresources: both, schema }, v2: { subresources: both, schema }, v3: { schema } })
}

export const conversionBy = ({ url, caBundle }: Webhook, more: object = {}): Json =>
  ({
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: `${url}/convert`, caBundle }, ...more },
  }) as unknown as Json

function definitionBy(webhook: Webhook, spec: object = {}): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing" },
      versions: versionsOf("v1"),
      conversion: conversionBy(webhook),
      ...spec,
    },
  } as unknown as Json
}

export const servedBy = (webhook: Webhook, spec: object = {}): RequestStep[] => [
  post(definitions, definitionBy(webhook, spec), { label: "WRITE definition" }),
  get(things("v1"), { untilCode: 200, label: "LIST when served" }),
]

export const thing = (version: string, name: string, spec: Json, more: object = {}): Json =>
  ({ apiVersion: `${group}/${version}`, kind: "Thing", metadata: { name }, spec, ...more }) as unknown as Json
