// Claims and volumes with their older annotations, and how their statuses change.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const claims = "/api/v1/namespaces/@{ns}/persistentvolumeclaims"
const volumes = "/api/v1/persistentvolumes"
const oldClass = "volume.beta.kubernetes.io/storage-class"

export function claimAndVolumeCases(): Scenario[] {
  return [
    { name: "a claim names its class in an annotation", steps: oldClasses() },
    { name: "a bound claim changes", anyOrder: true, steps: boundClaims() },
    { name: "a claim has two data sources", steps: dataSources() },
    { name: "a claim has data of a group that is no name", steps: dataOfWrongGroups() },
    { name: "a volume has mount options in an annotation", steps: mountOptions() },
    { name: "a volume has sources with several faults", steps: faultySources() },
    { name: "a volume changes its phase", steps: phases() },
    { name: "a volume changes what it may", steps: volumeChanges() },
  ]
}

const claim = (name: string, spec: Body = {}, metadata: Body = {}): RequestStep =>
  post(
    claims,
    {
      metadata: { name, ...metadata },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
    },
    { label: `POST ${name} ${JSON.stringify(spec)}` },
  )
const change = (path: string, body: Body): RequestStep =>
  patch(path, mergePatch, body, { label: `${path} ${JSON.stringify(body)}` })

function oldClasses(): RequestStep[] {
  const annotations = { [oldClass]: "fast" }
  const of = (name: string, annotation: Json, spec: Body = {}): RequestStep =>
    change(`${claims}/${name}`, { metadata: { annotations: { [oldClass]: annotation } }, spec })
  return [
    claim("a", {}, { annotations }),
    of("a", "slow"),
    of("a", null),
    of("a", "slow", { storageClassName: "fast" }),
    of("a", "fast", { storageClassName: "slow" }),
    of("a", null, { storageClassName: "" }),
    of("a", "fast", { storageClassName: "fast" }),
    of("a", null),
    claim("b", {}, { annotations }),
    of("b", null, { storageClassName: "fast" }),
    of("b", "fast"),
    claim("c"),
    of("c", "fast"),
    of("c", "fast", { storageClassName: "fast" }),
    of("c", null, { storageClassName: "fast" }),
    of("c", "fast"),
    claim("d", { storageClassName: "slow" }, { annotations }),
    of("d", "slow"),
    of("d", null, { storageClassName: null }),
    change(`${claims}/d/status`, { metadata: { annotations: { [oldClass]: "other" } } }),
    get(`${claims}/d`),
  ]
}

function boundClaims(): RequestStep[] {
  const spec = (value: Body): RequestStep => change(`${claims}/a`, { spec: value })
  const status = (value: Body): RequestStep => change(`${claims}/a/status`, { status: value })
  const size = (storage: Json, more: Body = {}): RequestStep => spec({ resources: { requests: { storage, ...more } } })
  return [
    claim("a"),
    size("2Gi"),
    spec({ volumeName: "v" }),
    spec({ volumeName: "w" }),
    spec({ volumeName: null }),
    status({ phase: "Bound", capacity: { storage: "1Gi" } }),
    size("2Gi"),
    size("1500Mi"),
    size("1Gi"),
    size("512Mi"),
    size("0"),
    size(null),
    size("3Gi", { cpu: "1" }),
    spec({ resources: { requests: null } }),
    spec({ resources: { limits: { storage: "5Gi" } } }),
    spec({ volumeAttributesClassName: "gold" }),
    status({ currentVolumeAttributesClassName: "gold" }),
    spec({ volumeAttributesClassName: null }),
    spec({ volumeAttributesClassName: "" }),
    spec({ volumeAttributesClassName: "Bad name" }),
    spec({ volumeMode: "Block" }),
    spec({ volumeMode: null }),
    spec({ accessModes: ["ReadWriteMany"] }),
    status({ allocatedResources: { storage: "-1", "a/b": "1" }, capacity: { storage: "-1" } }),
    status({ allocatedResourceStatuses: { storage: "Bogus", cpu: "NodeResizePending" } }),
    status({ allocatedResources: { storage: "1.5" }, allocatedResourceStatuses: { storage: "NodeResizePending" } }),
    status({ phase: "" }),
    status({ phase: "Lost", accessModes: ["Bogus"] }),
    size("4Gi"),
    remove(`${claims}/a`),
    get(`${claims}/a`),
  ]
}

