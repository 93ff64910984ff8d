// Limits of texts that are not ASCII: most count bytes, some characters, none UTF-16 code units.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const pods = "/api/v1/namespaces/@{ns}/pods"
const nodes = "/api/v1/nodes"
const main: Body = { name: "main", image: "busybox" }
/** Two bytes, one code unit. */
const e = "é"
/** Four bytes, two code units, one character. */
const face = "😀"

export function textLengthCases(): Scenario[] {
  return [
    { name: "texts of a pod have limits of bytes", anyOrder: true, steps: podTexts() },
    { name: "names of Windows users have limits of bytes", anyOrder: true, steps: users() },
    { name: "sources of volumes have limits of bytes", anyOrder: true, steps: volumes() },
    { name: "features of a node have limits of bytes, and an order of bytes", anyOrder: true, steps: features() },
    { name: "texts of other kinds have limits of bytes", anyOrder: true, steps: others() },
    { name: "texts of a pod's status have limits of bytes", anyOrder: true, steps: statuses() },
  ]
}

const pod = (label: string, spec: Body, metadata: Body = {}): RequestStep =>
  post(`${pods}?dryRun=All`, { metadata: { name: "a", ...metadata }, spec: { containers: [main], ...spec } }, { label })

function podTexts(): RequestStep[] {
  const search = (text: string): Body => ({ dnsConfig: { searches: [text] } })
  const profile = (localhostProfile: string): Body => ({
    securityContext: { appArmorProfile: { type: "Localhost", localhostProfile } },
  })
  return [
    pod("searches", search(e.repeat(1025))),
    pod("searches of faces", search(face.repeat(513))),
    pod("many searches", { dnsConfig: { searches: Array(32).fill(e.repeat(32)) } }),
    pod("host name", { hostname: e.repeat(32) }),
    pod("host name override", { hostnameOverride: e.repeat(33) }),
    pod("profile", profile(e.repeat(2048))),
    pod("profile that is too long", profile(face.repeat(1024))),
    pod("labels", {}, { labels: { a: e.repeat(32), [e.repeat(32)]: "a", [`${e.repeat(127)}/a`]: "b" } }),
    pod("annotations", {}, { annotations: { a: e.repeat(131_072) } }),
    pod("annotations of faces", {}, { annotations: { a: face.repeat(65_535), b: "ab" } }),
    pod("names", {}, { name: e.repeat(127), generateName: e.repeat(127), namespace: e.repeat(32) }),
    pod("variables", { containers: [{ ...main, env: [{ name: e.repeat(127), value: e }] }] }),
    pod("ports", { containers: [{ ...main, ports: [{ containerPort: 1, name: e.repeat(8) }] }] }),
    pod("container", { containers: [{ ...main, name: e.repeat(32) }] }),
    pod("system controls", { securityContext: { sysctls: [{ name: e.repeat(127), value: "1" }] } }),
    pod("tolerations", { tolerations: [{ key: e.repeat(32), value: e.repeat(32) }] }),
    pod("scheduling gates", { schedulingGates: [{ name: e.repeat(32) }] }),
    pod("hook", {
      containers: [
        { ...main, livenessProbe: { httpGet: { port: e.repeat(8), httpHeaders: [{ name: e.repeat(8), value: e }] } } },
      ],
    }),
    pod("limits", { containers: [{ ...main, resources: { limits: { [`a/${e.repeat(32)}`]: "1" } } }] }),
  ]
}

function users(): RequestStep[] {
  const names = [
    e.repeat(52),
    e.repeat(53),
    face.repeat(27),
    `${e.repeat(15)}\\a`,
    `${face.repeat(15)}\\a`,
    `${face.repeat(16)}\\a`,
    `${e.repeat(128)}\\a`,
    `a\\${face.repeat(30)}`,
    `.\n`,
    `a\u0085b`,
    `\u2028\\\u2029`,
  ]
  const asUser = (runAsUserName: string): RequestStep =>
    pod(`as ${JSON.stringify(runAsUserName.slice(0, 20))}, ${runAsUserName.length}`, {
      securityContext: { windowsOptions: { runAsUserName } },
    })
  return [
    ...names.map(asUser),
    pod("credentials", { securityContext: { windowsOptions: { gmsaCredentialSpec: e.repeat(32_769) } } }),
    pod("name of credentials", { securityContext: { windowsOptions: { gmsaCredentialSpecName: e.repeat(127) } } }),
  ]
}

