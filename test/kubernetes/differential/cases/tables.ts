// Cells of built-in kinds that few objects have: values of another source, repeated conditions, letters and times that
// JavaScript treats otherwise than Go.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const apps = "/apis/apps/v1/namespaces/@{ns}"

export function tableCases(): Scenario[] {
  return [
    { name: "a table of flow schemas is sorted by precedence", steps: flowSchemas() },
    { name: "a node shows the last of its conditions in its table", steps: nodes() },
    { name: "a table of autoscalers with statuses of other sources", steps: autoscalers() },
    { name: "a table of events with odd letters", steps: events() },
    { name: "a table of revisions with odd owners", steps: revisions() },
    { name: "a table of addresses with odd parents", steps: addresses() },
    { name: "a table with times long ago and long ahead", steps: times() },
    { name: "a table of drivers without requests", steps: drivers() },
  ]
}

const table = (path: string): RequestStep => get(path, { headers: asTable, label: `TABLE ${path}` })
const ofScenario = "labelSelector=scenario%3D@{id}"
const labels = { scenario: "@{id}" }

function flowSchemas(): RequestStep[] {
  const path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
  const schema = (name: string, matchingPrecedence: number): Json => ({
    metadata: { name: `${name}-@{id}`, labels },
    spec: { matchingPrecedence, priorityLevelConfiguration: { name: "global-default" } },
  })
  return [
    post(path, schema("a", 9000)),
    post(path, schema("b", 8000)),
    post(path, schema("dd", 8500)),
    post(path, schema("c", 8500)),
    post(path, schema("e", 10000)),
    ...["a", "b", "dd", "c", "e"].map((name) => get(`${path}/${name}-@{id}`, { untilText: "Dangling" })),
    table(`${path}?${ofScenario}`),
    table(`${path}?${ofScenario}&includeObject=None`),
    table(`${path}?${ofScenario}&limit=2`),
    get(`${path}?${ofScenario}`),
  ]
}

function nodes(): RequestStep[] {
  const ready = (status: string): Json => ({ type: "Ready", status })
  const node = (name: string, conditions: Json[], more: { [key: string]: Json } = {}): Json => ({
    metadata: { name: `${name}-@{id}`, labels: { ...labels, ...more } },
    status: { conditions, addresses: [{ type: "InternalIP", address: "" }] },
  })
  return [
    post("/api/v1/nodes", node("a", [ready("True"), ready("False")])),
    post("/api/v1/nodes", node("b", [ready("False"), ready("True")])),
    post("/api/v1/nodes", node("c", [{ type: "MemoryPressure", status: "False" }])),
    post("/api/v1/nodes", node("d", [ready("")], { "kubernetes.io/role": "x", "node-role.kubernetes.io/y": "z" })),
    table(`/api/v1/nodes?${ofScenario}`),
  ]
}

function autoscalers(): RequestStep[] {
  const path = "/apis/autoscaling/v2/namespaces/@{ns}/horizontalpodautoscalers"
  const metric = { name: "m" }
  const object = { apiVersion: "v1", kind: "Pod", name: "p" }
  const specs: { [key: string]: Json } = {
    resource: {
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
    },
    amount: { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1500m" } } },
    container: {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "c", target: { type: "Utilization", averageUtilization: 50 } },
    },
    "container-amount": {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "c", target: { type: "AverageValue", averageValue: "1" } },
    },
    pods: { type: "Pods", pods: { metric, target: { type: "AverageValue", averageValue: "1" } } },
    object: { type: "Object", object: { metric, describedObject: object, target: { type: "Value", value: "1" } } },
    "object-average": {
      type: "Object",
      object: { metric, describedObject: object, target: { type: "AverageValue", averageValue: "1" } },
    },
    external: { type: "External", external: { metric, target: { type: "Value", value: "1" } } },
    "external-average": { type: "External", external: { metric, target: { type: "AverageValue", averageValue: "1" } } },
  }
  const currents: Json[] = [{}, { averageUtilization: 7 }, { averageValue: "7" }, { value: "7" }]
  const sources = (current: Json): Json[] => [
    { type: "Resource", resource: { name: "cpu", current } },
    { type: "ContainerResource", containerResource: { name: "cpu", container: "c", current } },
    { type: "Pods", pods: { metric, current } },
    { type: "Object", object: { metric, describedObject: object, current } },
    { type: "External", external: { metric, current } },
  ]
  return Object.entries(specs).flatMap(([name, spec]) => [
    post(path, {
      metadata: { name },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        maxReplicas: 1,
        metrics: [spec],
      },
    }),
    ...currents
      .flatMap(sources)
      .flatMap((current) => [
        patch(
          `${path}/${name}/status`,
          mergePatch,
          { status: { currentMetrics: [current], currentReplicas: 1, desiredReplicas: 1, conditions: [] } },
          { headers: asTable, label: `STATUS of ${name}: ${JSON.stringify(current)}` },
        ),
      ]),
    table(`/apis/autoscaling/v1/namespaces/@{ns}/horizontalpodautoscalers/${name}`),
  ])
}

