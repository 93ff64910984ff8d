// What shows how Go holds an object: empty lists and maps beside none, types of texts, the order of fields.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
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

const core = "/api/v1/namespaces/@{ns}"
const apps = "/apis/apps/v1/namespaces/@{ns}"

export function memoryCases(): Scenario[] {
  return [
    { name: "lists that are whole have empty maps and lists", steps: emptyInLists() },
    { name: "fields of wrong types are merged", steps: wrongTypes() },
    { name: "v1 Node or slice has nothing to give", steps: emptyAmounts() },
    { name: "finalizers are those that stay", steps: finalizers() },
    { name: "texts of types of their own are refused", steps: ownTexts() },
    { name: "times are refused", steps: times() },
    { name: "duplicate keys in raw values", steps: rawKeys() },
    { name: "a patch of an object with unknown fields", steps: unknownFields() },
    { name: "duplicate keys with different values", steps: twice() },
  ]
}

function emptyInLists(): RequestStep[] {
  const limits = (item: Json): Json => ({
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "a" },
    spec: { limits: [item] },
  })
  const path = `${core}/limitranges`
  const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/roles"
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] }
  const role = (more: { [key: string]: Json }): Json => ({ metadata: { name: "a" }, rules: [{ ...rule, ...more }] })
  const by = (at: string, manager: string, body: Json): RequestStep => put(`${at}/a?fieldManager=${manager}`, body)
  return [
    post(path, limits({ type: "Pod" })),
    by(path, "b", limits({ type: "Pod", max: {} })),
    by(path, "c", limits({ type: "Pod" })),
    by(path, "d", limits({ type: "Pod", max: { cpu: "1" } })),
    by(path, "e", limits({ type: "Pod", max: { cpu: "1" }, min: {} })),
    patch(`${path}/a?fieldManager=f`, applyPatch, limits({ type: "Pod", max: { cpu: "1" } }), { label: "APPLY" }),
    by(path, "g", limits({ type: "Pod", max: { cpu: "1" }, min: {} })),
    patch(`${path}/a?fieldManager=f`, applyPatch, limits({ type: "Pod" }), { label: "APPLY less" }),
    post(roles, role({})),
    by(roles, "b", role({ resourceNames: [] })),
    by(roles, "c", role({ nonResourceURLs: [], resourceNames: [] })),
    by(roles, "d", role({})),
  ]
}

/** Of several that are of another type the first field of Go's struct is told, in whatever order they are given. */
function wrongTypes(): RequestStep[] {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
  const times = { renewTime: "2024-01-02T03:04:05.6789012Z", acquireTime: "yesterday" }
  const ends = { terminationGracePeriodSeconds: 2 ** 40, activeDeadlineSeconds: "x", restartPolicy: 1 }
  const applied = (apiVersion: string, kind: string, spec: Json): Json => ({
    apiVersion,
    kind,
    metadata: { name: "w" },
    spec,
  })
  return [
    patch(`${leases}/w?fieldManager=a`, applyPatch, applied("coordination.k8s.io/v1", "Lease", times)),
    post(leases, { metadata: { name: "w" } }),
    patch(`${leases}/w`, strategicPatch, { spec: times }),
    post(`${core}/pods`, { metadata: { name: "w" }, spec: { containers: [{ name: "c", image: "i" }] } }),
    patch(`${core}/pods/w`, strategicPatch, { spec: ends }, { label: "STRATEGIC pod" }),
    patch(
      `${core}/pods/w`,
      strategicPatch,
      { spec: { ...ends, containers: [{ name: "c", tty: 1, image: 2, command: "x" }] } },
      { label: "STRATEGIC container" },
    ),
    patch(
      `${core}/pods/w`,
      strategicPatch,
      { status: { phase: 1 }, spec: { hostname: 1 }, metadata: { generation: "x", uid: 1 } },
      { label: "STRATEGIC everything" },
    ),
  ]
}

