// Levels of pod security: each check in each version of the policy that changed it, warnings and refusals, and the warnings
// when a namespace's level becomes stricter.

import type { Json } from "../../../../apimachinery/object.ts"
import { type Level, labelPrefix } from "../../../../gateway/admission/plugins/pod-security/policy.ts"
import { mergePatch, patch, post, put, strategicPatch, type RequestStep, type Scenario } from "../scenario.ts"

const spaces = "/api/v1/namespaces"
const space = `${spaces}/@{ns}`
const pods = `${space}/pods`
const dry = `${pods}?dryRun=All`
const one = `${pods}/a`

export function podSecurityCases(): Scenario[] {
  return [
    ...policies.map((policy) => ({ name: `violations of pods: ${print(policy)}`, steps: violations(policy) })),
    { name: "pods that lack something are refused", steps: refused() },
    { name: "violations of pod templates", steps: templates() },
    { name: "updates of pods are held to their namespace's level where they change what runs", steps: updates() },
    { name: "labels of a namespace ask for nothing there is", steps: labels() },
    { name: "a namespace becomes stricter than its pods", steps: stricter() },
  ]
}

/** Around each version in which a check changes. */
const policies: readonly [Level, string][] = [
  ["baseline", "v1.0"],
  ["baseline", "v1.19"],
  ["baseline", "v1.27"],
  ["baseline", "v1.29"],
  ["baseline", "latest"],
  ["restricted", "v1.7"],
  ["restricted", "v1.22"],
  ["restricted", "v1.25"],
  ["restricted", "v1.34"],
  ["restricted", "v1.99"],
]
const print = ([level, version]: readonly [string, string]): string => `${level}:${version}`

/** Allowed everywhere. */
const good = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
}
const container = (name: string, context: object = good, more: object = {}): object => ({
  name,
  image: "i",
  securityContext: context,
  ...more,
})
interface Variant {
  annotations?: Record<string, string>
  spec?: object
  /** Of one container; and of two and an initial one. */
  context?: object
}