function events(): RequestStep[] {
  const event = (name: string, more: { [key: string]: Json }): RequestStep =>
    post(
      `${core}/events`,
      { metadata: { name }, involvedObject: { kind: "Pod", name: "p", namespace: "@{ns}" }, ...more },
      { headers: asTable, label: `POST ${name}` },
    )
  const about = (kind: string): Json => ({ kind, name: "p", namespace: "@{ns}" })
  const texts = [
    "\u0085a\u0085",
    "\ufeffa\ufeff",
    "\u00a0a\u00a0",
    "\u2028a\u3000",
    "\u180ea",
    "\u200ba",
    "\u001ca",
    "\va\f",
    " \n",
  ]
  return [
    ...["ΟΔΟΣ", "İ", "ẞ", "ǅ", "Σ", "PodSet", "ᏸᏰ", "Ω"].map((kind, index) =>
      event(`kind-${index}`, { involvedObject: about(kind) }),
    ),
    ...texts.map((message, index) => event(`message-${index}`, { message })),
    event("count", { count: -1 }),
    event("zero", { firstTimestamp: "0001-01-01T00:00:00Z", lastTimestamp: "0001-01-01T00:00:00Z" }),
    event("nothing", { firstTimestamp: null, lastTimestamp: null, eventTime: null }),
    event("first", { firstTimestamp: "2020-01-01T00:00:00Z" }),
    event("series", { firstTimestamp: "2020-01-01T00:00:00Z", series: {} }),
    event("counted", { firstTimestamp: "2020-01-01T00:00:00Z", series: { count: 3 }, count: 5 }),
    event("reporter", { reportingComponent: "c", reportingInstance: "i", source: { host: "h" } }),
    table("/apis/events.k8s.io/v1/namespaces/@{ns}/events"),
  ]
}

function revisions(): RequestStep[] {
  const path = `${apps}/controllerrevisions`
  const owners = [
    { apiVersion: "Example.COM/v1", kind: "Thing" },
    { apiVersion: "v1", kind: "ΟΔΟΣ" },
    { apiVersion: "apps/v1", kind: "İ" },
    { apiVersion: "/v1", kind: "Thing" },
  ]
  return [
    ...owners.map((owner, index) =>
      post(path, {
        metadata: { name: `r${index}`, ownerReferences: [{ ...owner, name: "O", uid: "u", controller: true }] },
        data: {},
        revision: 9007199254740993n,
      } as Json),
    ),
    table(path),
  ]
}

function addresses(): RequestStep[] {
  const path = "/apis/networking.k8s.io/v1/ipaddresses"
  const parents = [
    { resource: "Services", name: "s" },
    { group: "Example.COM", resource: "ΟΔΟΣ", name: "S", namespace: "n" },
    { group: "example.com", resource: "things", name: "s" },
  ]
  return [
    ...parents.map((parentRef, index) =>
      post(path, {
        metadata: { name: `fd00:@{number}::${index + 1}`, labels: { ...labels } },
        spec: { parentRef },
      } as Json),
    ),
    table(`${path}?${ofScenario}`),
  ]
}

function times(): RequestStep[] {
  const path = "/apis/batch/v1/namespaces/@{ns}"
  const template = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } }
  const dates = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T01:00:00+01:00",
    "0001-01-01T00:00:01Z",
    "1600-01-01T00:00:00Z",
    "1735-01-01T00:00:00Z",
    "2400-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2016-12-31T23:59:60Z",
    "2020-01-01T00:00:00.999Z",
    "2020-01-01T1:00:00Z",
    "2020-01-01T00:00:00,5Z",
    "2020-01-01T00:00:00+24:00",
    "2020-01-01T00:00:00-23:60",
    "2020-01-01T00:00:00+25:00",
    "2020-01-01T00:00:00+01:61",
    "0000-02-29T00:00:00Z",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
  ]
  const micro = (date: string): string => date.replace(/(?<=:\d\d)(?=[Z+-])/, ".000001")
  const job = { metadata: { name: "j" }, spec: { template, suspend: true } }
  return [
    post(`${path}/cronjobs`, {
      metadata: { name: "c" },
      spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template } } },
    }),
    post(`${path}/jobs`, job),
    ...dates.flatMap((date) => [
      patch(
        `${path}/cronjobs/c/status`,
        mergePatch,
        { status: { lastScheduleTime: date } },
        { headers: asTable, label: `CRONJOB ${date}` },
      ),
      put(
        `${core}/events/seconds`,
        { metadata: { name: "seconds" }, involvedObject: { namespace: "@{ns}" }, firstTimestamp: date },
        { label: `EVENT ${date}` },
      ),
      put(
        `${core}/events/micro`,
        {
          metadata: { name: "micro" },
          involvedObject: { namespace: "@{ns}" },
          eventTime: micro(date),
          series: { lastObservedTime: micro(date) },
        },
        { label: `MICRO ${date}` },
      ),
      table(`${core}/events`),
      ...[undefined, "application/vnd.kubernetes.protobuf"].map((accept) =>
        get("/apis/events.k8s.io/v1/namespaces/@{ns}/events", accept === undefined ? {} : { headers: { accept } }),
      ),
    ]),
  ]
}

function drivers(): RequestStep[] {
  const path = "/apis/storage.k8s.io/v1/csidrivers"
  const driver = (name: string, spec: Json): RequestStep =>
    post(path, { metadata: { name: `${name}-@{id}`, labels }, spec }, { headers: asTable, label: `POST ${name}` })
  return [
    driver("none", {}),
    driver("empty", { tokenRequests: [], volumeLifecycleModes: [] }),
    driver("null", { tokenRequests: null, volumeLifecycleModes: null }),
    driver("blank", { tokenRequests: [{ audience: "" }] }),
    table(`${path}?${ofScenario}`),
  ]
}
