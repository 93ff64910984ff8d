// Random pods in namespaces with random levels of pod security: of every field that a check reads, values on both sides of its rules;
// levels of every version in which a check changes; and pods that are already there when the level changes.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { labelPrefix } from "../../../../gateway/admission/plugins/pod-security/policy.ts"
import type { JsonObject } from "../generate/objects.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { titled } from "./titled.ts"

const space = "/api/v1/namespaces/@{ns}"
const pods = `${space}/pods`
const length = 24
const names = ["a", "b", "c", "d"]

export function randomPodSecurityScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [labelled(random), ...Array.from({ length }, () => pick(random, choices)(random))]
  return { name: `pod security at random, seed ${seed}`, steps: titled(steps), byChance: true }
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  labelled,
  labelled,
  (random) => post(`${pods}?dryRun=All`, pod(random, "dry")),
  (random) => post(`${pods}?dryRun=All`, pod(random, "dry")),
  (random) => post(`${pods}?dryRun=All`, pod(random, "dry")),
  (random) => post(pods, pod(random, pick(random, names))),
  (random) => post(pods, pod(random, pick(random, names))),
  templated,
  templated,
  updated,
  (random) => remove(`${pods}/${pick(random, names)}?gracePeriodSeconds=0`),
]

/** With exactly these labels of pod security, so that those of before are gone. */
function labelled(random: Random): RequestStep {
  const labels: Record<string, Json> = {}
  for (const mode of ["enforce", "audit", "warn"]) {
    labels[labelPrefix + mode] = chance(random, 0.6) ? pick(random, levels) : null
    labels[`${labelPrefix}${mode}-version`] = chance(random, 0.5) ? versionOf(random) : null
  }
  if (chance(random, 0.05)) labels[labelPrefix + pick(random, ["enforce", "warn", "audit-version", "other"])] = "odd"
  return patch(space, mergePatch, { metadata: { labels } })
}

const levels = ["privileged", "baseline", "baseline", "restricted", "restricted"]
/** Those before and in which a check changes, and around the newest. */
const minors = [0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 99]

function versionOf(random: Random): string {
  return chance(random, 0.2) ? "latest" : `v1.${pick(random, minors)}`
}

/** Each with its probability. */
function some(random: Random, fields: Record<string, readonly [number, () => Json]>): JsonObject {
  const chosen = Object.entries(fields).filter(([, [probability]]) => chance(random, probability))
  return Object.fromEntries(chosen.map(([name, [, value]]) => [name, value()]))
}

function pod(random: Random, name: string): JsonObject {
  return { metadata: { name, ...metadata(random) }, spec: spec(random) }
}

function metadata(random: Random): JsonObject {
  const owner = { apiVersion: "v1", kind: "ReplicationController", name: "r", controller: true }
  return some(random, {
    annotations: [0.25, () => annotations(random)],
    ownerReferences: [0.3, () => [{ ...owner, uid: pick(random, ["u-1", "u-2"]) }]],
  })
}

function annotations(random: Random): JsonObject {
  const appArmor = (name: string): string => `container.apparmor.security.beta.kubernetes.io/${name}`
  const seccomp = "container.seccomp.security.alpha.kubernetes.io/"
  const word = (): Json => pick(random, ["runtime/default", "localhost/x", "unconfined"])
  return some(random, {
    [appArmor("c")]: [0.5, word],
    [appArmor("d")]: [0.3, word],
    "seccomp.security.alpha.kubernetes.io/pod": [0.1, word],
    [`${seccomp}c`]: [0.1, () => pick(random, ["docker/default", "unconfined", "localhost/x"])],
    [`${seccomp}other`]: [0.2, word],
  })
}