const variants: Record<string, Variant> = {
  "all that is asked": {},
  nothing: { spec: { containers: [{ name: "c", image: "i" }] } },
  "AppArmor off": { context: { ...good, appArmorProfile: { type: "Unconfined" } } },
  "AppArmor off for the pod": { spec: { securityContext: { appArmorProfile: { type: "Unconfined" } } } },
  "annotations of AppArmor": {
    annotations: Object.fromEntries(
      ["c", "d", "i"].map((name) => [`container.apparmor.security.beta.kubernetes.io/${name}`, "unconfined"]),
    ),
  },
  "annotations of seccomp": {
    annotations: {
      "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
      "container.seccomp.security.alpha.kubernetes.io/c": "odd",
    },
  },
  capabilities: {
    context: { ...good, capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_BIND_SERVICE"], drop: ["ALL"] } },
  },
  "capabilities kept": { context: { ...good, capabilities: { add: ["NET_BIND_SERVICE"], drop: ["CHOWN"] } } },
  "host namespaces": { spec: { hostNetwork: true, hostPID: true, hostIPC: true } },
  "a host's IPC": { spec: { hostIPC: true } },
  "hosts of probes": {
    spec: {
      containers: [
        container("z", good, { livenessProbe: { httpGet: { port: 80, host: "b.example.com" } } }),
        container("c", good, {
          readinessProbe: { tcpSocket: { port: 80, host: "a.example.com" } },
          lifecycle: { preStop: { httpGet: { port: 80, host: "10.0.0.1" } } },
        }),
      ],
    },
  },
  "host ports": {
    spec: {
      containers: [
        container("c", good, {
          ports: [
            { containerPort: 80, hostPort: 80 },
            { containerPort: 81, hostPort: 9 },
          ],
        }),
        container("d", good, { ports: [{ containerPort: 82, hostPort: 100 }] }),
      ],
    },
  },
  "a host port": { spec: { containers: [container("c", good, { ports: [{ containerPort: 80, hostPort: 80 }] })] } },
  privileged: { context: { ...good, allowPrivilegeEscalation: true, privileged: true } },
  "all of /proc": { context: { ...good, procMount: "Unmasked" }, spec: { hostUsers: false } },
  "root of its own": { context: { ...good, runAsNonRoot: false, runAsUser: 0 }, spec: { hostUsers: false } },
  SELinux: { context: { ...good, seLinuxOptions: { type: "spc_t", user: "u", role: "r", level: "l" } } },
  "SELinux of an engine": { spec: { securityContext: { seLinuxOptions: { type: "container_engine_t" } } } },
  "SELinux by both": {
    context: { ...good, seLinuxOptions: { type: "a_t" } },
    spec: { securityContext: { seLinuxOptions: { type: "b_t", user: "u" } } },
  },
  "seccomp off": { context: { ...good, seccompProfile: { type: "Unconfined" } } },
  "seccomp off for the pod": { spec: { securityContext: { seccompProfile: { type: "Unconfined" } } } },
  "seccomp by the pod": {
    context: { ...good, seccompProfile: undefined },
    spec: { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "p" } } },
  },
  "seccomp by nobody": { context: { ...good, seccompProfile: undefined } },
  sysctls: {
    spec: {
      securityContext: {
        sysctls: [
          "kernel.shm_rmid_forced",
          "net.ipv4.ip_local_reserved_ports",
          "net.ipv4.tcp_fin_timeout",
          "net.ipv4.tcp_rmem",
          "kernel.msgmax",
        ].map((name) => ({ name, value: "1" })),
      },
    },
  },
  "root by both": {
    context: { ...good, runAsNonRoot: false, runAsUser: 0 },
    spec: { securityContext: { runAsNonRoot: false, runAsUser: 0 } },
  },
  "not root by the pod": {
    context: { ...good, runAsNonRoot: undefined },
    spec: { securityContext: { runAsNonRoot: true, runAsUser: 1000 } },
  },
  "perhaps root": { context: { ...good, runAsNonRoot: undefined } },
  volumes: {
    spec: {
      volumes: [
        { name: "a", hostPath: { path: "/a" } },
        { name: "b", nfs: { server: "s", path: "/b" } },
        { name: "c", emptyDir: {} },
        { name: "d", hostPath: { path: "/d" } },
        { name: "e", image: { reference: "r" } },
        { name: "f", ephemeral: { volumeClaimTemplate: { spec: claim() } } },
      ],
    },
  },
  "a volume": { spec: { volumes: [{ name: "a", gitRepo: { repository: "r" } }] } },
  "a host of Windows": {
    context: { windowsOptions: { hostProcess: true } },
    spec: { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } },
  },
  Windows: { context: {}, spec: { os: { name: "windows" }, securityContext: { runAsNonRoot: true } } },
}