function emptyAmounts(): RequestStep[] {
  const node = (status: Json): Json => ({ metadata: { name: "n@{id}" }, status })
  return [
    post("/apis/resource.k8s.io/v1/resourceslices?dryRun=All", { spec: { devices: [], sharedCounters: [] } }),
    post("/api/v1/nodes?dryRun=All", node({ capacity: { cpu: "1" } })),
    post("/api/v1/nodes?dryRun=All", node({ capacity: { cpu: "1" }, allocatable: {} })),
  ].map((step, index) => ({ ...step, label: `POST ${index}` }))
}

function finalizers(): RequestStep[] {
  const maps = `${core}/configmaps`
  return [
    ["foregroundDeletion", "example.com/a"],
    ["orphan", "example.com/a"],
    ["example.com/a", "foregroundDeletion", "example.com/b"],
  ].flatMap((held, index) => [
    post(maps, { metadata: { name: `m${index}`, finalizers: held } }),
    remove(`${maps}/m${index}?dryRun=All`, { propagationPolicy: "Orphan" }),
    remove(`${maps}/m${index}`, {}),
  ])
}

const markup = "<a&b>\u2028"

function ownTexts(): RequestStep[] {
  const selector = { matchExpressions: [{ key: "a", operator: markup }] }
  const pods = `${core}/pods`
  const spec = { containers: [{ name: "main", image: "busybox" }] }
  const term = {
    matchExpressions: [{ key: "a", operator: markup }],
    matchFields: [{ key: "metadata.name", operator: markup }],
  }
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
  const constraints = [{ distinctAttribute: "a\u0000b" }, { matchAttribute: markup }]
  const claims = "/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaims"
  const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
  return [
    post(`${apps}/deployments?dryRun=All`, { metadata: { name: "a" }, spec: { selector } }),
    post(`${pods}?dryRun=All`, { metadata: { name: "a" }, spec: { ...spec, affinity: { nodeAffinity } } }),
    post(`${claims}?dryRun=All`, { metadata: { name: "a" }, spec: { devices: { constraints } } }),
    post(pods, { metadata: { name: "a" }, spec }),
    patch(`${pods}/a?fieldManager=b`, applyPatch, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", uid: markup },
    }),
    put(`${pods}/a/status`, {
      metadata: { name: "a" },
      status: { resourceClaimStatuses: [{ name: "a", resourceClaimName: markup }] },
    }),
    post(`${apps}/controllerrevisions`, { metadata: { name: "a" }, data: {} }),
    put(`${apps}/controllerrevisions/a`, { metadata: { name: "a" }, data: "a\u0000<" }),
    post(`${requests}?dryRun=All`, { metadata: { name: "a/b" } }),
    post(`${requests}?dryRun=All`, { metadata: { generateName: "a/gen-" } }),
  ].map((step, index) => ({ ...step, label: `${index} ${step.method}` }))
}

function times(): RequestStep[] {
  const events = "/apis/events.k8s.io/v1/namespaces/@{ns}/events?dryRun=All"
  return [markup, "line\nbreak", '"quoted\\"', "ü"].flatMap((text) => [
    post(events, { metadata: { name: "a" }, eventTime: text }, { label: `microseconds ${text}` }),
    post(
      `${core}/configmaps?dryRun=All`,
      { metadata: { name: "a", creationTimestamp: text } },
      { label: `seconds ${text}` },
    ),
  ])
}

function rawKeys(): RequestStep[] {
  const path = `${apps}/controllerrevisions?dryRun=All`
  const head = '{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"revision":1,'
  const schemas = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
  const version = (schema: string): string =>
    `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.r@{id}.example.com"},"spec":{"group":"r@{id}.example.com","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`
  const texts: [string, string][] = [
    [path, `${head}"data":{"b":1,"b":2}}`],
    [path, `${head}"data":{"spec":{"b":null,"b":{"a":null}}}}`],
    [path, `${head}"data":{"a":1},"data":{"b":1}}`],
    [schemas, version('{"type":"object","properties":{"a":{"type":"object","default":{"b":1,"b":2}}}}')],
    [
      schemas,
      version('{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","type":"string"}}}}'),
    ],
    [schemas, version('{"type":"object","properties":{"a":{"type":"string","type":"string"}}}')],
  ]
  return texts.map(([at, text], index) => ({
    ...post(at, text),
    contentType: "application/json",
    label: `POST ${index}`,
  }))
}

