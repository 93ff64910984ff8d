// Single kinds, beyond what is made of their fields.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
} from "../scenario.ts"

export function objectCases(): Scenario[] {
  return [
    { name: "a volume attachment with an inline volume", steps: inlineVolumes() },
    { name: "a job is labelled as its template", steps: jobLabels() },
    { name: "resources of a pod and of its containers", steps: podResources(), anyOrder: true },
    { name: "a request is of a flow schema", steps: flowSchemas() },
    { name: "a flow schema without its priority level", steps: danglingSchemas() },
  ]
}

function inlineVolumes(): RequestStep[] {
  const path = "/apis/storage.k8s.io/v1/volumeattachments?dryRun=All"
  const csi = { driver: "d.example.com", volumeHandle: "h" }
  const one = (label: string, inlineVolumeSpec: Json): RequestStep =>
    post(
      path,
      {
        metadata: { name: "a@{id}" },
        spec: { attacher: "a.example.com", nodeName: "n", source: { inlineVolumeSpec } },
      },
      { label: `POST ${label}` },
    )
  return [
    one("nothing", {}),
    one("right", { accessModes: ["ReadWriteOnce"], csi }),
    one("all that may not be", {
      accessModes: ["Bogus"],
      csi,
      claimRef: { name: "c" },
      capacity: { storage: 1 },
      persistentVolumeReclaimPolicy: "Delete",
      nodeAffinity: {},
      storageClassName: "x",
      volumeMode: "Block",
      volumeAttributesClassName: "",
    }),
    one("what may be", {
      accessModes: ["ReadOnlyMany"],
      csi,
      capacity: {},
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "",
      volumeMode: "Filesystem",
    }),
    one("two", {
      accessModes: ["ReadWriteOnce"],
      csi,
      hostPath: { path: "/" },
      persistentVolumeReclaimPolicy: "Recycle",
    }),
    one("local", {
      accessModes: ["ReadWriteOncePod", "ReadWriteOnce"],
      local: { path: "/x" },
      nodeAffinity: { required: { nodeSelectorTerms: [] } },
    }),
    one("iscsi", {
      accessModes: ["ReadWriteOnce"],
      iscsi: { targetPortal: "1.2.3.4", iqn: "iqn.2015-02.example.com:test", lun: 0 },
      csi,
    }),
    one("rbd", { accessModes: ["ReadWriteOnce"], rbd: { monitors: ["a"], image: "i" }, csi }),
    one("azure", { accessModes: ["ReadWriteOnce"], azureDisk: { diskName: "a", diskURI: "b" } }),
    one("flex", { accessModes: ["ReadWriteOnce"], flexVolume: {}, csi }),
  ]
}

function podResources(): RequestStep[] {
  const container = (name: string, requests: Json, limits: Json = {}): Json => ({
    name,
    image: "i",
    resources: { requests, limits },
  })
  const one = (name: string, spec: object): RequestStep =>
    post("/api/v1/namespaces/@{ns}/pods?dryRun=All", {
      metadata: { name },
      spec: {
        containers: [container("a", { cpu: "600m" }, { cpu: "1" }), container("b", { cpu: "500m" }, { memory: "2Gi" })],
        ...spec,
      },
    })
  const pages = { "hugepages-2Mi": "4Mi" }
  return [
    one("enough", { resources: { requests: { cpu: "1100m" }, limits: { cpu: "2", memory: "2Gi" } } }),
    one("together", { resources: { requests: { cpu: "1" } } }),
    one("each", { resources: { requests: { memory: "1Gi" }, limits: { memory: "1Gi", cpu: "0.9" } } }),
    one("limits", { resources: { limits: { cpu: "2", memory: "3Gi" } } }),
    one("pages of containers", {
      containers: [container("a", { ...pages, cpu: 1 }, pages), container("b", { ...pages, cpu: 1 }, pages)],
      resources: { requests: { cpu: 2 } },
    }),
    one("claims", { resources: { claims: [] } }),
    one("claim", { resources: { claims: [{ name: "x" }] } }),
    one("windows", { os: { name: "windows" }, resources: { requests: { cpu: "1" } } }),
    one("pages", {
      containers: [container("a", { ...pages, cpu: 1 }, pages), container("b", { ...pages, cpu: 1 }, pages)],
      resources: { requests: { ...pages, cpu: 2 }, limits: pages },
    }),
    one("init", { initContainers: [container("i", { cpu: "3" })], resources: { requests: { cpu: "2" } } }),
    patch(
      "/api/v1/namespaces/@{ns}/pods/x?fieldManager=a",
      applyPatch,
      { kind: "Pod", apiVersion: [] },
      { label: "APPLY a list for a version" },
    ),
    patch(
      "/api/v1/namespaces/@{ns}/pods/x?fieldManager=a",
      applyPatch,
      { kind: "Pod", apiVersion: "a/b/c" },
      { label: "APPLY of three parts" },
    ),
    patch(
      "/api/v1/namespaces/@{ns}/pods/x?fieldManager=a",
      applyPatch,
      { kind: 7, apiVersion: "v1" },
      { label: "APPLY a number for a kind" },
    ),
  ]
}

