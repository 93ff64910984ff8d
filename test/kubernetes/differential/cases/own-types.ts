// Type information of a wrong type or with unexpected values, and pairs of fields with the same meaning.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
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
const maps = `${core}/configmaps`

export function ownTypeCases(): Scenario[] {
  return [
    { name: "kind, version and metadata are of any type", steps: types() },
    { name: "kinds and versions are in odd words", steps: words() },
    { name: "a patch to another version has faults", steps: otherVersions() },
    { name: "a pod's address given once is in both fields", steps: addresses() },
    { name: "configurations of registries are no JSON", steps: registries() },
    { name: "tolerations are there twice, and a template's metadata is empty lists", steps: twice() },
  ]
}

const values: Json[] = [2n ** 63n, 2n ** 53n + 1n, 1.5, 1e300, 7, true, [], {}, null, ""]

function types(): RequestStep[] {
  const own: Body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }
  return [
    post(maps, { metadata: { name: "a" } }),
    ...["apiVersion", "kind", "metadata"].flatMap((field) =>
      values.flatMap((value, index) => {
        const label = (verb: string): { label: string } => ({ label: `${verb} ${field}, value ${index}` })
        return [
          post(`${maps}?dryRun=All`, { ...own, [field]: value }, label("POST")),
          patch(`${maps}/a`, jsonPatch, [{ op: "replace", path: `/${field}`, value }], label("JSON patch")),
          patch(`${maps}/a`, mergePatch, { [field]: value }, label("merge")),
          patch(`${maps}/a`, strategicPatch, { [field]: value }, label("strategic merge")),
          patch(`${maps}/a?fieldManager=m`, applyPatch, { ...own, [field]: value }, label("apply")),
        ]
      }),
    ),
  ]
}

function words(): RequestStep[] {
  const odd: Body[] = [
    { kind: 'say "hi"\\' },
    { kind: "ConfigMap", apiVersion: 'v"2' },
    { kind: "a\tb", apiVersion: "v1" },
  ]
  return [
    post(maps, { metadata: { name: "a" } }),
    ...odd.flatMap((type) => [
      post(maps, { ...type, metadata: { name: "b" } }),
      put(`${maps}/a`, { ...type, metadata: { name: "a" } }),
      patch(`${maps}/a`, mergePatch, type),
      patch(`${maps}/a`, strategicPatch, type),
    ]),
  ]
}

function addresses(): RequestStep[] {
  const containers = [{ name: "main", image: "busybox" }]
  const own = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }
  const status = `${core}/pods/a/status`
  const list = (...ips: string[]): Body => ({ status: { podIPs: ips.map((ip) => ({ ip })) } })
  return [
    post(`${core}/pods`, { ...own, spec: { containers } }),
    put(status, { ...own, spec: { containers }, ...list("10.0.0.1") }),
    patch(status, strategicPatch, list("10.0.0.2")),
    patch(status, mergePatch, { status: { podIP: "10.0.0.3" } }),
    patch(status, mergePatch, { status: { podIP: null } }),
    patch(status, mergePatch, { status: { podIP: null, podIPs: [{ ip: "10.0.0.4" }, { ip: "fd00::1" }] } }),
    patch(`${status}?fieldManager=m&force=true`, applyPatch, { ...own, ...list("10.0.0.5") }),
    patch(`${status}?fieldManager=n&force=true`, applyPatch, { ...own, status: { podIP: "10.0.0.6" } }),
  ]
}

function twice(): RequestStep[] {
  const toleration = { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }
  const bad = { key: "a b", operator: "Bogus" }
  const tolerations = [toleration, { ...toleration, tolerationSeconds: 2 }, bad, bad]
  const metadata = {
    ownerReferences: [],
    finalizers: [],
    managedFields: [],
    deletionGracePeriodSeconds: 0,
    generation: 0,
  }
  return [
    post("/apis/node.k8s.io/v1/runtimeclasses?dryRun=All", {
      metadata: { name: "a" },
      handler: "a",
      scheduling: { tolerations },
    }),
    post("/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaimtemplates?dryRun=All", {
      metadata: { name: "a" },
      spec: { metadata, spec: {} },
    }),
  ]
}

function registries(): RequestStep[] {
  const types = { "kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson" }
  const texts = [
    "no",
    "{",
    "{} {}",
    "[]",
    "1",
    "1e400",
    '"a"',
    "true",
    "null",
    "",
    '{"a": 1e400}',
    '{"a": "\\x"}',
    '{"a":}',
    "'a'",
  ]
  return Object.entries(types).flatMap(([type, key]) =>
    [...texts, `${"[".repeat(20_000)}`].map((text) =>
      post(
        `${core}/secrets?dryRun=All`,
        { metadata: { name: "a" }, type, data: { [key]: Buffer.from(text).toString("base64") } },
        { label: `${type}: ${text.slice(0, 20)}` },
      ),
    ),
  )
}

/** The patched object is read as what it says it is, before it is found to be of another version. */
function otherVersions(): RequestStep[] {
  const path = "/apis/events.k8s.io/v1/namespaces/@{ns}/events"
  const changes: { [key: string]: Json }[] = [{ metadata: "x" }, { type: 1 }, { source: { host: 1 } }]
  return [
    post("/api/v1/namespaces/@{ns}/events", { metadata: { name: "a" }, involvedObject: { namespace: "@{ns}" } }),
    ...changes.flatMap((change) =>
      [mergePatch, strategicPatch].flatMap((type) =>
        ["", "?fieldValidation=Strict"].map((query) =>
          patch(
            `${path}/a${query}`,
            type,
            { apiVersion: "v1", ...change },
            {
              label: `PATCH ${type}${query} ${JSON.stringify(change)}`,
            },
          ),
        ),
      ),
    ),
  ]
}