function volumes(): RequestStep[] {
  const iscsi = (targetPortal: string): Body => ({
    iscsi: { targetPortal, iqn: "iqn.2001-04.com.example:a", lun: 0, initiatorName: "iqn.2001-04.com.example:b" },
  })
  const quobyte = (tenant: string): Body => ({ quobyte: { registry: "a:1", volume: "v", tenant } })
  const sources: Record<string, Body> = {
    portal: iscsi(e.repeat(32)),
    "shorter portal": iscsi(e.repeat(30)),
    "portal of faces": iscsi(face.repeat(16)),
    tenant: quobyte(e.repeat(33)),
    "shorter tenant": quobyte(e.repeat(32)),
    driver: { csi: { driver: e.repeat(32) } },
    path: { hostPath: { path: `/${e.repeat(300)}` } },
  }
  const volume = (label: string, source: Body): RequestStep =>
    post(
      "/api/v1/persistentvolumes?dryRun=All",
      { metadata: { name: "v" }, spec: { capacity: { storage: "1" }, accessModes: ["ReadWriteOnce"], ...source } },
      { label: `persistent, ${label}` },
    )
  return Object.entries(sources).flatMap(([label, source]) => [
    pod(label, { volumes: [{ name: "v", ...source }] }),
    volume(label, source),
  ])
}

function features(): RequestStep[] {
  const lists = [
    [e.repeat(127)],
    [`A${e.repeat(126)}`],
    [face.repeat(64)],
    ["A", "\u{1f600}", "\uffee"],
    ["A", "\uffee", "\u{1f600}"],
  ]
  const name = "features-@{id}"
  return [
    post(nodes, { metadata: { name } }),
    ...lists.map((declaredFeatures) =>
      patch(
        `${nodes}/${name}/status`,
        mergePatch,
        { status: { declaredFeatures } },
        { label: declaredFeatures.join() },
      ),
    ),
  ]
}

