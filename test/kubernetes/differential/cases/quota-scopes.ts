// Which objects a quota counts by its scopes, and what changes of an object are charged.

import type { Json } from "../../../../apimachinery/object.ts"
import type { JsonObject } from "../generate/objects.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function quotaScopeCases(): Scenario[] {
  return [
    { name: "quotas select pods by their class of priority", steps: priorities() },
    { name: "quotas select pods by their quality and affinity", steps: qualities() },
    { name: "quotas select claims by their attributes", steps: attributes() },
    { name: "a pod that is resized is charged to its quota", steps: resized() },
    { name: "claims that grow, and services that change, are charged to quotas", steps: changed() },
    { name: "a pod has resources of its own under limits and quotas", steps: own() },
  ]
}

interface Selector {
  scopes?: string[]
  matchExpressions?: Json[]
}

function quota(
  name: string,
  hard: Readonly<Record<string, string>>,
  { scopes, matchExpressions }: Selector = {},
): RequestStep[] {
  const spec = {
    hard,
    ...(scopes === undefined ? {} : { scopes }),
    ...(matchExpressions === undefined ? {} : { scopeSelector: { matchExpressions } }),
  }
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]))
  const object = { metadata: { name }, spec }
  return [
    post(`${core}/resourcequotas?fieldManager=a`, object),
    put(`${core}/resourcequotas/${name}/status?fieldManager=b`, { ...object, status: { hard, used } }),
  ]
}

const usage = (...names: string[]): RequestStep[] => names.map((name) => get(`${core}/resourcequotas/${name}`))

const pod = (name: string, resources: Json = {}, more: JsonObject = {}): RequestStep =>
  post(
    `${core}/pods`,
    { metadata: { name }, spec: { containers: [{ name: "main", image: "busybox", resources }], ...more } },
    { label: `POST pod ${name}` },
  )

const classScope = (operator: string, values?: string[]): Selector => ({
  matchExpressions: [{ scopeName: "PriorityClass", operator, ...(values === undefined ? {} : { values }) }],
})

function priorities(): RequestStep[] {
  return [
    post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "@{id}" }, value: 5 }),
    ...quota("in", { pods: "1" }, classScope("In", ["@{id}", "other"])),
    ...quota("not-in", { pods: "1" }, classScope("NotIn", ["@{id}"])),
    ...quota("exists", { pods: "3" }, classScope("Exists")),
    ...quota("none", { pods: "2" }, classScope("DoesNotExist")),
    ...quota("scope", { pods: "2" }, { scopes: ["PriorityClass"] }),
    ...quota("both", { pods: "2" }, { scopes: ["NotTerminating"], ...classScope("Exists") }),
    pod("a", {}, { priorityClassName: "@{id}" }),
    pod("b", {}, { priorityClassName: "@{id}" }),
    pod("c"),
    pod("d"),
    pod("e", {}, { priorityClassName: "system-node-critical" }),
    ...usage("in", "not-in", "exists", "none", "scope", "both"),
  ]
}

function qualities(): RequestStep[] {
  const term = { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } }
  const affinity = (more: JsonObject): JsonObject => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...more }] } },
  })
  const anti = {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: { ...term, namespaceSelector: {} } },
        ],
      },
    },
  }
  return [
    ...quota("best", { pods: "1" }, { scopes: ["BestEffort"] }),
    ...quota("not-best", { pods: "2", cpu: "1" }, { scopes: ["NotBestEffort", "NotTerminating"] }),
    ...quota("across", { pods: "2" }, { scopes: ["CrossNamespacePodAffinity"] }),
    pod("a"),
    pod("b"),
    pod("c", { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } }),
    pod("d", { limits: { memory: "1Mi" } }),
    pod("e", { requests: { cpu: "600m" } }),
    pod("f", { requests: { cpu: "600m" } }, { activeDeadlineSeconds: 5 }),
    pod("g", { requests: { cpu: "600m" } }),
    pod("h", { limits: { cpu: "1m" } }, affinity({})),
    pod("i", { limits: { cpu: "1m" } }, { ...affinity({ namespaces: ["x"] }), activeDeadlineSeconds: 5 }),
    pod("j", { limits: { cpu: "1m" } }, { ...affinity({ namespaceSelector: {} }), activeDeadlineSeconds: 5 }),
    pod("k", { limits: { cpu: "1m" } }, { ...anti, activeDeadlineSeconds: 5 }),
    pod("l", { requests: { cpu: "0" } }, { resources: { requests: { cpu: "0" } } }),
    ...usage("best", "not-best", "across"),
  ]
}

function attributes(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const claim = (name: string, volumeAttributesClassName?: string): RequestStep =>
    post(claims, {
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
      },
    })
  const status = (name: string, given: JsonObject): RequestStep =>
    patch(`${claims}/${name}/status`, mergePatch, { status: given })
  const scope = (operator: string, values?: string[]): Selector => ({
    matchExpressions: [{ scopeName: "VolumeAttributesClass", operator, ...(values === undefined ? {} : { values }) }],
  })
  const hard = { persistentvolumeclaims: "3", "requests.storage": "10Gi" }
  return [
    ...quota("gold", { ...hard, persistentvolumeclaims: "2" }, scope("In", ["gold"])),
    ...quota("not-gold", hard, scope("NotIn", ["gold"])),
    ...quota("any", hard, scope("Exists")),
    ...quota("none", { persistentvolumeclaims: "1" }, scope("DoesNotExist")),
    ...quota("scope", { persistentvolumeclaims: "3" }, { scopes: ["VolumeAttributesClass"] }),
    claim("a", "gold"),
    claim("b"),
    claim("c", "iron"),
    claim("d", ""),
    status("a", { phase: "Bound", currentVolumeAttributesClassName: "iron" }),
    ...usage("gold", "not-gold"),
    patch(`${claims}/a`, mergePatch, { spec: { volumeAttributesClassName: "tin" } }),
    status("a", { modifyVolumeStatus: { targetVolumeAttributesClassName: "gold", status: "InProgress" } }),
    status("c", { currentVolumeAttributesClassName: "gold" }),
    claim("e", "gold"),
    ...usage("gold", "not-gold", "any", "none", "scope"),
  ]
}

