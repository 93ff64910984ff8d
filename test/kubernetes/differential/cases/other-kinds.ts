// Bodies of an unexpected kind, invalid URLs, and the same request written differently.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const core = "/api/v1/namespaces/@{ns}"
const policies = "/apis/admissionregistration.k8s.io/v1"

export function otherKindCases(): Scenario[] {
  return [
    { name: "a body of an unexpected kind", steps: bodies() },
    { name: "a webhook has a URL that is none", steps: urls() },
    { name: "a name that was to be generated is taken", steps: takenNames() },
    { name: "a claim that has a source is given one elsewhere", steps: sources() },
    { name: "a driver's tokens are the same", steps: tokens() },
    { name: "a set's selector cannot be understood", steps: selectors(), anyOrder: true },
    { name: "a limit's type is not fit for HTML", steps: limits() },
    { name: "what pods need beside themselves is less than a thousandth", steps: overheads() },
    { name: "a definition without a schema is converted", steps: conversions(), anyOrder: true },
  ]
}

function bodies(): RequestStep[] {
  const validations = ["Strict", "Warn", "Ignore"]
  const events = "/apis/events.k8s.io/v1/namespaces/@{ns}/events"
  const scalers = "/apis/autoscaling/v2/namespaces/@{ns}/horizontalpodautoscalers"
  const sent: [string, Json][] = [
    [events, { apiVersion: "v1", regarding: {}, x: 1 }],
    [events, { apiVersion: "v1", reason: 1 }],
    [events, { apiVersion: "v1", kind: "Event", reason: "a", metadata: { name: "a" } }],
    [scalers, { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", spec: { bogus: 1 } }],
    [scalers, '{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","spec":{"a":1,"a":2}}'],
    [`${core}/configmaps`, { apiVersion: "v1", kind: "Pod", bogus: 1 }],
    [`${core}/configmaps`, { apiVersion: "v1", kind: "Pod", spec: 1 }],
    [`${core}/configmaps`, { kind: "Pod", spec: 1 }],
    [`${core}/configmaps`, { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", spec: 1 }],
    [definitions, { apiVersion: "v1", kind: "Pod", spec: 1 }],
  ]
  return sent.flatMap(([path, body], index) =>
    validations.map((validation) =>
      post(`${path}?fieldValidation=${validation}`, body, { label: `POST ${index}, ${validation}` }),
    ),
  )
}

function urls(): RequestStep[] {
  const webhook = (url: string): Json => ({
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url },
  })
  const texts = [
    "https://example.com/a%zz",
    "https://example.com/a?%zz",
    "https://example.com/#%z",
    "https://exa mple.com",
    "https://example.com:a/b",
    "https://example.com:1:2/b",
    "ftp://example.com:1:2/b",
    "https://[::1/b",
    "https://[::1]:x/b",
    "https://a[b]/c",
    "https://us er@example.com",
    "https://u%zz@example.com",
    "https://u@example.com?a#b",
    "HTTPS://example.com",
    "://example.com",
    "example.com:443/a",
    "1example.com:443/a",
    "//example.com",
    "///example.com",
    "/a",
    "*",
    "",
    "a\u0000b",
    "https://exämple.com",
    "https://ex%41mple.com",
    "https://ex%c3%a4mple.com",
    "https://\u{1f600}.example.com/\u{1f600}%",
  ]
  return texts.map((text, index) =>
    post(
      `${policies}/validatingwebhookconfigurations?dryRun=All`,
      { metadata: { name: "a@{id}" }, webhooks: [webhook(text)] },
      { label: `POST ${index}: ${JSON.stringify(text)}` },
    ),
  )
}

function takenNames(): RequestStep[] {
  const metadata = { name: "a", generateName: "b" }
  const event = {
    metadata,
    eventTime: "2024-01-02T03:04:05.678901Z",
    reportingController: "example.com/a",
    reportingInstance: "a",
    action: "A",
    reason: "A",
    type: "Normal",
    regarding: { namespace: "@{ns}" },
  }
  const made: [string, Json][] = [
    ["/apis/events.k8s.io/v1/namespaces/@{ns}/events", event],
    ["/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases", { metadata }],
  ]
  return made.flatMap(([path, object]) => [post(path, object), post(path, object, { label: `POST ${path} again` })])
}

function sources(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const source = { kind: "PersistentVolumeClaim", name: "a" }
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  const elsewhere = { spec: { dataSourceRef: { ...source, namespace: "@{ns}" } } }
  return [
    post(claims, { metadata: { name: "a" }, spec: { ...spec, dataSource: source } }),
    patch(`${claims}/a`, strategicPatch, elsewhere),
    post(claims, { metadata: { name: "b" }, spec }),
    patch(`${claims}/b`, strategicPatch, elsewhere),
    get(`${claims}/b`),
  ]
}

function tokens(): RequestStep[] {
  const drivers = "/apis/storage.k8s.io/v1/csidrivers"
  const name = "d@{id}.example.com"
  const spec = { tokenRequests: [{ audience: "b" }, {}] }
  const driver = { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", spec }
  return [
    post(drivers, { metadata: { name }, spec }),
    patch(`${drivers}/${name}?fieldManager=one&force=true`, applyPatch, driver, { label: "APPLY the same" }),
    patch(
      `${drivers}/${name}?fieldManager=one&force=true`,
      applyPatch,
      { ...driver, spec: { podInfoOnMount: true } },
      { label: "APPLY another" },
    ),
  ]
}

function selectors(): RequestStep[] {
  const sets = (kind: string): string => `/apis/apps/v1/namespaces/@{ns}/${kind}`
  const template = {
    metadata: { labels: { app: "a" } },
    spec: { restartPolicy: "Never", activeDeadlineSeconds: 1, containers: [{ name: "a", image: "a" }] },
  }
  const expressions: Json[] = [[{}], [{ key: "a", operator: "Exists", values: ["b"] }]]
  return ["statefulsets", "deployments", "replicasets", "daemonsets"].flatMap((kind) =>
    expressions.map((matchExpressions, index) =>
      post(
        sets(kind),
        { metadata: { name: "a" }, spec: { selector: { matchLabels: { app: "a" }, matchExpressions }, template } },
        { label: `POST ${kind} ${index}` },
      ),
    ),
  )
}

function limits(): RequestStep[] {
  const types = ["<a>", "a<b", "&", "a&b/c"]
  return types.map((type) =>
    post(`${core}/limitranges`, { metadata: { name: "a" }, spec: { limits: [{ type }, { type }] } }, { label: type }),
  )
}

function overheads(): RequestStep[] {
  const classes = "/apis/node.k8s.io/v1/runtimeclasses"
  const object = (amount: string): Json => ({
    metadata: { name: "r@{id}" },
    handler: "a",
    overhead: { podFixed: { "example.com/a": amount, cpu: amount } },
  })
  return [
    post(classes, object("0.0001")),
    post(classes, { ...(object("1") as object), overhead: { podFixed: { cpu: "0.0001" } } }, { label: "POST cpu" }),
    put(`${classes}/r@{id}`, { ...(object("1") as object), overhead: { podFixed: { cpu: "0.0001" } } }),
  ]
}

function conversions(): RequestStep[] {
  const strategies: Json[] = [{}, { strategy: "None" }, { strategy: "Webhook" }, { strategy: "<x>" }]
  return strategies.map((conversion, index) =>
    post(
      `${definitions}?dryRun=All`,
      definitionOf("g@{id}.example.com", {}, {}, { preserveUnknownFields: true, conversion }),
      { label: `POST ${index}` },
    ),
  )
}
