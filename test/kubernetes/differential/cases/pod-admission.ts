// What admission plugins do to pods: limits of their namespace, runtime classes, secrets that their account may mount, mirror pods.

import type { Json } from "../../../../apimachinery/object.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const pods = `${core}/pods`

export function podAdmissionCases(): Scenario[] {
  return [
    { name: "limits of a namespace are defaults of containers that are resized", steps: resizedDefaults() },
    { name: "limits of a pod count what its containers have, and its own processors and memory", steps: podLimits() },
    { name: "a runtime class has overhead and tolerations", steps: runtimeClasses() },
    { name: "an account limits the secrets that its pods use", steps: mountableSecrets() },
    { name: "a mirror pod uses secrets", steps: mirrorSecrets() },
    { name: "a claim with its class in an annotation grows", steps: growingClaims() },
  ]
}

const main = (more: JsonObject = {}): JsonObject => ({ name: "main", image: "busybox", ...more })

const pod = (name: string, spec: JsonObject, metadata: JsonObject = {}, query = ""): RequestStep =>
  post(
    `${pods}${query}`,
    { metadata: { name, ...metadata }, spec: { containers: [main()], ...spec } },
    { label: `POST ${name}` },
  )

const range = (name: string, limits: Json): RequestStep =>
  post(`${core}/limitranges`, { metadata: { name }, spec: { limits } })

function resizedDefaults(): RequestStep[] {
  const resize = (resources: JsonObject, query = ""): RequestStep =>
    patch(`${pods}/a/resize${query}`, strategicPatch, { spec: { containers: [{ name: "main", resources }] } })
  return [
    pod("a", { containers: [main({ resources: { requests: { cpu: "10m" } } })] }),
    range("l", [
      {
        type: "Container",
        default: { cpu: "200m" },
        defaultRequest: { cpu: "100m", memory: "10Mi" },
        max: { cpu: "300m" },
      },
    ]),
    // Upstream notices the limits a moment later.
    post(
      `${pods}?dryRun=All`,
      { metadata: { name: "big" }, spec: { containers: [main({ resources: { limits: { cpu: "400m" } } })] } },
      { untilCode: 403 },
    ),
    resize({ requests: { cpu: "20m" } }),
    resize({ requests: { cpu: "400m" } }),
    resize({}),
    get(`${pods}/a`),
  ]
}

function podLimits(): RequestStep[] {
  const huge = { "hugepages-2Mi": "4Mi", cpu: "100m", memory: "10Mi" }
  const ofPod = { requests: { ...huge, "hugepages-2Mi": "8Mi" }, limits: { ...huge, "hugepages-2Mi": "8Mi" } }
  const resources = { requests: huge, limits: huge }
  return [
    post("/apis/node.k8s.io/v1/runtimeclasses", {
      metadata: { name: "r@{id}" },
      handler: "h",
      overhead: { podFixed: { cpu: "500m", memory: "1Gi" } },
    }),
    range("l", [{ type: "Pod", max: { cpu: "200m", memory: "20Mi", "hugepages-2Mi": "4Mi" } }]),
    pod("own", { containers: [main({ resources })], resources: ofPod }),
    pod("overhead", { containers: [main({ resources })], runtimeClassName: "r@{id}" }),
    pod("own-processors", {
      containers: [main({ resources })],
      resources: { requests: { cpu: "300m" }, limits: { cpu: "300m" } },
    }),
  ]
}