function claim(): object {
  return { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

function specOf({ context = good, spec = {} }: Variant): object {
  const initContainers = [container("i", context)]
  return { containers: [container("c", context), container("d", context)], initContainers, ...spec }
}

function pod(name: string, variant: Variant): Json {
  return { metadata: { name, annotations: variant.annotations ?? {} }, spec: specOf(variant) } as Json
}

/** The scenario's namespace asks for this from now on, by the names of the modes. */
function ask(modes: Record<string, string | null>, more = ""): RequestStep {
  return patch(`${space}${more}`, mergePatch, { metadata: { labels: prefixed(modes) } })
}

/** Upstream hears of a namespace's labels a moment after they are written. */
function enforced(level: Level | "privileged", more: Record<string, string> = {}): RequestStep[] {
  const { volumes = {}, nothing = {} } = variants
  const refused = { untilCode: level === "privileged" ? 201 : 403, label: `POST until ${level}` }
  return [ask({ enforce: level, ...more }), post(dry, pod("a", level === "restricted" ? nothing : volumes), refused)]
}

const prefixed = <T>(modes: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(modes).map(([mode, value]) => [labelPrefix + mode, value]))

function violations([level, version]: readonly [Level, string]): RequestStep[] {
  return [
    ask({ warn: level, "warn-version": version, audit: level }),
    ...Object.entries(variants).map(([label, variant]) => post(dry, pod("a", variant), { label })),
  ]
}

function refused(): RequestStep[] {
  const { volumes = {}, nothing = {}, "host ports": ports = {} } = variants
  return [
    ...enforced("baseline", { warn: "restricted", "warn-version": "v1.20" }),
    ...[volumes, nothing, ports].map((variant) => post(dry, pod("a", variant))),
    ...enforced("restricted"),
    post(dry, pod("a", {})),
    ...enforced("privileged"),
  ]
}

function templates(): RequestStep[] {
  const labels = { app: "a" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  const always = { replicas: 1, selector: { matchLabels: labels }, template }
  const once = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } }
  const apps = "/apis/apps/v1/namespaces/@{ns}"
  const batch = "/apis/batch/v1/namespaces/@{ns}"
  const asks: [string, object][] = [
    [`${space}/replicationcontrollers`, { spec: { replicas: 1, selector: labels, template } }],
    [`${space}/podtemplates`, { template }],
    [`${apps}/replicasets`, { spec: always }],
    [`${apps}/deployments`, { spec: always }],
    [`${apps}/statefulsets`, { spec: { ...always, serviceName: "s" } }],
    [`${apps}/daemonsets`, { spec: { selector: always.selector, template } }],
    [`${batch}/jobs`, { spec: once }],
    [`${batch}/cronjobs`, { spec: { schedule: "* * * * *", jobTemplate: { spec: once } } }],
  ]
  return [
    ...enforced("restricted"),
    ...asks.map(([path, object]) => post(`${path}?dryRun=All`, { metadata: { name: "a" }, ...object } as Json)),
  ]
}

function updates(): RequestStep[] {
  return [
    post(pods, pod("a", { spec: { containers: [{ name: "c", image: "i" }] } })),
    ...enforced("restricted"),
    patch(one, mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(one, mergePatch, { spec: { activeDeadlineSeconds: 100 } }),
    patch(one, strategicPatch, { spec: { containers: [{ name: "c", image: "other" }] } }),
    patch(`${one}/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } }),
    patch(`${one}/status`, mergePatch, { status: { message: "m" } }),
  ]
}

function labels(): RequestStep[] {
  const odd: Record<string, string>[] = [
    { enforce: "none" },
    { enforce: "", "enforce-version": "1.24" },
    { audit: "Baseline", "warn-version": "v1.024", warn: "x", "audit-version": "v2.0" },
    { "enforce-version": "v1.9223372036854775808" },
    { enforce: "baseline", "enforce-version": "v1.9223372036854775807" },
    { other: "x" },
  ]
  const labelled = (modes: Record<string, string>): Json => ({
    metadata: { name: "@{id}", labels: prefixed(modes) },
  })
  return [
    ...odd.flatMap((modes) => [post(`${spaces}?dryRun=All`, labelled(modes)), ask(modes, "?dryRun=All")]),
    ask({ warn: "baseline" }),
    put(`${space}?dryRun=All`, { metadata: { name: "@{ns}", labels: prefixed({ warn: "nothing" }) } }),
    ask({ warn: "nothing" }, "/status"),
  ]
}

function stricter(): RequestStep[] {
  const perhaps = (modes: Record<string, string | null>): RequestStep => ask(modes, "?dryRun=All")
  const { volumes = {}, nothing = {}, privileged = {} } = variants
  return [
    ...["b", "a", "c"].map((each) => post(pods, pod(each, nothing))),
    post(pods, pod("v", volumes)),
    post(pods, pod("p", privileged)),
    perhaps({ enforce: "baseline" }),
    perhaps({ enforce: "restricted" }),
    perhaps({ enforce: "restricted", "enforce-version": "v1.5" }),
    perhaps({ enforce: "privileged", warn: "restricted" }),
    ask({ enforce: "restricted" }),
    perhaps({ enforce: "baseline" }),
    perhaps({ "enforce-version": "v1.20" }),
    perhaps({ enforce: null }),
  ]
}