function resized(): RequestStep[] {
  const resize = (name: string, resources: JsonObject): RequestStep =>
    patch(
      `${core}/pods/${name}/resize?includeObject=None`,
      strategicPatch,
      { spec: { containers: [{ name: "main", resources }] } },
      { headers: asTable },
    )
  const state = (resources: JsonObject, more: JsonObject = {}): RequestStep =>
    patch(
      `${core}/pods/a/status?includeObject=None`,
      mergePatch,
      {
        status: {
          phase: "Running",
          containerStatuses: [
            { name: "main", image: "busybox", imageID: "", ready: true, restartCount: 0, ...resources },
          ],
          ...more,
        },
      },
      { headers: asTable },
    )
  const requests = (cpu: string): JsonObject => ({ requests: { cpu } })
  const pending = { type: "PodResizePending", status: "True", reason: "Infeasible" }
  return [
    ...quota("q", { "requests.cpu": "1", "limits.memory": "1Gi" }),
    pod("a", { requests: { cpu: "200m" }, limits: { memory: "100Mi" } }),
    resize("a", requests("500m")),
    resize("a", requests("1100m")),
    resize("a", { limits: { memory: "200Mi" } }),
    ...usage("q"),
    state({ resources: requests("300m"), allocatedResources: { cpu: "700m" } }),
    resize("a", requests("600m")),
    resize("a", requests("800m")),
    ...usage("q"),
    state({ resources: requests("300m"), allocatedResources: { cpu: "350m" } }, { conditions: [pending] }),
    resize("a", requests("900m")),
    ...usage("q"),
  ]
}

function changed(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const size = (storage: string): JsonObject => ({ resources: { requests: { storage } } })
  const grow = (storage: string): RequestStep =>
    patch(`${claims}/c?includeObject=None`, mergePatch, { spec: size(storage) }, { headers: asTable })
  const service = `${core}/services/s`
  const ports = [80, 81].map((port) => ({ name: `p${port}`, port }))
  return [
    post("/apis/storage.k8s.io/v1/storageclasses", {
      metadata: { name: "@{id}" },
      provisioner: "p",
      allowVolumeExpansion: true,
    }),
    ...quota("q", {
      "requests.storage": "3Gi",
      "@{id}.storageclass.storage.k8s.io/requests.storage": "2Gi",
      "@{id}.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "services.nodeports": "3",
      "count/services": "1",
    }),
    post(claims, {
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "@{id}", ...size("1000000001m") },
    }),
    ...usage("q"),
    grow("2Gi"),
    patch(`${claims}/c/status?includeObject=None`, mergePatch, { status: { phase: "Bound" } }, { headers: asTable }),
    grow("2Gi"),
    grow("3Gi"),
    grow("1Gi"),
    ...usage("q"),
    post(`${core}/services`, { metadata: { name: "s" }, spec: { type: "NodePort", ports } }),
    patch(service, mergePatch, { spec: { ports: [...ports, { name: "x", port: 83 }, { name: "y", port: 84 }] } }),
    patch(service, mergePatch, { spec: { ports: [...ports, { name: "x", port: 83 }] } }),
    patch(service, mergePatch, { spec: { type: "ExternalName", externalName: "a.b" } }),
    ...usage("q"),
  ]
}

function own(): RequestStep[] {
  const resources = {
    requests: { cpu: "300m", "hugepages-2Mi": "4Mi" },
    limits: { cpu: "400m", "hugepages-2Mi": "4Mi" },
  }
  const inner = { requests: { cpu: "100m", memory: "1Mi" }, limits: { cpu: "100m", memory: "1Mi" } }
  return [
    ...quota("q", {
      "requests.cpu": "1",
      "limits.cpu": "1",
      "requests.memory": "10Mi",
      "requests.hugepages-2Mi": "10Mi",
    }),
    pod("a", inner, { resources }),
    pod("b", inner, { resources: { requests: { cpu: "800m" } } }),
    ...usage("q"),
    post(`${core}/limitranges`, {
      metadata: { name: "l" },
      spec: {
        limits: [
          { type: "Pod", max: { cpu: "350m" }, min: { memory: "2Mi" }, maxLimitRequestRatio: { cpu: "1200m" } },
          { type: "Container", default: { cpu: "50m", memory: "3Mi" }, maxLimitRequestRatio: { memory: "2" } },
        ],
      },
    }),
    // Upstream notices the limits a moment later.
    post(
      `${core}/pods?dryRun=All`,
      { metadata: { name: "big" }, spec: { containers: [{ name: "main", image: "busybox", resources: resources }] } },
      { untilCode: 403 },
    ),
    pod("c", inner, { resources }),
    pod("d", {}, { resources: { requests: { cpu: "300m" }, limits: { cpu: "300m" } } }),
    pod("e", { requests: { memory: "1Mi" } }),
  ]
}