function dataSources(): RequestStep[] {
  const own = { kind: "PersistentVolumeClaim", name: "a" }
  const other = { apiGroup: "a.example", kind: "B", name: "a" }
  return [
    claim("a", { dataSource: own }),
    claim("b", { dataSource: other }),
    claim("c", { dataSourceRef: other }),
    claim("d", { dataSource: own, dataSourceRef: other }),
    claim("e", { dataSourceRef: { ...own, namespace: "other" } }),
    claim("f", { dataSource: own, dataSourceRef: { ...own, namespace: "" } }),
    claim("g", { dataSourceRef: { ...own, namespace: "" } }),
    claim("h", { dataSource: { ...own, apiGroup: "" } }),
    ...["a", "b", "c"].flatMap((name) => [
      change(`${claims}/${name}`, { spec: { dataSource: null } }),
      change(`${claims}/${name}`, { spec: { dataSourceRef: null } }),
      change(`${claims}/${name}`, { spec: { dataSource: null, dataSourceRef: null } }),
      change(`${claims}/${name}`, { spec: { dataSource: other } }),
      change(`${claims}/${name}`, { spec: { dataSourceRef: { namespace: "other" } } }),
    ]),
  ]
}

function dataOfWrongGroups(): RequestStep[] {
  const wrong = { apiGroup: "Bad_Group" }
  const both = { dataSource: wrong, dataSourceRef: wrong }
  return [
    claim("a", { dataSourceRef: { kind: "B", name: "a", apiGroup: "a.example" } }),
    change(`${claims}/a`, { spec: { dataSourceRef: wrong } }),
    change(`${claims}/a`, { spec: both }),
    claim("b", { dataSourceRef: { kind: "PersistentVolumeClaim", name: "a" } }),
    change(`${claims}/b`, { spec: { dataSourceRef: wrong } }),
    change(`${claims}/b`, { spec: both }),
    claim("c", { volumeAttributesClassName: "Bad_", dataSource: { kind: "PersistentVolumeClaim", name: "" } }),
  ]
}

const capacity = { storage: "1Gi" }
const hostPath = { path: "/a" }
const volume = (name: string, spec: Body, metadata: Body = {}): RequestStep =>
  post(
    volumes,
    { metadata: { name: `${name}-@{id}`, ...metadata }, spec: { capacity, accessModes: ["ReadWriteOnce"], ...spec } },
    { label: `POST ${name} ${JSON.stringify(spec)}` },
  )

function mountOptions(): RequestStep[] {
  const annotations = { "volume.beta.kubernetes.io/mount-options": "ro" }
  return [
    volume("a", { hostPath }, { annotations }),
    volume("b", { nfs: { server: "a", path: "/b" } }, { annotations }),
    volume("c", { csi: { driver: "a.example", volumeHandle: "a" } }, { annotations }),
    volume("d", { hostPath, nfs: { server: "a", path: "/b" } }, { annotations }),
    volume("l", { local: { path: "/a" }, nodeAffinity: {} }),
    volume("l", { local: { path: "/a" } }),
    volume("l", { local: { path: "/a" }, nodeAffinity: { required: {} } }),
    volume("e", { hostPath, mountOptions: ["ro"] }),
    change(`${volumes}/e-@{id}`, { metadata: { annotations } }),
    change(`${volumes}/e-@{id}/status`, { metadata: { annotations } }),
    change(`${volumes}/e-@{id}`, { metadata: { labels: { a: "b" } } }),
    ...["/", "//", "/.", "/./", "/a/..", "."].map((path, index) =>
      volume(`r${index}`, { hostPath: { path }, persistentVolumeReclaimPolicy: "Recycle" }),
    ),
  ]
}

