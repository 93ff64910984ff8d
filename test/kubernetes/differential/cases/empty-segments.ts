// Paths with an empty name or namespace, as programs build them from variables that are not set.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const things = "/apis/@{id}.example.com/v1/namespaces"

/** Objects without a name. */
const unnamed = [
  ...["log", "exec", "status", "eviction", "binding", "proxy", "proxy/", "proxy/x/y", "", "x"].map(
    (end) => `${core}/pods//${end}`,
  ),
  `${core}/services//status`,
  `${core}/services//proxy/x`,
  `${core}/serviceaccounts//token`,
  "/api/v1/nodes//proxy",
  "/api/v1/nodes//status",
  "/api/v1/namespaces//status",
  "/api/v1/namespaces//finalize",
  "/apis/apps/v1/namespaces/@{ns}/deployments//scale",
]

/** An escaped slash separates like any other. */
const slashed = ["a%2f", "a%2fb", "%2f", "%2fa"].flatMap((name) => [
  `${core}/pods/${name}`,
  ...["log", "exec", "status", "eviction", "proxy"].map((end) => `${core}/pods/${name}/${end}`),
  `${core}/services/${name}/proxy/x`,
  `/api/v1/nodes/${name}/proxy`,
  `/api/v1/namespaces/${name}/status`,
  `/apis/apps/v1/namespaces/@{ns}/deployments/${name}/scale`,
])

/** Objects in an empty namespace, with the names of their resources. */
const nowhere = [
  ...["configmaps", "pods", "events", "services", "nodes", "namespaces"].map((name) => `/api/v1/namespaces//${name}`),
  "/apis/rbac.authorization.k8s.io/v1/namespaces//roles",
  "/apis/apps/v1/namespaces//deployments",
  "/apis/events.k8s.io/v1/namespaces//events",
]

/** In a namespace that does not exist, which connections do not look at. */
const absent = ["exec?command=x", "attach", "portforward", "proxy", "proxy/x", "log", "status", "eviction"].map(
  (end) => `/api/v1/namespaces/absent/pods/a/${end}`,
)

export function emptySegmentCases(): Scenario[] {
  return [
    { name: "objects without a name", steps: unnamed.flatMap(everyMethod) },
    { name: "objects whose names have a slash", steps: slashed.flatMap(everyMethod) },
    { name: "objects in an empty namespace", steps: [...nowhere.flatMap(inNowhere), ...connections(), review()] },
    { name: "collections in an empty namespace", steps: nowhere.flatMap(toNowhere) },
    { name: "connections in a missing namespace", steps: absent.flatMap(everyMethod) },
    { name: "custom resources without a name or a namespace", steps: customResources() },
    ...["things", "namespaces"].map((plural) => ({
      name: `custom resources of the cluster in an empty namespace: ${plural}`,
      steps: ofCluster(plural),
    })),
  ]
}

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
const body: Json = { metadata: { name: "a" } }

function request(method: string, path: string, sent: Json = body): RequestStep {
  if (method === "PATCH") return { method, path, body: sent, contentType: mergePatch }
  return method === "POST" || method === "PUT" ? { method, path, body: sent } : { method, path }
}

const everyMethod = (path: string): RequestStep[] => methods.map((method) => request(method, path))

/** Objects without a namespace are not valid; of those in all namespaces none can be deleted. */
function toNowhere(path: string): RequestStep[] {
  const label = { "in-@{id}": "" }
  const inSome = path.replace("//", "/@{ns}/")
  return [
    ...["POST", "PUT", "PATCH", "HEAD", "OPTIONS"].map((method) => request(method, path)),
    post(path, { metadata: { name: "a", namespace: "@{ns}" } }),
    post(path, { metadata: { name: "A_" } }),
    // A service is refused for its address first (known-differences.yaml).
    ...(path.endsWith("services") ? [] : [post(path, { metadata: {} })]),
    post(path, "{"),
    remove(`${path}?labelSelector=in-@{id}`),
    remove(`${path}?labelSelector=in-@{id}&dryRun=All`),
    remove(`${path}?labelSelector=%3D%3D`),
    remove(`${path}?labelSelector=in-@{id}`, { propagationPolicy: "x" }),
    get(inSome),
    post(inSome, { metadata: { name: "a", labels: label } }),
    remove(`${path}?labelSelector=in-@{id}`),
    remove(`${path}?labelSelector=in-@{id}&dryRun=All`),
    remove(`${path}?labelSelector=in-@{id}&limit=1`),
    remove(`${path}?labelSelector=in-@{id}`, { preconditions: { uid: "x" } }),
    remove(`${inSome}/a`),
  ]
}

/** Without those to collections. */
function inNowhere(path: string): RequestStep[] {
  return [
    ...methods.flatMap((method) => [request(method, `${path}/a`), request(method, `${path}/a/status`)]),
    get(`${path}?labelSelector=a%3D@{id}`),
    get(`${path}/a?resourceVersion=x`),
    get(`${path}/a/x`),
  ]
}

function connections(): RequestStep[] {
  const ends = ["pods/a/log", "pods/a/exec", "pods/a/proxy", "pods/a/proxy/x", "services/a/proxy", "pods/a/binding"]
  return ends.flatMap((end) =>
    methods
      .filter((method) => !(end.endsWith("binding") && method === "POST"))
      .map((method) => request(method, `/api/v1/namespaces//${end}`)),
  )
}

const review = (): RequestStep =>
  post("/apis/authorization.k8s.io/v1/namespaces//localsubjectaccessreviews", {
    spec: { user: "x", resourceAttributes: { verb: "get", resource: "pods" } },
  })

function customResources(): RequestStep[] {
  const thing = { apiVersion: "@{id}.example.com/v1", kind: "Thing", metadata: { name: "a" } }
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const subresources = {
    status: {},
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  }
  const ends = ["@{ns}/things//", "@{ns}/things//status", "@{ns}/things//scale", "@{ns}/things//x", "/things/a"]
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "things.@{id}.example.com" },
      spec: {
        group: "@{id}.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, subresources, schema }],
      },
    }),
    get(`${things}/@{ns}/things`, { untilCode: 200, label: "LIST when served" }),
    ...ends.flatMap((end) => methods.map((method) => request(method, `${things}/${end}`, thing))),
    ...methods.map((method) => request(method, `${things}//things?labelSelector=none`, thing)),
  ]
}

/** Unlike built-in ones, they are where an empty namespace is named. */
function ofCluster(plural: string): RequestStep[] {
  const group = `${plural}-@{id}.example.com`
  const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const versions = [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema }]
  const places = ["", "/namespaces/", "/namespaces/@{ns}", "/namespaces/absent"]
  const paths = places.map((place) => `/apis/${group}/v1${place}/${plural}`)
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: "Cluster", names: { plural, kind: "Thing" }, versions },
    }),
    get(`/apis/${group}/v1/${plural}`, { untilCode: 200, label: "LIST when served" }),
    ...paths.flatMap((path) => [
      ...methods.map((method) => request(method, path, thing)),
      post(path, thing),
      ...methods.flatMap((method) => [request(method, `${path}/a/status`, thing), request(method, `${path}/a`, thing)]),
    ]),
  ]
}