function spec(random: Random): JsonObject {
  const containers = [container(random, "c"), ...(chance(random, 0.4) ? [container(random, "d")] : [])]
  const initContainers = chance(random, 0.3) ? [initial(random)] : []
  // Only a pod with its own users may see all of /proc.
  const isUnmasked = JSON.stringify([containers, initContainers]).includes("Unmasked")
  return {
    containers,
    initContainers,
    ...some(random, {
      hostNetwork: [0.1, () => chance(random, 0.5)],
      hostPID: [0.1, () => chance(random, 0.5)],
      hostIPC: [0.1, () => chance(random, 0.5)],
      hostUsers: [isUnmasked ? 0.9 : 0.3, () => !isUnmasked && chance(random, 0.3)],
      os: [0.1, () => ({ name: pick(random, ["windows", "linux"]) })],
      securityContext: [0.6, () => podContext(random)],
      volumes: [0.3, () => volumes(random)],
    }),
  }
}

function podContext(random: Random): JsonObject {
  return some(random, {
    ...shared(random),
    sysctls: [0.2, () => Array.from({ length: 2 }, () => ({ name: pick(random, sysctls), value: "1" }))],
  })
}

/** Of pods and of containers. */
function shared(random: Random): Record<string, readonly [number, () => Json]> {
  const profile = (): Json =>
    pick<Json>(random, [
      { type: "RuntimeDefault" },
      { type: "RuntimeDefault" },
      { type: "Unconfined" },
      { type: "Localhost", localhostProfile: "p" },
    ])
  return {
    appArmorProfile: [0.15, profile],
    seccompProfile: [0.6, profile],
    seLinuxOptions: [0.2, () => seLinux(random)],
    runAsNonRoot: [0.6, () => chance(random, 0.8)],
    runAsUser: [0.2, () => pick(random, [0, 1000])],
    windowsOptions: [0.02, () => ({ hostProcess: chance(random, 0.6) })],
  }
}

function seLinux(random: Random): JsonObject {
  const types = ["container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t", ""]
  return some(random, {
    type: [0.7, () => pick(random, types)],
    user: [0.2, () => pick(random, ["u", ""])],
    role: [0.2, () => pick(random, ["r", ""])],
    level: [0.3, () => "s0:c1"],
  })
}

function container(random: Random, name: string): JsonObject {
  const port = (): JsonObject => ({ containerPort: 80, hostPort: pick(random, [0, 80, 8080, 443]) })
  return {
    name,
    image: pick(random, ["i", "j"]),
    ...some(random, {
      securityContext: [0.8, () => containerContext(random)],
      ports: [0.15, () => [port()]],
      livenessProbe: [0.1, () => handler(random)],
      readinessProbe: [0.1, () => handler(random)],
      lifecycle: [0.1, () => ({ [pick(random, ["preStop", "postStart"])]: handler(random) })],
    }),
  }
}

/** Without what only long-running containers may have. */
function initial(random: Random): JsonObject {
  const { livenessProbe: _l, readinessProbe: _r, lifecycle: _c, ...rest } = container(random, "i")
  return rest
}

function handler(random: Random): JsonObject {
  const host = some(random, {
    host: [0.6, () => pick(random, ["b.example.com", "10.0.0.1", "127.0.0.1", "localhost"])],
  })
  return { [pick(random, ["httpGet", "tcpSocket"])]: { port: 80, ...host } }
}

function containerContext(random: Random): JsonObject {
  const isPrivileged = chance(random, 0.05)
  return some(random, {
    ...shared(random),
    allowPrivilegeEscalation: [0.7, () => isPrivileged || chance(random, 0.2)],
    privileged: [isPrivileged ? 1 : 0.05, () => isPrivileged],
    procMount: [0.08, () => pick(random, ["Default", "Unmasked"])],
    capabilities: [0.7, () => capabilities(random)],
  })
}

function capabilities(random: Random): JsonObject {
  const added = ["NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN", "NET_RAW", "ALL", "CAP_KILL", "kill"]
  return some(random, {
    add: [0.4, () => Array.from({ length: 2 }, () => pick(random, added))],
    drop: [0.8, () => pick(random, [["ALL"], ["ALL"], ["all"], ["CHOWN"], ["CHOWN", "ALL"], []])],
  })
}

const sysctls = [
  "kernel.shm_rmid_forced",
  "kernel.msgmax",
  "net.core.somaxconn",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
]