function runtimeClasses(): RequestStep[] {
  const make = (name: string, more: JsonObject): RequestStep =>
    post("/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: `${name}@{id}` }, handler: "h", ...more })
  const cpu = { cpu: "10m" }
  const seconds = { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }
  const run = (name: string, ofClass: string, more: JsonObject = {}): RequestStep =>
    pod(name, { runtimeClassName: `${ofClass}@{id}`, ...more }, {}, "?dryRun=All")
  return [
    make("plain", {}),
    make("empty", { overhead: {} }),
    make("heavy", { overhead: { podFixed: cpu } }),
    make("all", { scheduling: { tolerations: [{ operator: "Exists" }] } }),
    make("some", {
      scheduling: {
        tolerations: [
          { key: "a", operator: "Exists" },
          { key: "b", operator: "Equal", value: "1", effect: "NoSchedule" },
          seconds,
        ],
      },
    }),
    make("none", { scheduling: { nodeSelector: {} } }),
    run("overhead-of-plain", "plain", { overhead: cpu }),
    run("overhead-of-plain-without-containers", "plain", { overhead: cpu, containers: [] }),
    run("overhead-of-empty", "empty", { overhead: cpu }),
    run("other-overhead", "heavy", { overhead: { cpu: "20m" } }),
    run("same-overhead", "heavy", { overhead: cpu }),
    run("no-overhead", "heavy", { overhead: {} }),
    run("no-overhead-of-plain", "plain", { overhead: {} }),
    run("any", "all"),
    run("any-and-own", "all", { tolerations: [{ key: "x", operator: "Exists" }, seconds] }),
    run("some-and-own", "some", {
      tolerations: [
        { key: "a", operator: "Equal", value: "1" },
        { key: "b", value: "1", effect: "NoSchedule" },
        { ...seconds, tolerationSeconds: 30 },
        { key: "b", operator: "Exists" },
        { key: "c", operator: "Exists" },
        { key: "c", operator: "Exists" },
      ],
    }),
    run("repeated", "none", { tolerations: [seconds, seconds, { key: "a", operator: "Exists" }] }),
    run("repeated-of-plain", "plain", { tolerations: [seconds, seconds, { key: "a", operator: "Exists" }] }),
  ]
}

function mountableSecrets(): RequestStep[] {
  const mark = "kubernetes.io/enforce-mountable-secrets"
  const account = (name: string, value: string): RequestStep =>
    post(`${core}/serviceaccounts`, {
      metadata: { name, annotations: { [mark]: value } },
      secrets: [{ name: "own" }],
      imagePullSecrets: [{ name: "pull" }],
    })
  const from = (name: string): JsonObject => ({ env: [{ name: "E", valueFrom: { secretKeyRef: { name, key: "k" } } }] })
  const debug = (name: string, more: JsonObject, of = "a"): RequestStep =>
    patch(
      `${pods}/${of}/ephemeralcontainers`,
      strategicPatch,
      { spec: { ephemeralContainers: [{ name, image: "busybox", ...more }] } },
      { label: `PATCH ${name}` },
    )
  const uses = (serviceAccountName: string, more: JsonObject): RequestStep =>
    pod(`of-${serviceAccountName}`.toLowerCase(), { serviceAccountName, ...more }, {}, "?dryRun=All")
  const other = { containers: [main(from("other"))] }
  return [
    ...["true", "1", "t", "TRUE", "T", "True", "tRUE", "yes", "", "false"].flatMap((value, index) => [
      account(`s${index}`, value),
      uses(`s${index}`, other),
    ]),
    // What is not allowed is found before anything that is wrong, and before a class of priority.
    uses("s0", { ...other, restartPolicy: "Sometimes" }),
    uses("s0", { ...other, priorityClassName: "absent" }),
    uses("s0", { imagePullSecrets: [{ name: "other" }] }),
    uses("s0", { initContainers: [{ ...main(from("other")), name: "init" }] }),
    uses("s0", { containers: [main({ envFrom: [{ secretRef: { name: "other" } }] })] }),
    uses("s0", { volumes: [{ name: "v", secret: { secretName: "other" } }] }),
    uses("s0", { volumes: [{ name: "v", secret: {} }] }),
    uses("s0", { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "other" } }] } }] }),
    pod("a", { serviceAccountName: "s0" }),
    debug("d1", from("other")),
    debug("d2", { envFrom: [{ secretRef: { name: "other" } }] }),
    debug("d3", { ...from("other"), ports: [{ containerPort: 80 }] }),
    debug("d4", from("own")),
    pod("b", { serviceAccountName: "s9" }),
    debug("d1", from("other"), "b"),
    patch(`${core}/serviceaccounts/s9`, mergePatch, { metadata: { annotations: { [mark]: "true" } } }),
    debug("d2", from("own"), "b"),
  ]
}

function mirrorSecrets(): RequestStep[] {
  const annotations = { "kubernetes.io/config.mirror": "x" }
  const mirror = (name: string, spec: JsonObject): RequestStep =>
    pod(name, { nodeName: "n", ...spec }, { annotations }, "?dryRun=All")
  const volume = (source: JsonObject): JsonObject => ({ volumes: [{ name: "v", ...source }] })
  return [
    mirror("none", {}),
    mirror("pulled", { imagePullSecrets: [{ name: "s" }] }),
    mirror("unnamed", { imagePullSecrets: [{}] }),
    mirror("env", {
      containers: [main({ env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] })],
    }),
    mirror("env-from", { containers: [main({ envFrom: [{ secretRef: { name: "s" } }] })] }),
    mirror("secret", volume({ secret: { secretName: "s" } })),
    mirror("unnamed-secret", volume({ secret: {} })),
    mirror("projected", volume({ projected: { sources: [{ secret: { name: "s" } }] } })),
    mirror("csi", volume({ csi: { driver: "d", nodePublishSecretRef: { name: "s" } } })),
    mirror("iscsi", volume({ iscsi: { targetPortal: "p", iqn: "iqn.2015-02.a:b", lun: 0, secretRef: { name: "s" } } })),
    mirror("azure", volume({ azureFile: { shareName: "a", secretName: "s" } })),
    mirror("token", volume({ projected: { sources: [{ serviceAccountToken: { path: "p" } }] } })),
    mirror("account", { serviceAccountName: "default" }),
    mirror("older-account", { serviceAccount: "default" }),
  ]
}

function growingClaims(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const storageClass = (name: string, more: JsonObject): RequestStep =>
    post("/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: `${name}@{id}` }, provisioner: "p", ...more })
  const size = (storage: string): JsonObject => ({ resources: { requests: { storage } } })
  const claim = (name: string, ofClass: string, spec: JsonObject = {}): RequestStep[] => {
    const metadata = { name, annotations: { "volume.beta.kubernetes.io/storage-class": ofClass } }
    return [
      post(claims, { metadata, spec: { accessModes: ["ReadWriteOnce"], volumeName: "v", ...size("1Gi"), ...spec } }),
      patch(`${claims}/${name}/status`, mergePatch, { status: { phase: "Bound" } }),
      patch(`${claims}/${name}`, mergePatch, { spec: size("2Gi") }),
    ]
  }
  return [
    storageClass("grows", { allowVolumeExpansion: true }),
    storageClass("stays", {}),
    ...claim("a", "grows@{id}"),
    ...claim("b", "stays@{id}"),
    ...claim("c", "", { storageClassName: "grows@{id}" }),
    ...claim("d", "stays@{id}", { storageClassName: "grows@{id}" }),
  ]
}
