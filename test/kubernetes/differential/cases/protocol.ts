// HTTP itself: media types, encodings, versions of one kind, server-side apply.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"

export function protocolCases(): Scenario[] {
  return [
    { name: "the Accept header determines the form of a response", steps: accepts() },
    { name: "the Content-Type header determines the form of a body", steps: bodies() },
    { name: "a body's media type has parameters, capitals and lists", steps: mediaTypes() },
    { name: "requests with timeouts", steps: timeouts() },
    { name: "what is never stored has no table", steps: reviews() },
    { name: "an object is applied by several managers", steps: applied() },
    { name: "events are one thing in two groups", steps: events() },
    { name: "horizontal pod autoscalers are one thing in two versions", steps: autoscalers() },
  ]
}

function accepts(): RequestStep[] {
  const types = [
    "*/*",
    "application/*",
    "application/json",
    "application/json;charset=utf-8",
    "application/json;q=0.5,application/yaml;q=0.9",
    "application/json\t;q=0.5",
    "text/html,application/xhtml+xml,*/*;q=0.8",
    "text/plain",
    "bogus",
    "",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=Table;v=v9;g=meta.k8s.io",
    "application/json;as=Bogus;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;stream=watch",
  ]
  return [
    post(maps, { metadata: { name: "a" } }),
    ...types.flatMap((accept) => [
      get(`${maps}/a`, { headers: { accept }, label: `GET as ${accept}` }),
      get(maps, { headers: { accept }, label: `LIST as ${accept}` }),
    ]),
    get(`${maps}/a?pretty=1`, { label: "GET pretty" }),
    { method: "HEAD", path: `${maps}/a` },
    { method: "OPTIONS", path: maps },
    { method: "TRACE", path: maps },
  ]
}

function bodies(): RequestStep[] {
  const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  a: b\n"
  return [
    post(maps, yaml, { contentType: "application/yaml", label: "POST yaml" }),
    post(maps, yaml, { contentType: "application/json", label: "POST yaml as json" }),
    post(maps, "data: [", { contentType: "application/yaml", label: "POST bad yaml" }),
    post(maps, yaml, { contentType: "application/x-www-form-urlencoded", label: "POST a form" }),
    post(maps, yaml, { contentType: "bogus", label: "POST bogus type" }),
    post(maps, '{"metadata":{"name":"j"}} trailing', { label: "POST trailing" }),
    post(maps, '{"metadata":{"name":"j"}}{"metadata":{"name":"k"}}', { label: "POST two" }),
    post(maps, '{"metadata":{"name":"u"},"data":{"a":"\\ud800"}}', { label: "POST lone surrogate" }),
    post(maps, '{"metadata":{"name":"n"},"data":{"a":1}}', { label: "POST a number" }),
    post(maps, '{"metadata":{"name":"c","labels":null},"data":null}', { label: "POST nulls" }),
    ...[
      "nul",
      '{"a":tru',
      "-",
      "[-",
      "[1",
      "[1.",
      "1e",
      "[1e+",
      '["a',
      '["a\\',
      '["a\\u12',
      '{"a"',
      '{"a":',
      "{",
      "{,",
      "[,",
    ].map((text) => post(maps, text, { label: `POST ${text}` })),
    post(maps, '{"METADATA":{"name":"upper"}}', { label: "POST upper case" }),
    post(maps, '{"metadata":{"name":"p"},"data":{"__proto__":"x","constructor":"y"}}', { label: "POST prototype" }),
    post(maps, '{"metadata":{"name":"b"},"binaryData":{"a":"!!!"}}', { label: "POST no base64" }),
    post(maps, `{"metadata":{"name":"d"},"data":{"a":"${"x".repeat(1_100_000)}"}}`, { label: "POST too large data" }),
    post(maps, "[".repeat(20_000), { label: "POST deep" }),
    get(maps),
  ]
}

