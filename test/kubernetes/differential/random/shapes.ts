// Random requests of any shape: methods, subresources, paths, parameters, types of bodies and of answers, and headers, in combinations that
// no client would send.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { post, type RequestStep, type Scenario, withQuery } from "../scenario.ts"
import { titled } from "./titled.ts"

const length = 60
const core = "/api/v1/namespaces/@{ns}"
const apps = "/apis/apps/v1/namespaces/@{ns}"

interface Target {
  path: string
  apiVersion: string
  kind: string
  rest: Record<string, Json>
  subresources: readonly string[]
}

const labels = { a: "b" }
const containers = [{ name: "c", image: "i" }]
const template = { metadata: { labels }, spec: { containers } }
const target = (
  path: string,
  apiVersion: string,
  kind: string,
  rest: Record<string, Json>,
  ...subresources: string[]
) => {
  return { path, apiVersion, kind, rest, subresources }
}

const ofPods = [
  "status",
  "log",
  "exec",
  "attach",
  "portforward",
  "proxy",
  "proxy/a/b",
  "binding",
  "eviction",
  "resize",
  "ephemeralcontainers",
]

const targets: readonly Target[] = [
  target(`${core}/configmaps`, "v1", "ConfigMap", { data: { a: "b" } }),
  target(`${core}/pods`, "v1", "Pod", { spec: { containers } }, ...ofPods),
  target(
    `${apps}/deployments`,
    "apps/v1",
    "Deployment",
    { spec: { selector: { matchLabels: labels }, template } },
    "status",
    "scale",
  ),
  target(
    `${core}/replicationcontrollers`,
    "v1",
    "ReplicationController",
    { spec: { selector: labels, template } },
    "status",
    "scale",
  ),
  target(`${core}/serviceaccounts`, "v1", "ServiceAccount", {}, "token"),
  target(`${core}/services`, "v1", "Service", { spec: { ports: [{ port: 80 }] } }, "status", "proxy", "proxy/a"),
  target(
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    { spec: { request: "bm9uZQ==", signerName: "example.com/a", usages: ["any"] } },
    "status",
    "approval",
  ),
  target(
    `${core}/persistentvolumeclaims`,
    "v1",
    "PersistentVolumeClaim",
    {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    "status",
  ),
]

export function randomShapeScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...targets.map((one) => post(one.path, objectOf(one))),
    ...Array.from({ length }, () => request(random)),
  ]
  return { name: `requests of any shape at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const isCluster = ({ path }: Target): boolean => !path.includes("@{ns}")
const nameOf = (one: Target): string => (isCluster(one) ? "a-@{id}" : "a")
const objectOf = (one: Target): Record<string, Json> => {
  const { apiVersion, kind, rest } = one
  return { apiVersion, kind, metadata: { name: nameOf(one), labels }, ...rest }
}

const methods = [
  "GET",
  "GET",
  "GET",
  "HEAD",
  "POST",
  "POST",
  "PUT",
  "PUT",
  "PATCH",
  "PATCH",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
]
/** Collections of the cluster have objects of others. */
const named = [0.7, 1] as const

function request(random: Random): RequestStep {
  const one = pick(random, targets)
  const method = pick(random, methods)
  const hasName = chance(random, named[isCluster(one) ? 1 : 0])
  const name = chance(random, 0.9)
    ? nameOf(one)
    : pick(random, ["absent", "A_b", "%61", "x".repeat(300), "%C3%BC", "a%2Fb", "a%00"])
  const subresource =
    hasName && chance(random, 0.5) ? pick(random, [...one.subresources, "bogus", "status", "scale"]) : ""
  const plain = `${one.path}${hasName ? `/${name}` : ""}${subresource === "" ? "" : `/${subresource}`}`
  const path = chance(random, 0.08) ? oddPath(random, plain) : plain
  const isWatched = path.includes("/watch/") || (method === "GET" && chance(random, 0.1))
  const query = [...parameters(random), ...(isWatched ? ["watch=true", "timeoutSeconds=1"] : [])].join("&")
  const isWrite = ["POST", "PUT", "PATCH", "DELETE"].includes(method)
  const headers = randomHeaders(random)
  const step = { method, path: withQuery(path, query), ...(headers === undefined ? {} : { headers }) }
  if (!isWrite || (method === "DELETE" && chance(random, 0.5))) return step
  return { ...step, ...body(random, one, method, subresource) }
}

function oddPath(random: Random, path: string): string {
  return pick(random, [
    `${path}/`,
    path.replace("/namespaces", "//namespaces"),
    path.replace(/^\/(api\/v1|apis\/[^/]*\/v1)\//, "/$1/watch/"),
    path.replace("/v1/", "/v2/"),
    path.replace("/namespaces/", "/namespace/"),
    `${path}/x/y`,
    path.replace("/v1/", "/v1/./"),
    path.replace("/v1/", "/v1/x/../"),
    path.toUpperCase().replace("@{NS}", "@{ns}").replace("@{ID}", "@{id}"),
  ])
}

const values: Readonly<Record<string, readonly string[]>> = {
  dryRun: ["All", "All", "All", "all", "", "All&dryRun=All"],
  fieldManager: ["m", "m", "", "%00"],
  fieldValidation: ["Strict", "Warn", "Ignore", "x"],
  force: ["true", "false", "", "x"],
  pretty: ["true", "", "0"],
  timeout: ["10s", "10", "0s", "1h", "-1s", "x"],
  resourceVersion: ["0", "", "x"],
  resourceVersionMatch: ["Exact", "NotOlderThan", "x"],
  limit: ["1", "x", "-1"],
  continue: ["x"],
  labelSelector: ["a%3Db", "a%3Dx", "%3D"],
  fieldSelector: ["metadata.name%3Da", "x%3Dy", "%3D"],
  includeObject: ["None", "Object", "x"],
  gracePeriodSeconds: ["0", "-1", "x"],
  propagationPolicy: ["Orphan", "x"],
  orphanDependents: ["true", "x"],
  sendInitialEvents: ["true", "false"],
  allowWatchBookmarks: ["true"],
  container: ["c", "x"],
  command: ["a"],
  stdin: ["true", "x"],
  stdout: ["true"],
  tailLines: ["1", "-1", "x"],
  sinceSeconds: ["0", "1"],
  limitBytes: ["0"],
  stream: ["Stdout", "x"],
  ports: ["80", "x", ""],
  path: ["/x", "x"],
  DryRun: ["All"],
  "": ["", "x"],
  "%zz": ["1"],
}

function parameters(random: Random): string[] {
  const count = pick(random, [0, 0, 1, 1, 2, 3, 4])
  return Array.from({ length: count }, () => {
    const name = pick(random, Object.keys(values))
    return `${name}=${pick(random, values[name] ?? [""])}`
  })
}

const forms = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList", "Status", "Bogus"]
const mediaTypes = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "*/*",
  "application/*",
  "x",
  "",
]

function accept(random: Random): string {
  return Array.from({ length: 1 + random(2) }, () => {
    const type = pick(random, mediaTypes)
    const form = chance(random, 0.4)
      ? `;as=${pick(random, forms)};v=${pick(random, ["v1", "v1beta1", "v9"])};g=meta.k8s.io`
      : ""
    return `${type}${form}${chance(random, 0.1) ? ";q=0.1" : ""}${chance(random, 0.05) ? ";stream=watch" : ""}`
  }).join(",")
}

const others: readonly (readonly [string, readonly string[]])[] = [
  ["content-encoding", ["gzip", "identity", "x"]],
  ["if-match", ["*", '"x"']],
  ["if-none-match", ["*", '"x"']],
  ["if-modified-since", ["Sun, 06 Nov 2044 08:49:37 GMT"]],
  ["range", ["bytes=0-1", "bytes=x"]],
  ["audit-id", ["x", "", "x".repeat(100)]],
  ["x-http-method-override", ["DELETE"]],
  ["x-forwarded-for", ["1.2.3.4"]],
  ["origin", ["https://example.com"]],
  ["upgrade", ["websocket", "SPDY/3.1"]],
  ["user-agent", ["", "a/b (c)"]],
  ["impersonate-user", ["u", "", "system:serviceaccount:@{ns}:default", "system:anonymous"]],
  ["impersonate-group", ["system:masters", ""]],
  ["impersonate-uid", ["1"]],
  ["impersonate-extra-a", ["b"]],
  ["impersonate-extra-%zz", ["b"]],
  ["x-remote-user", ["u"]],
  ["kubectl-command", ["x"]],
]

function randomHeaders(random: Random): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  if (chance(random, 0.5)) headers["accept"] = accept(random)
  if (chance(random, 0.3)) {
    const [name, choices] = pick(random, others)
    headers[name] = pick(random, choices)
    // Without it nothing is upgraded.
    if (name === "upgrade" && chance(random, 0.5)) headers["connection"] = "upgrade"
  }
  return Object.keys(headers).length === 0 ? undefined : headers
}

const patchTypes = [
  "merge-patch+json",
  "json-patch+json",
  "strategic-merge-patch+json",
  "apply-patch+yaml",
  "apply-patch+cbor",
  "json",
]
const bodyTypes = [
  "application/json",
  "application/json; charset=x",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "",
  "*/*",
]

function body(
  random: Random,
  one: Target,
  method: string,
  subresource: string,
): Pick<RequestStep, "body" | "contentType"> {
  const contentType =
    method === "PATCH"
      ? `application/${pick(random, patchTypes)}${chance(random, 0.1) ? ";a=b" : ""}`
      : chance(random, 0.7)
        ? "application/json"
        : pick(random, bodyTypes)
  if (chance(random, 0.12))
    return { contentType, body: pick<Json>(random, ["", "null", "[]", "{}", "{", "x", "1", '""', "{}{}"]) }
  if (method === "PATCH" && chance(random, 0.6)) return { contentType, body: patchBody(random, contentType) }
  const object = chance(random, 0.5) ? objectOf(one) : subresourceBody(random, one, subresource)
  const change = chance(random, 0.25)
    ? {
        [pick(random, ["bogus", "metadata", "spec", "status", "kind", "apiVersion"])]: pick<Json>(random, [
          null,
          1,
          "x",
          {},
          [],
        ]),
      }
    : {}
  return { contentType, body: { ...object, ...change } }
}

function patchBody(random: Random, contentType: string): Json {
  if (contentType.includes("json-patch+json")) {
    return [
      {
        op: pick(random, ["add", "replace", "remove", "test"]),
        path: pick(random, ["/metadata/labels/x", "/status", "/spec/replicas", "/kind", ""]),
        value: pick<Json>(random, ["y", 2, null]),
      },
    ]
  }
  return pick<Json>(random, [
    { metadata: { labels: { x: "y" } } },
    { spec: { replicas: 2 } },
    { status: { phase: "Running" } },
    { metadata: { name: "other" } },
    { bogus: 1 },
    {},
  ])
}

function subresourceBody(random: Random, one: Target, subresource: string): Record<string, Json> {
  const metadata = { name: nameOf(one), ...(chance(random, 0.2) ? { namespace: "@{ns}" } : {}) }
  const all: Record<string, Record<string, Json>> = {
    scale: { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec: { replicas: 1 } },
    eviction: { apiVersion: "policy/v1", kind: "Eviction", metadata },
    binding: { apiVersion: "v1", kind: "Binding", metadata, target: { name: "n" } },
    token: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec: { audiences: ["a"] } },
    exec: { apiVersion: "v1", kind: "PodExecOptions", command: ["a"] },
    options: { apiVersion: "meta.k8s.io/v1", kind: "DeleteOptions", gracePeriodSeconds: 0 },
    list: { apiVersion: "v1", kind: "List", items: [] },
  }
  return (chance(random, 0.8) ? all[subresource] : undefined) ?? pick(random, Object.values(all))
}
