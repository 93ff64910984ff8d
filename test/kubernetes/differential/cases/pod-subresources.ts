// What only pods have below them: eviction, binding, ephemeral containers, resize, and connections.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

export const pods = "/api/v1/namespaces/@{ns}/pods"
export const pod = (name: string, spec: object = {}): Json => ({
  metadata: { name, labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: "busybox" }], ...spec },
})

export function podSubresourceCases(): Scenario[] {
  return [
    { name: "a pod's subresources keep what identifies it", steps: identities() },
    { name: "a pod is evicted unless its budget forbids", steps: eviction() },
    { name: "a pod is bound to a node once", steps: binding() },
    { name: "a pod is bound if it is the one that is meant", steps: bindingWithPreconditions() },
    { name: "a pod gets ephemeral containers", steps: ephemeral() },
    { name: "a pod is resized in place", steps: resized() },
    { name: "a pod is resized to what its node has", steps: resizedOnNode() },
    { name: "a pod without a node, or on an unknown one, has no logs and nothing to run in", steps: connections() },
  ]
}

function eviction(): RequestStep[] {
  const evict = (name: string, more: object = {}): RequestStep =>
    post(`${pods}/${name}/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...more })
  const budgets = "/apis/policy/v1/namespaces/@{ns}/poddisruptionbudgets"
  return [
    post(pods, pod("a")),
    evict("a", { deleteOptions: { dryRun: ["All"] } }),
    evict("absent"),
    evict("a", { metadata: { name: "other" } }),
    evict("a", { deleteOptions: { preconditions: { uid: "x" } } }),
    evict("a"),
    evict("a"),
    post(pods, pod("b")),
    post(budgets, { metadata: { name: "b" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } }),
    evict("b"),
    get(`${pods}/b`),
  ]
}

function binding(): RequestStep[] {
  const bind = (name: string, target: Json): RequestStep =>
    post(`${pods}/${name}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target })
  return [
    post(pods, pod("a")),
    bind("a", { kind: "Node", name: "" }),
    bind("a", { kind: "Bogus", name: "n" }),
    bind("a", { kind: "Node", name: "node-1" }),
    bind("a", { kind: "Node", name: "node-2" }),
    bind("absent", { kind: "Node", name: "node-1" }),
    get(`${pods}/a`),
    get(`${pods}?fieldSelector=spec.nodeName%3Dnode-1`),
    post(pods, pod("gated", { schedulingGates: [{ name: "example.com/gate" }] })),
    bind("gated", { kind: "Node", name: "node-1" }),
    post("/api/v1/namespaces/@{ns}/bindings", {
      metadata: { name: "gated" },
      target: { kind: "Node", name: "node-1" },
    }),
  ]
}

/** The older form does not look at the uid. */
function bindingWithPreconditions(): RequestStep[] {
  const metas: readonly { [field: string]: string }[] = [
    { uid: "x" },
    { uid: "@{a.metadata.uid}" },
    { resourceVersion: "1" },
    { resourceVersion: "x" },
    { resourceVersion: "@{a.metadata.resourceVersion}" },
    { uid: "@{a.metadata.uid}", resourceVersion: "1" },
    { name: "" },
  ]
  const paths = [`${pods}/a/binding`, "/api/v1/namespaces/@{ns}/bindings"]
  return [
    post(pods, pod("a"), { save: "a" }),
    ...metas.flatMap((meta) =>
      paths.map((path) =>
        post(
          `${path}?dryRun=All`,
          { metadata: { name: "a", ...meta }, target: { kind: "Node", name: "n" } },
          { label: `POST ${path} ${JSON.stringify(meta)}` },
        ),
      ),
    ),
  ]
}

function ephemeral(): RequestStep[] {
  const path = `${pods}/a/ephemeralcontainers`
  const add = (container: object): RequestStep =>
    patch(path, mergePatch, { spec: { ephemeralContainers: [{ name: "debug", image: "busybox", ...container }] } })
  return [
    post(pods, pod("a")),
    get(path),
    add({ ports: [{ containerPort: 80 }] }),
    add({ resources: { limits: { cpu: "1" } } }),
    add({ name: "main" }),
    add({ targetContainerName: "absent" }),
    add({ targetContainerName: "main", stdin: true, tty: true }),
    add({ image: "other" }),
    patch(path, mergePatch, { spec: { ephemeralContainers: [] } }),
    patch(path, mergePatch, { spec: { containers: [] } }),
    get(`${pods}/a`),
  ]
}

function resized(): RequestStep[] {
  const path = `${pods}/a/resize`
  const resources = (limits: Json, requests: Json = {}): RequestStep =>
    patch(path, jsonPatch, [{ op: "add", path: "/spec/containers/0/resources", value: { limits, requests } }])
  return [
    post(
      pods,
      pod("a", {
        containers: [
          {
            name: "main",
            image: "busybox",
            resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } },
          },
        ],
      }),
    ),
    get(path),
    resources({ cpu: "2", memory: "1Gi" }, { cpu: "1", memory: "1Gi" }),
    resources({ cpu: "2", memory: "2Gi" }, { cpu: "3" }),
    resources({}, {}),
    resources({ cpu: "1", memory: "1Gi" }, { cpu: "1", memory: "1Gi" }),
    resources({ cpu: "-1" }),
    patch(path, jsonPatch, [{ op: "replace", path: "/spec/containers/0/image", value: "other" }]),
    get(`${pods}/a`),
  ]
}