function others(): RequestStep[] {
  const create = (path: string, body: Body): RequestStep => post(`${path}?dryRun=All`, body, { label: path })
  const here = (group: string, resource: string): string => `/${group}/namespaces/@{ns}/${resource}`
  const job = { template: { spec: { restartPolicy: "Never", containers: [main] } } }
  const event = (more: Body): Body => ({
    metadata: { name: "a" },
    eventTime: "2020-01-01T00:00:00.000000Z",
    reportingController: "a/b",
    reportingInstance: "c",
    action: "d",
    reason: "e",
    type: "Normal",
    regarding: { namespace: "@{ns}" },
    ...more,
  })
  return [
    create(here("apis/events.k8s.io/v1", "events"), event({ reportingInstance: e.repeat(64), note: e.repeat(512) })),
    create(
      here("apis/events.k8s.io/v1", "events"),
      event({ reportingInstance: e.repeat(65), action: face.repeat(33) }),
    ),
    create(here("apis/events.k8s.io/v1", "events"), event({ reason: face.repeat(32), note: face.repeat(257) })),
    create(here("apis/batch/v1", "cronjobs"), {
      metadata: { name: e.repeat(27) },
      spec: { schedule: "@daily", jobTemplate: { spec: job } },
    }),
    create(here("apis/batch/v1", "jobs"), {
      metadata: { name: "a" },
      spec: { ...job, managedBy: `a/${e.repeat(31)}` },
    }),
    create(here("api/v1", "configmaps"), { metadata: { name: "a" }, data: { [e.repeat(127)]: "a" } }),
    create(here("api/v1", "secrets"), { metadata: { name: "a" }, stringData: { a: face.repeat(262_145) } }),
    create(here("api/v1", "services"), {
      metadata: { name: e.repeat(32) },
      spec: { ports: [{ port: 1, name: e.repeat(32), appProtocol: e.repeat(32) }], externalName: e.repeat(127) },
    }),
    create("/apis/networking.k8s.io/v1/ingressclasses", {
      metadata: { name: "a" },
      spec: { controller: `a.b/${e.repeat(124)}` },
    }),
    create("/apis/storage.k8s.io/v1/csidrivers", { metadata: { name: e.repeat(32) }, spec: {} }),
    create("/apis/storage.k8s.io/v1/csinodes", {
      metadata: { name: "a" },
      spec: { drivers: [{ name: "a", nodeID: e.repeat(97) }] },
    }),
    create("/apis/storage.k8s.io/v1/volumeattachments", {
      metadata: { name: "a" },
      spec: { attacher: e.repeat(32), nodeName: "b", source: { persistentVolumeName: "c" } },
    }),
    create("/apis/certificates.k8s.io/v1/certificatesigningrequests", {
      metadata: { name: "a" },
      spec: { request: "", signerName: `${e.repeat(130)}.a/${e.repeat(130)}`, usages: ["any"] },
    }),
    create("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", {
      metadata: { name: "a" },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
        },
        auditAnnotations: [{ key: e.repeat(32), valueExpression: `'${e.repeat(2560)}'` }],
        validations: [{ expression: `'${face}'.size() == 1`, message: face.repeat(2049) }],
        variables: [{ name: e.repeat(32), expression: `'${face}'` }],
        matchConditions: [{ name: e.repeat(32), expression: "true" }],
      },
    }),
    ...[8180, 8200].map((count) =>
      post(
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All",
        { metadata: { name: "a" }, spec: { validations: [{ expression: `'${e.repeat(count)}' + ` }] } },
        { label: `expression with a fault and ${count} characters` },
      ),
    ),
    create(here("apis/coordination.k8s.io/v1", "leases"), {
      metadata: { name: "a" },
      spec: { holderIdentity: e.repeat(200), strategy: e.repeat(32) },
    }),
    create(here("apis/discovery.k8s.io/v1", "endpointslices"), {
      metadata: { name: "a" },
      addressType: "FQDN",
      endpoints: [{ addresses: [`${e.repeat(127)}.a`], hostname: e.repeat(32), nodeName: e.repeat(127), zone: e }],
      ports: [{ name: e.repeat(32), appProtocol: e.repeat(32) }],
    }),
    create(`/api/v1/namespaces/@{ns}/pods/a/binding`, { metadata: { name: "a" }, target: { name: e.repeat(127) } }),
    create("/apis/resource.k8s.io/v1/deviceclasses", {
      metadata: { name: "a" },
      spec: {
        selectors: [{ cel: { expression: `'${e.repeat(5119)}' == ''` } }],
        config: [{ opaque: { driver: e.repeat(32), parameters: { a: face.repeat(2560) } } }],
        extendedResourceName: `a/${e.repeat(32)}`,
      },
    }),
  ]
}

function statuses(): RequestStep[] {
  const ready = (more: Body): Body => ({
    status: {
      containerStatuses: [{ name: "main", image: "busybox", imageID: "", restartCount: 0, ready: false, ...more }],
    },
  })
  const label = (text: string): { label: string } => ({ label: text })
  const health = (message: string): Body =>
    ready({
      allocatedResourcesStatus: [{ name: "claim:a", resources: [{ resourceID: "a", health: "Unhealthy", message }] }],
    })
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [main] } }),
    patch(`${pods}/a/status`, mergePatch, health(e.repeat(512)), label("health")),
    patch(`${pods}/a/status`, mergePatch, health(face.repeat(257)), label("longer health")),
    ...[e.repeat(128), face.repeat(65), ""].map((imageRef) =>
      patch(
        `${pods}/a/status`,
        mergePatch,
        ready({ volumeMounts: [{ name: "v", mountPath: "/a", volumeStatus: { image: { imageRef } } }] }),
        label(`image of ${imageRef.length}`),
      ),
    ),
    put(`/api/v1/namespaces/@{ns}/finalize`, { metadata: { name: "@{ns}" }, spec: { finalizers: [e.repeat(32)] } }),
  ]
}