const sources: readonly JsonObject[] = [
  { awsElasticBlockStore: { volumeID: "v" } },
  { azureDisk: { diskName: "d", diskURI: "https://account.blob.core.windows.net/c/d.vhd" } },
  { azureFile: { secretName: "s", shareName: "s" } },
  { cephfs: { monitors: ["m"] } },
  { cinder: { volumeID: "v" } },
  { configMap: { name: "m" } },
  { csi: { driver: "d.example.com" } },
  { downwardAPI: { items: [] } },
  { emptyDir: {} },
  { fc: { targetWWNs: ["w"], lun: 1 } },
  { flexVolume: { driver: "d/e" } },
  { flocker: { datasetName: "d" } },
  { gcePersistentDisk: { pdName: "p" } },
  { gitRepo: { repository: "r" } },
  { glusterfs: { endpoints: "e", path: "p" } },
  { hostPath: { path: "/p" } },
  { image: { reference: "r" } },
  { iscsi: { targetPortal: "p", iqn: "iqn.2001-04.com.example:s", lun: 1 } },
  { nfs: { server: "s", path: "/p" } },
  { persistentVolumeClaim: { claimName: "c" } },
  { photonPersistentDisk: { pdID: "p" } },
  { portworxVolume: { volumeID: "v" } },
  { projected: { sources: [] } },
  { quobyte: { registry: "r:1", volume: "v" } },
  { rbd: { monitors: ["m"], image: "i" } },
  { scaleIO: { gateway: "g", system: "s", volumeName: "v", secretRef: { name: "s" } } },
  { secret: { secretName: "s" } },
  { storageos: { volumeName: "v" } },
  { vsphereVolume: { volumePath: "p" } },
  {},
]

function volumes(random: Random): Json[] {
  return ["v", "w", "x"].slice(0, pick(random, [1, 2, 3])).map((name) => ({ name, ...pick(random, sources) }))
}

function templated(random: Random): RequestStep {
  const labels = { app: "a" }
  const template = { metadata: { labels, ...metadata(random), ownerReferences: null }, spec: spec(random) }
  const always = { replicas: 1, selector: { matchLabels: labels }, template }
  const once = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } }
  const apps = "/apis/apps/v1/namespaces/@{ns}"
  const batch = "/apis/batch/v1/namespaces/@{ns}"
  const [path, object] = pick<readonly [string, JsonObject]>(random, [
    [`${space}/replicationcontrollers`, { spec: { ...always, selector: labels } }],
    [`${space}/podtemplates`, { template }],
    [`${apps}/replicasets`, { spec: always }],
    [`${apps}/deployments`, { spec: always }],
    [`${apps}/statefulsets`, { spec: { ...always, serviceName: "s" } }],
    [`${apps}/daemonsets`, { spec: { selector: always.selector, template } }],
    [`${batch}/jobs`, { spec: once }],
    [`${batch}/cronjobs`, { spec: { schedule: "* * * * *", jobTemplate: { spec: once } } }],
  ])
  return post(`${path}?dryRun=All`, { metadata: { name: "t" }, ...object })
}

function updated(random: Random): RequestStep {
  const one = `${pods}/${pick(random, names)}`
  const debugging = {
    ...container(random, "e"),
    ports: null,
    livenessProbe: null,
    readinessProbe: null,
    lifecycle: null,
  }
  return pick(random, [
    patch(one, strategicPatch, { spec: { containers: [{ name: "c", image: pick(random, ["i", "j", "k"]) }] } }),
    patch(one, mergePatch, { metadata: { annotations: annotations(random) } }),
    patch(`${one}/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: [debugging] } }),
    patch(`${one}/status`, mergePatch, { status: { message: "m" } }),
    patch(`${one}/resize`, strategicPatch, {
      spec: { containers: [{ name: "c", resources: { limits: { cpu: "1" } } }] },
    }),
    put(`${space}/status`, { metadata: { name: "@{ns}", labels: { [`${labelPrefix}enforce`]: "odd" } } }),
  ])
}