function resizedOnNode(): RequestStep[] {
  const node = "n@{id}"
  const nodePath = `/api/v1/nodes/${node}`
  const resources = (cpu: string, memory: string): Json => ({ requests: { cpu, memory }, limits: { cpu, memory } })
  const onNode = (name: string, nodeName: string): RequestStep =>
    post(pods, pod(name, { nodeName, containers: [{ name: "main", image: "i", resources: resources("1", "1Gi") }] }))
  const resize = (name: string, cpu: string, memory: string, more = ""): RequestStep =>
    patch(
      `${pods}/${name}/resize${more}`,
      strategicPatch,
      { spec: { containers: [{ name: "main", resources: resources(cpu, memory) }] } },
      { label: `RESIZE ${name} to ${cpu} and ${memory}${more}` },
    )
  return [
    post("/api/v1/nodes", {
      metadata: { name: node },
      spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] },
      status: { allocatable: { cpu: "1500m", memory: "2Gi" } },
    }),
    onNode("a", node),
    onNode("b", "absent@{id}"),
    resize("a", "1500m", "2Gi"),
    resize("a", "1501m", "2Gi"),
    resize("a", "1", "3Gi"),
    resize("a", "2.0001", "3Gi"),
    resize("a", "2", "1Gi", "?dryRun=All"),
    resize("a", "1500m", "2Gi"),
    resize("b", "500m", "1Gi"),
    resize("b", "1", "1Gi"),
    patch(nodePath, mergePatch, { metadata: { labels: { "kubernetes.io/os": "windows" } } }),
    resize("a", "1", "1Gi"),
    remove(nodePath),
  ]
}

function connections(): RequestStep[] {
  return [
    post(
      pods,
      pod("a", {
        containers: [
          { name: "main", image: "busybox" },
          { name: "side", image: "busybox" },
        ],
      }),
    ),
    get(`${pods}/a/log`),
    get(`${pods}/a/log?container=main`),
    get(`${pods}/a/log?container=absent`),
    get(`${pods}/a/log?container=main&tailLines=-1`),
    get(`${pods}/a/log?container=main&sinceSeconds=0`),
    get(`${pods}/a/log?container=main&limitBytes=0`),
    get(`${pods}/a/log?container=main&sinceSeconds=1&sinceTime=2024-01-02T03:04:05Z`),
    ...[
      "x",
      "",
      "null",
      "2024-01-02T03:04:05.6Z",
      "2024-02-30T03:04:05Z",
      "2024-01-02t03:04:05Z",
      "x&sinceSeconds=y",
    ].map((time) => get(`${pods}/a/log?container=main&sinceTime=${time}`)),
    get(`${pods}/a/log?sinceTime=x`),
    get(`${pods}/a/log?container=main&sinceSeconds=0&sinceTime=2024-01-02T03:04:05Z&tailLines=-1&limitBytes=0`),
    get(`${pods}/a/log?container=main&tailLines=-1&limitBytes=x`),
    ...["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"].flatMap((type) =>
      ["PartialObjectMetadata", "PartialObjectMetadataList", "Table"].flatMap((as) => {
        const accept = `${type};as=${as};g=meta.k8s.io;v=v1`
        return ["a", "absent"].map((name) =>
          get(`${pods}/${name}/log`, { headers: { accept }, label: `${name} ${accept}` }),
        )
      }),
    ),
    get(`${pods}/absent/log?sinceTime=x`),
    get(`${pods}/absent/log`),
    get(`${pods}/a/exec?command=ls`),
    get(`${pods}/a/exec?container=absent&command=ls`),
    get(`${pods}/a/attach`),
    get(`${pods}/a/portforward`),
    ...["", "?stdout=1", "?command=ls", "?command=ls&stdout=x"].map((query) =>
      get(`${pods}/a/exec${query}${query === "" ? "?" : "&"}container=main`),
    ),
    get(`${pods}/a/attach?container=main`),
    ...["", "x", "0", "80,81", "80,x", "65536"].map((ports) => get(`${pods}/a/portforward?ports=${ports}`)),
    get(`${pods}/absent/portforward?ports=x`),
    get(`${pods}/a/proxy`),
    get("/api/v1/namespaces/@{ns}/services/absent/proxy"),
    get("/api/v1/nodes/absent/proxy/stats"),
    post(pods, pod("bound", { nodeName: "absent" })),
    get(`${pods}/bound/log`),
    get(`${pods}/bound/log?sinceTime=x`),
    get(`${pods}/bound/log?container=none`),
    ...["exec?command=ls&stdout=1", "exec", "attach", "portforward", "portforward?ports=80"].map((connection) =>
      get(`${pods}/bound/${connection}`),
    ),
  ]
}

function identities(): RequestStep[] {
  const changes: readonly Json[] = [
    { uid: "x" },
    { creationTimestamp: "2020-01-01T00:00:00Z" },
    { creationTimestamp: null, uid: null },
    { generation: 7, selfLink: "x", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 3 },
    { resourceVersion: "1" },
    { namespace: "other" },
    { name: "b" },
    { labels: { "-": "" }, annotations: { a: "b" }, finalizers: ["x"], ownerReferences: [{ uid: "u" }] },
  ]
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } }),
    ...["", "/status", "/ephemeralcontainers", "/resize"].flatMap((end) =>
      changes.map((metadata) =>
        patch(
          `${pods}/a${end}?dryRun=All`,
          mergePatch,
          { metadata },
          { label: `PATCH ${end} ${JSON.stringify(metadata)}` },
        ),
      ),
    ),
  ]
}
