// Several values of wrong types in a JSON body: the decoder reports the first at its end, types with their own decoding at once.

import type { Json } from "../../../../apimachinery/object.ts"
import {
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

const core = "/api/v1/namespaces/@{ns}"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/** What the decoder finds, and what ends it. */
const found: Record<string, Json> = { labels: { a: 1 } }
const time = "yesterday"

export function endedDecodingCases(): Scenario[] {
  return [
    { name: "a time ends the decoding", steps: times() },
    { name: "an amount ends the decoding", steps: amounts() },
    { name: "a number or text ends the decoding", steps: ports() },
    { name: "part of a schema ends the decoding", steps: schemas() },
    { name: "a custom resource's metadata ends the decoding", steps: customs() },
    { name: "what is no object is patched into one", steps: patches() },
  ]
}

function both(path: string, name: string, bodies: readonly Record<string, Json>[]): RequestStep[] {
  return bodies.flatMap((body, index) => [
    post(`${path}?dryRun=All`, body, { label: `POST ${index}` }),
    put(`${path}/${name}?dryRun=All`, body, { label: `PUT ${index}` }),
  ])
}

function times(): RequestStep[] {
  const events = "/apis/events.k8s.io/v1/namespaces/@{ns}/events"
  const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
  return [
    ...both(events, "a", [
      { metadata: found, eventTime: time },
      { metadata: found, eventTime: 443 },
      { metadata: found, eventTime: {} },
      { eventTime: time, metadata: found },
      { reason: true, deprecatedFirstTimestamp: "2024-02-30T00:00:00Z" },
      { reason: true, action: 7 },
      { reason: true, regarding: [], deprecatedFirstTimestamp: true },
    ]),
    ...both(leases, "a", [
      { spec: { holderIdentity: 65_536, renewTime: time } },
      { spec: { leaseDurationSeconds: "x", renewTime: false } },
      { metadata: { ...found, creationTimestamp: time } },
      { metadata: { ...found, deletionTimestamp: 5, managedFields: [{ time }] } },
    ]),
  ]
}

function amounts(): RequestStep[] {
  const limits = `${core}/limitranges`
  const secrets = `${core}/secrets`
  return [
    ...both(limits, "a", [
      { metadata: found, spec: { limits: [{ max: { cpu: "1 Gi" } }] } },
      { metadata: found, spec: { limits: [{ max: { cpu: [] } }, { max: 7 }] } },
      { spec: { limits: [{ type: 7, max: { cpu: {} } }] } },
      { spec: { limits: { type: 7 } }, metadata: found },
    ]),
    // Bytes are read by the decoder itself.
    ...both(secrets, "a", [
      { metadata: found, data: { a: "?" } },
      { data: { a: "?", b: 7 }, metadata: found },
      { data: { a: "?" }, metadata: { creationTimestamp: time } },
    ]),
  ]
}

function ports(): RequestStep[] {
  const labels = { a: "b" }
  const made = (container: Record<string, Json>, strategy: Json = {}): Record<string, Json> => ({
    metadata: found,
    spec: { strategy, selector: { matchLabels: labels }, template: { spec: { containers: [container] } } },
  })
  return both(deployments, "a", [
    made({ name: 7, livenessProbe: { httpGet: { port: true } } }),
    made({ name: 7, ports: [{ containerPort: "x" }] }),
    made({ name: "a", livenessProbe: { tcpSocket: { port: 1.5 } }, image: [] }),
    made({}, { rollingUpdate: { maxSurge: {} } }),
    made({}, { rollingUpdate: { maxSurge: 1e10, maxUnavailable: "x" } }),
    made({ args: "x" }, []),
  ])
}

function schemas(): RequestStep[] {
  const made = (schema: Json): Record<string, Json> => ({
    metadata: found,
    spec: { versions: [{ name: 7, schema: { openAPIV3Schema: schema } }] },
  })
  return both(definitions, "a.example.com", [
    made({ type: 7, items: 7 }),
    made({ type: 7, items: { type: 7, format: 8 } }),
    made({ type: 7, additionalProperties: { type: 7 } }),
    made({ type: 7, additionalProperties: "x" }),
    made({ properties: { a: { minimum: "x", dependencies: { b: { type: 7 } } } } }),
  ])
}

function customs(): RequestStep[] {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
  const versions: Json = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }]
  const group = "ended-@{id}.example.com"
  const names = { plural: "things", kind: "Thing" }
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  const made = (metadata: Json): Record<string, Json> => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata })
  return [
    post(definitions, { metadata: { name: `things.${group}` }, spec: { group, scope: "Namespaced", names, versions } }),
    get(things, { untilCode: 200 }),
    get(things, { untilCode: 200 }),
    ...both(things, "a", [
      made({ ...found, name: "a" }),
      made({ ...found, name: "a", creationTimestamp: time }),
      made({ name: "a", generation: "x", deletionTimestamp: 7 }),
      made({ name: 7, ...found }),
    ]),
  ]
}

function patches(): RequestStep[] {
  const bodies = ["1e3", "10.0.0.1", "1.", "1e5e", "1e5.", "1.5e.", "-0", "1.50", '"x"', "true", "null", "[1e3]", "[]"]
  const maps = `${core}/configmaps`
  return [
    post(maps, { metadata: { name: "a" } }),
    ...bodies.flatMap((body) =>
      [mergePatch, strategicPatch, jsonPatch].map((type) =>
        patch(`${maps}/a?dryRun=All`, type, body, { label: `${type} ${body}` }),
      ),
    ),
    ...[...bodies, "{", '{"a":1 "b":2}', "{'a':1}"].map((body) =>
      patch(`${maps}/a?dryRun=All&fieldValidation=Ignore`, mergePatch, body, { label: `ignored ${body}` }),
    ),
    put(`${maps}/a`, { metadata: { name: "a", resourceVersion: "<a>\u2028\u0000" } }, { label: "revision" }),
    get(`${maps}?resourceVersion=%3Ca%3E%E2%80%A8%00`),
    get(`${maps}/a?resourceVersion=%3Ca%3E%E2%80%A8`),
    patch(`${maps}/a?dryRun=All`, mergePatch, { apiVersion: "a\u0000b" }, { label: "version" }),
    patch(`${maps}/a?dryRun=All`, mergePatch, { apiVersion: "v1", kind: "a\u2028<\u0007" }, { label: "kind" }),
    post(maps, { apiVersion: "a\u0000b", kind: "ConfigMap" }, { label: "POST version" }),
    post(maps, { apiVersion: "v1", kind: "a\u0000b" }, { label: "POST kind" }),
  ]
}