function unknownFields(): RequestStep[] {
  const templates = `${core}/podtemplates`
  const labels = { z: "1", a: "1" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "busybox" }] } }
  const odd = { z: 1, a: { y: 1, b: 2 } }
  const copied = { op: "copy", from: "/metadata", path: "/template/spec" }
  const operations: Json[][] = [
    [copied],
    [{ op: "add", path: "/metadata/labels/b", value: "x" }, copied],
    [{ op: "test", path: "/metadata/name", value: "a" }, copied],
    [{ op: "test", path: "/template/spec/containers/0", value: {} }],
    [copied, { op: "remove", path: "/template/spec/uid" }],
    [{ op: "move", from: "/template/spec", path: "/metadata" }],
    [{ op: "add", path: "/template/spec", value: odd }],
    [
      { op: "add", path: "/template/spec", value: odd },
      { op: "remove", path: "/template/spec/z" },
    ],
    [{ op: "add", path: "/template/spec/containers/-", value: { z: 1, name: "b", a: 1 } }],
  ]
  return [
    post(templates, { metadata: { name: "a", labels, annotations: labels }, template }),
    ...operations.map((one, index) => patch(`${templates}/a?dryRun=All`, jsonPatch, one, { label: `PATCH ${index}` })),
    patch(
      `${templates}/a?dryRun=All`,
      mergePatch,
      { template: { spec: odd, q: odd }, b: 1, a: 2 },
      { label: "PATCH merge" },
    ),
    patch(
      `${templates}/a?dryRun=All`,
      mergePatch,
      {
        template: {
          spec: {
            containers: [
              { z: 1, name: "b", a: 1 },
              { y: 2, c: 1 },
            ],
          },
        },
      },
      { label: "PATCH merge, a list" },
    ),
  ]
}

function twice(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims?dryRun=All`
  const events = "/apis/events.k8s.io/v1/namespaces/@{ns}/events?dryRun=All"
  const head = '"metadata":{"name":"a"}'
  const claim = (amounts: string): string =>
    `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{${amounts}}}},${head}}`
  const pod = (containers: string): string =>
    `{${head},"spec":{"containers":[{"name":"a","image":"b"}],"containers":${containers}}}`
  const texts: [string, string][] = [
    [claims, claim('"storage":"other","storage":"1Gi"')],
    [claims, claim('"storage":"1Gi","storage":"other"')],
    [claims, claim('"storage":{},"storage":"1Gi"')],
    [events, `{${head},"eventTime":"other","eventTime":"2024-01-02T03:04:05.678901Z"}`],
    [`${core}/secrets?dryRun=All`, `{${head},"data":{"a":"!","a":"YQ=="}}`],
    [`${core}/configmaps?dryRun=All`, `{${head},"data":{"a":"1","b":"2"},"data":{"b":"3","c":"4"}}`],
    [`${core}/configmaps?dryRun=All`, `{"metadata":{"labels":{"a":"b"}},${head},"data":{"a":{},"a":"b"},"data":{}}`],
    [`${core}/pods?dryRun=All`, pod('[{"command":["a"]}]')],
    [`${core}/pods?dryRun=All`, pod('[{"name":"c"},{"name":"d","image":"e"}]')],
    [
      `${core}/pods?dryRun=All`,
      `{${head},"spec":{"nodeSelector":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}`,
    ],
  ]
  return texts.flatMap(([path, text], index) =>
    ["Warn", "Strict"].map((validation) => ({
      ...post(`${path}&fieldValidation=${validation}`, text),
      contentType: "application/json",
      label: `POST ${index}, ${validation}`,
    })),
  )
}