function applied(): RequestStep[] {
  const map = (data: Record<string, string>): { [key: string]: string | object } => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data,
  })
  const apply = (manager: string, data: Record<string, string>, more = ""): RequestStep =>
    patch(`${maps}/a?fieldManager=${manager}${more}`, applyPatch, JSON.stringify(map(data)), {
      label: `APPLY ${manager} ${JSON.stringify(data)}${more}`,
    })
  return [
    apply("one", { a: "1", b: "1" }),
    apply("one", { a: "1", b: "1" }),
    apply("two", { c: "2" }),
    apply("two", { a: "2", c: "2" }),
    apply("two", { a: "2", c: "2" }, "&force=true"),
    apply("one", { b: "1" }),
    apply("one", {}),
    patch(`${maps}/a`, applyPatch, map({}) as never, { label: "APPLY without manager" }),
    patch(`${maps}/a?fieldManager=x`, applyPatch, "{}", { label: "APPLY nothing" }),
    patch(`${maps}/a?fieldManager=x`, applyPatch, "bogus: [", { label: "APPLY bad yaml" }),
    patch(`${maps}/a?fieldManager=x&force=bogus`, applyPatch, JSON.stringify(map({})), { label: "APPLY bogus force" }),
    patch(`${maps}/b?fieldManager=x`, applyPatch, JSON.stringify(map({})), { label: "APPLY other name" }),
    patch(`${maps}/a?force=true`, mergePatch, {}, { label: "PATCH merge with force" }),
    patch(
      `${deployments}/d?fieldManager=one`,
      applyPatch,
      JSON.stringify({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: "d" } },
          template: {
            metadata: { labels: { app: "d" } },
            spec: {
              containers: [{ name: "a", image: "x", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }],
            },
          },
        },
      }),
      { label: "APPLY deployment" },
    ),
    patch(`${deployments}/d/scale?fieldManager=two`, mergePatch, { spec: { replicas: 3 } }),
    patch(
      `${deployments}/d?fieldManager=two`,
      applyPatch,
      JSON.stringify({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          replicas: 5,
          template: {
            spec: {
              containers: [
                { name: "a", image: "y" },
                { name: "b", image: "z" },
              ],
            },
          },
        },
      }),
      { label: "APPLY deployment, conflicting" },
    ),
    get(`${deployments}/d`),
  ]
}

function events(): RequestStep[] {
  const core = "/api/v1/namespaces/@{ns}/events"
  const group = "/apis/events.k8s.io/v1/namespaces/@{ns}/events"
  return [
    post(core, {
      metadata: { name: "a" },
      involvedObject: { kind: "Pod", namespace: "@{ns}", name: "p" },
      reason: "Because",
      message: "m",
      source: { component: "c" },
      firstTimestamp: "2024-01-02T03:04:05Z",
      lastTimestamp: "2024-01-02T03:04:05Z",
      count: 1,
      type: "Normal",
    }),
    get(`${group}/a`),
    post(group, {
      metadata: { name: "b" },
      eventTime: "2024-01-02T03:04:05.678901Z",
      reportingController: "example.com/c",
      reportingInstance: "i",
      action: "Act",
      reason: "Because",
      type: "Warning",
      regarding: { kind: "Pod", namespace: "@{ns}", name: "p" },
      note: "n",
      series: { count: 2, lastObservedTime: "2024-01-02T03:04:05.678901Z" },
    }),
    get(`${core}/b`),
    get(`${core}?fieldSelector=involvedObject.name%3Dp,type%3DWarning`),
    get(`${group}?fieldSelector=regarding.name%3Dp`),
    get(core, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }, label: "LIST core table" }),
    get(group, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }, label: "LIST group table" }),
    patch(`${group}/b`, mergePatch, { note: "changed" }),
    patch(`${group}/b`, mergePatch, { series: { count: 3 } }),
    patch(`${core}/b`, mergePatch, { message: "changed" }),
    put(`${core}/new`, { metadata: { name: "new" }, involvedObject: { namespace: "@{ns}" } }),
  ]
}

