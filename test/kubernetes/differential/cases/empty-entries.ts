// Lists of the core group's kinds whose entries have nothing in them.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"

export function emptyEntryCases(): Scenario[] {
  return [{ name: "lists of entries without anything", anyOrder: true, steps: emptyEntries() }]
}

/** Two of each: what is missing is also repeated. */
function emptyEntries(): RequestStep[] {
  const two: Json = [{}, {}]
  const main: Body = { name: "main", image: "busybox" }
  const inContainer: Body[] = [
    { env: two },
    { envFrom: two },
    {
      env: [
        { name: "a", valueFrom: {} },
        { name: "b", valueFrom: { fieldRef: {} } },
      ],
    },
    { env: [{ name: "a", valueFrom: { configMapKeyRef: {}, secretKeyRef: {} } }] },
    {
      env: [
        { name: "a", valueFrom: { resourceFieldRef: {} } },
        { name: "b", valueFrom: { fileKeyRef: {} } },
      ],
    },
    { envFrom: [{ configMapRef: {}, secretRef: {} }] },
    { ports: two },
    { resizePolicy: two },
    { restartPolicy: "Never", restartPolicyRules: two },
    { resources: { claims: two } },
    { livenessProbe: {}, readinessProbe: {}, startupProbe: {}, lifecycle: { preStop: {}, postStart: {} } },
    { livenessProbe: { httpGet: { httpHeaders: two } }, readinessProbe: { grpc: {} }, startupProbe: { exec: {} } },
    { livenessProbe: { tcpSocket: {} }, lifecycle: { preStop: { sleep: {} }, postStart: { httpGet: {} } } },
    {
      securityContext: {
        seccompProfile: {},
        appArmorProfile: {},
        windowsOptions: {},
        seLinuxOptions: {},
        capabilities: {},
      },
    },
  ]
  const specs: Body[] = [
    ...inContainer.map((more) => ({ containers: [{ ...main, ...more }] })),
    { containers: two },
    { containers: [main, main, {}], initContainers: two },
    { volumes: two },
    ...[
      "secret",
      "configMap",
      "downwardAPI",
      "projected",
      "csi",
      "nfs",
      "iscsi",
      "fc",
      "hostPath",
      "ephemeral",
      "image",
    ].map((source) => ({ volumes: [{ name: "v", [source]: {} }] })),
    ...[
      "rbd",
      "cephfs",
      "cinder",
      "azureDisk",
      "azureFile",
      "flexVolume",
      "flocker",
      "gitRepo",
      "glusterfs",
      "portworxVolume",
    ].map((source) => ({ volumes: [{ name: "v", [source]: {} }] })),
    ...["quobyte", "scaleIO", "storageos", "vsphereVolume", "photonPersistentDisk", "persistentVolumeClaim"].map(
      (source) => ({
        volumes: [{ name: "v", [source]: {} }],
      }),
    ),
    { volumes: [{ name: "v", projected: { sources: two } }] },
    {
      volumes: [
        { name: "v", projected: { sources: [{ secret: {} }, { configMap: {} }, { serviceAccountToken: {} }] } },
      ],
    },
    {
      volumes: [
        { name: "v", secret: { secretName: "a", items: two } },
        { name: "w", downwardAPI: { items: two } },
      ],
    },
    { hostAliases: two, imagePullSecrets: two },
    { tolerations: two, readinessGates: two, schedulingGates: two },
    { topologySpreadConstraints: two },
    { resourceClaims: two },
    { securityContext: { sysctls: two, seccompProfile: {}, appArmorProfile: {} } },
    { dnsConfig: { options: two, nameservers: ["", ""], searches: ["", ""] } },
    { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: two } } },
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } },
    { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: two } } },
    { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: two } } },
    { os: {}, overhead: {}, resources: {} },
  ]
  const dry = (path: string, body: Body, label: string): RequestStep =>
    post(`${path}?dryRun=All`, { metadata: { name: "a" }, ...body }, { label })
  const own = (resource: string, body: Body): RequestStep =>
    dry(`${core}/${resource}`, body, `${resource} ${JSON.stringify(body)}`)
  const inNode: Body[] = [{ spec: { taints: two } }, { spec: { podCIDRs: ["", ""] } }]
  return [
    ...specs.map((spec, index) => dry(`${core}/pods`, { spec: { containers: [main], ...spec } }, `pod ${index}`)),
    own("services", { spec: { ports: two } }),
    own("services", { spec: { ports: two, sessionAffinity: "ClientIP", externalIPs: ["", ""] } }),
    own("endpoints", { subsets: two }),
    own("endpoints", { subsets: [{ addresses: two, notReadyAddresses: two, ports: two }] }),
    own("limitranges", { spec: { limits: two } }),
    own("resourcequotas", { spec: { scopes: ["", ""], scopeSelector: { matchExpressions: two } } }),
    own("replicationcontrollers", { spec: { template: {} } }),
    own("replicationcontrollers", { spec: {} }),
    own("podtemplates", {}),
    own("persistentvolumeclaims", { spec: {} }),
    own("persistentvolumeclaims", { spec: { dataSource: {}, dataSourceRef: {}, selector: { matchExpressions: two } } }),
    own("serviceaccounts", { secrets: two, imagePullSecrets: two }),
    own("events", {}),
    own("events", { involvedObject: {}, series: {}, related: {}, source: {} }),
    ...inNode.map((body, index) => dry("/api/v1/nodes", body, `node ${index}`)),
    dry("/api/v1/persistentvolumes", { spec: {} }, "volume"),
    dry(
      "/api/v1/persistentvolumes",
      { spec: { nodeAffinity: { required: { nodeSelectorTerms: two } }, csi: {} } },
      "csi",
    ),
    dry("/api/v1/persistentvolumes", { spec: { claimRef: {}, iscsi: {}, rbd: {}, local: {} } }, "sources"),
  ]
}