function jobLabels(): RequestStep[] {
  const path = "/apis/batch/v1/namespaces/@{ns}/jobs"
  const one = (name: string, own: Json, templates: Json, more: object = {}): RequestStep[] => [
    post(path, {
      metadata: { name, ...(own === null ? {} : { labels: own }) },
      spec: {
        ...more,
        template: {
          ...(templates === null ? {} : { metadata: { labels: templates } }),
          spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
        },
      },
    }),
    patch(`${path}/${name}`, mergePatch, {}, { label: `PATCH nothing of ${name}` }),
    patch(`${path}/${name}`, mergePatch, { metadata: { labels: { more: "x" } } }, { label: `PATCH labels of ${name}` }),
    patch(`${path}/${name}`, mergePatch, { metadata: { labels: null } }, { label: `PATCH no labels of ${name}` }),
    get(`${path}/${name}`),
  ]
  const manual = { manualSelector: true, selector: { matchLabels: { a: "b" } } }
  return [
    ...one("none", null, null),
    ...one("empty", {}, null),
    ...one("templates", null, { a: "b" }),
    ...one("own", { a: "b" }, null),
    ...one("both", { own: "x" }, { a: "b" }),
    ...one("manual", null, { a: "b" }, manual),
  ]
}

const flowcontrol = "/apis/flowcontrol.apiserver.k8s.io/v1"

function danglingSchemas(): RequestStep[] {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
  const table = (name: string): RequestStep =>
    get(`${flowcontrol}/flowschemas/${name}?includeObject=None`, { headers: { accept } })
  const level = { name: "l@{id}" }
  const rule = {
    subjects: [{ kind: "User", user: { name: "@{id}" } }],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/@{id}"] }],
  }
  const schema = "f@{id}"
  // Told a moment later.
  const untilTold = (untilText: string): RequestStep =>
    get(`${flowcontrol}/flowschemas/${schema}`, { untilText, label: `GET ${untilText}` })
  return [
    table("global-default"),
    post(`${flowcontrol}/flowschemas`, {
      metadata: { name: schema },
      spec: { matchingPrecedence: 9000, priorityLevelConfiguration: level, rules: [rule] },
    }),
    untilTold("there is no such object"),
    table(schema),
    post(`${flowcontrol}/prioritylevelconfigurations`, {
      metadata: level,
      spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    }),
    untilTold("and it exists"),
    table(schema),
    patch(`${flowcontrol}/flowschemas/${schema}/status`, mergePatch, { status: { conditions: [] } }),
    untilTold("and it exists"),
    remove(`${flowcontrol}/prioritylevelconfigurations/l@{id}`),
    untilTold("there is no such object"),
    remove(`${flowcontrol}/flowschemas/${schema}`),
  ]
}

function flowSchemas(): Step[] {
  const path = flowcontrol
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const one = { name: "one@{id}", groups: ["system:authenticated"] }
  const account = { name: "system:serviceaccount:@{ns}:a", groups: ["system:serviceaccounts", "system:authenticated"] }
  const level = { name: "l@{id}" }
  const rule = {
    subjects: [{ kind: "User", user: { name: one.name } }],
    resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], namespaces: ["@{ns}"] }],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/apis/*"] }],
  }
  const ask = (when: string): Step[] => [
    get(`${maps}/a`, { as: one, label: `GET as one, ${when}` }),
    get(maps, { as: one, label: `LIST as one, ${when}` }),
    get("/apis/apps/v1", { as: one, label: `GET what is no resource as one, ${when}` }),
    get(`${maps}/a`, { as: account, label: `GET as a service account, ${when}` }),
  ]
  return [
    ...ask("without"),
    post(`${path}/prioritylevelconfigurations`, {
      metadata: level,
      spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
    }),
    post(`${path}/flowschemas`, {
      metadata: { name: "f@{id}" },
      spec: { matchingPrecedence: 1000, priorityLevelConfiguration: level, rules: [rule] },
    }),
    // The real one takes a moment.
    get(`${path}/flowschemas/f@{id}`, { untilText: "Found", label: "GET flow schema" }),
    ...ask("with"),
    get("/nope"),
    get("/healthz", { as: one }),
    get("/api/v1/bogus"),
    get("/api/v1/namespaces/@{ns}/pods/p/log"),
    get("/api/v1/namespaces/@{ns}/services/p/proxy/"),
    watch(`${maps}?timeoutSeconds=1`),
    remove(`${path}/flowschemas/f@{id}`),
    remove(`${path}/prioritylevelconfigurations/l@{id}`),
  ]
}