function autoscalers(): RequestStep[] {
  const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" }
  return [
    post(path("v1"), {
      metadata: { name: "one" },
      spec: { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 70 },
    }),
    get(`${path("v2")}/one`),
    post(path("v2"), {
      metadata: { name: "two" },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: target,
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
          { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1" } } },
        ],
        behavior: { scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
      },
    }),
    get(`${path("v1")}/two`),
    patch(`${path("v1")}/two`, mergePatch, { spec: { maxReplicas: 5 } }),
    get(`${path("v2")}/two`, { label: "GET v2 after v1 changed it" }),
    patch(`${path("v1")}/one`, mergePatch, { spec: { targetCPUUtilizationPercentage: 50 } }),
    get(`${path("v2")}/one`, { label: "GET v2 after v1 changed cpu" }),
    get(path("v1")),
    get(path("v2")),
  ]
}

function mediaTypes(): RequestStep[] {
  const json = ["", ";", ";;", ";x", ";x=", "; charset=utf-8", ';charset="latin1"', ";a=b;c=d", ",application/yaml"]
  const patches = ["", ";", ";;", ";x", " ;x", "\t;x", "\t,application/json", ";charset=utf-8", ",application/json"]
  const types = [
    ...json.map((more) => `application/json${more}`),
    "APPLICATION/JSON",
    "application/json\t;a=b",
    "text/json",
    "*/*",
    "application/*",
  ]
  const merges = patches.map((more) => `${mergePatch}${more}`)
  return [
    ...types.map((type) => post(`${maps}?dryRun=All`, { metadata: { name: "a" } }, { contentType: type, label: type })),
    ...[...merges, mergePatch.toUpperCase(), "application/json", "*/*"].map((type) =>
      patch(`${maps}/a`, type, {}, { label: `PATCH ${type}` }),
    ),
  ]
}

function timeouts(): RequestStep[] {
  // Those of which something can be done suffice on a busy machine.
  const times = ["1ns", "1", "30s", "0", "-1s", "1h", "x", "1x", "1h2", "100000h", "30.5s", ".5m", "1s1"]
  return times.flatMap((time) => [
    get(`${maps}?timeout=${time}`),
    post(`${maps}?dryRun=All&timeout=${time}`, { metadata: { name: "a" } }),
  ])
}

function reviews(): RequestStep[] {
  const bodies: [string, Json][] = [
    ["authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: { resourceAttributes: { verb: "get" } } }],
    ["authorization.k8s.io/v1/subjectaccessreviews", { spec: { user: "u", resourceAttributes: { verb: "get" } } }],
    [
      "authorization.k8s.io/v1/namespaces/@{ns}/localsubjectaccessreviews",
      { spec: { user: "u", resourceAttributes: { verb: "get", namespace: "@{ns}" } } },
    ],
    ["authorization.k8s.io/v1/subjectaccessreviews", {}],
    ["authentication.k8s.io/v1/selfsubjectreviews", {}],
    ["authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } }],
  ]
  const forms = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
  const type = (as: string, format = "json"): string => `application/${format};as=${as};v=v1;g=meta.k8s.io`
  const accepts = [...forms.map((as) => type(as)), `${type("Table")},application/json`, type("Table", "yaml")]
  const rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
  const core = "/api/v1/namespaces/@{ns}"
  return [
    post(`${core}/pods`, { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } }),
    ...accepts.map((accept) =>
      post(
        `${core}/bindings?dryRun=All`,
        { metadata: { name: "a" }, target: { name: "n" } },
        { headers: { accept }, label: `POST binding as ${accept}` },
      ),
    ),
    post(rules, { spec: { namespace: "@{ns}" } }, { headers: { accept: type("Table") }, label: "POST rules as Table" }),
    ...bodies.flatMap(([path, body]) =>
      accepts.map((accept) => post(`/apis/${path}`, body, { headers: { accept }, label: `POST ${path} as ${accept}` })),
    ),
  ]
}