function faultySources(): RequestStep[] {
  const csi = { driver: "a.example", volumeHandle: "a" }
  const registries = ["a:[1", "a]:1", "[a[b]:1", "[::1]:80", "[::1]80", "::1:80", "a", ":", "[]:", "a:1,", "[a]b:1"]
  const far = "1.2.3.4:1".padEnd(70, "0")
  return [
    volume("a", { local: { path: "/a" }, csi }),
    volume("a", { local: { path: "" }, csi }),
    volume("a", { iscsi: { targetPortal: far, iqn: "x", lun: 300, initiatorName: "y" } }),
    volume("a", { iscsi: { targetPortal: "", iqn: "eui.1", lun: -1, initiatorName: "naa.1", secretRef: {} }, csi }),
    ...registries.map((registry, index) => volume(`q${index}`, { quobyte: { registry, volume: "v" } })),
  ]
}

function phases(): RequestStep[] {
  const at = `${volumes}/a-@{id}`
  const status = (value: Body): RequestStep => change(`${at}/status`, { status: value })
  const then = "2020-01-02T03:04:05Z"
  return [
    volume("a", { hostPath }),
    status({ phase: "Available" }),
    status({ phase: "Bound", lastPhaseTransitionTime: then }),
    status({ lastPhaseTransitionTime: then }),
    status({ phase: "Bound", lastPhaseTransitionTime: null }),
    status({ lastPhaseTransitionTime: then }),
    status({ phase: "Released" }),
    status({ phase: "Released", lastPhaseTransitionTime: then }),
    status({ lastPhaseTransitionTime: then }),
    status({ phase: "Failed", reason: "a", message: "b" }),
    status({ phase: "" }),
    status({ phase: "Bogus", lastPhaseTransitionTime: "2021-01-02T03:04:05Z" }),
    get(at),
    remove(at),
  ]
}

function volumeChanges(): RequestStep[] {
  const at = `${volumes}/a-@{id}`
  const spec = (value: Body): RequestStep => change(at, { spec: value })
  const required = (key: string): Body => ({
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "Exists" }] }] } },
  })
  const secret = { name: "a", namespace: "b" }
  return [
    volume("a", { csi: { driver: "a.example", volumeHandle: "a" }, ...required("a") }),
    spec(required("b")),
    spec({ nodeAffinity: null }),
    volume("b", { hostPath, ...required("beta.kubernetes.io/os") }),
    change(`${volumes}/b-@{id}`, { spec: required("kubernetes.io/arch") }),
    change(`${volumes}/b-@{id}`, { spec: required("kubernetes.io/os") }),
    change(`${volumes}/b-@{id}`, { spec: required("beta.kubernetes.io/os") }),
    volume("c", { hostPath }),
    change(`${volumes}/c-@{id}`, { spec: required("a") }),
    change(`${volumes}/c-@{id}`, { spec: { nodeAffinity: { required: null } } }),
    spec({ csi: { controllerExpandSecretRef: secret } }),
    spec({ csi: { controllerExpandSecretRef: { ...secret, name: "c" } } }),
    spec({ csi: { controllerExpandSecretRef: null } }),
    spec({ csi: { nodePublishSecretRef: secret } }),
    spec({ volumeMode: "Block" }),
    spec({ capacity: { storage: "2Gi" } }),
    spec({ claimRef: { name: "a", namespace: "b" } }),
    spec({ claimRef: null }),
    spec({ volumeAttributesClassName: "gold" }),
    spec({ volumeAttributesClassName: "silver" }),
    spec({ volumeAttributesClassName: null }),
    spec({ hostPath }),
    spec({ csi: null, hostPath }),
    spec({ persistentVolumeReclaimPolicy: "Bogus" }),
    put(at, { metadata: { name: "a-@{id}" }, spec: {} }),
    remove(at),
  ]
}
