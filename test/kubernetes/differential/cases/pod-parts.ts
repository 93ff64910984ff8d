// Parts of pods that few clients write: what is refused together, and forms of former versions.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const pods = "/api/v1/namespaces/@{ns}/pods"

export function podPartCases(): Scenario[] {
  return [
    { name: "parts of a pod that rule each other out", anyOrder: true, steps: together() },
    { name: "a pod with an address that is not its own alone is no backend", steps: unreachable() },
    { name: "names of a pod's account", steps: accountNames() },
    { name: "system controls of a pod", anyOrder: true, steps: systemControls() },
    { name: "annotations of former init containers", steps: formerAnnotations() },
  ]
}

const main: Body = { name: "main", image: "busybox" }
const make = (name: string, spec: Body = {}, metadata: Body = {}): RequestStep =>
  post(pods, { metadata: { name, ...metadata }, spec: { containers: [main], ...spec } }, { label: `POST ${name}` })

function together(): RequestStep[] {
  const device = [{ name: "v", devicePath: "/d" }]
  const claimed = [{ name: "v", persistentVolumeClaim: { claimName: "c" } }]
  const template = (metadata: Body): Body => ({
    metadata,
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  })
  const variable = (valueFrom: Body): Body => ({ containers: [{ ...main, env: [{ name: "a", valueFrom }] }] })
  const reference = (resource: string, divisor: string): Body => variable({ resourceFieldRef: { resource, divisor } })
  const specs: Body[] = [
    { hostUsers: false, volumes: claimed, containers: [{ ...main, volumeDevices: device }] },
    { hostUsers: true, volumes: claimed, containers: [{ ...main, volumeDevices: device }] },
    { volumes: claimed, containers: [{ ...main, volumeDevices: [{}, {}], volumeMounts: [{}, {}] }] },
    { containers: [{ ...main, volumeDevices: [{ name: "" }, { name: "", devicePath: "" }, { devicePath: "/a" }] }] },
    {
      volumes: claimed,
      containers: [
        {
          ...main,
          volumeDevices: [...device, { name: "v", devicePath: "/e" }, { name: "w", devicePath: "/../f" }],
          volumeMounts: [
            { name: "v", mountPath: "/d" },
            { name: "v", mountPath: "/e" },
            { name: "x", mountPath: "/f", subPath: "/g", subPathExpr: "../h" },
            { name: "v", mountPath: "/f", mountPropagation: "Bogus", recursiveReadOnly: "Bogus" },
          ],
        },
      ],
    },
    { preemptionPolicy: "", restartPolicy: "", dnsPolicy: "", runtimeClassName: "a_b" },
    { containers: [{ ...main, image: "a " }], initContainers: [{ name: "first", image: "\tb" }] },
    {
      volumes: [
        { name: "v", projected: { sources: [{}, { serviceAccountToken: { path: "a", expirationSeconds: 1 } }] } },
      ],
    },
    {
      serviceAccountName: "default",
      volumes: [
        {
          name: "v",
          projected: {
            sources: [
              { serviceAccountToken: { path: "../a" } },
              { serviceAccountToken: { path: "..a" } },
              { serviceAccountToken: { path: "/a" }, secret: { name: "s", items: [{ key: "a", path: "/a" }] } },
              { configMap: { items: [{ key: "a", path: "/a", mode: 512 }] } },
              { downwardAPI: { items: [{ path: "a" }, { path: "a", fieldRef: { fieldPath: "metadata.name" } }] } },
            ],
          },
        },
      ],
    },
    {
      hostUsers: false,
      volumes: claimed,
      containers: [main],
      initContainers: [{ ...main, name: "first", volumeDevices: device }],
    },
    { volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: template({ labels: { "A b": "c d" } }) } }] },
    { volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: template({ annotations: { "A b": "c" } }) } }] },
    { volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: template({ name: "A b", finalizers: ["a"] }) } }] },
    { volumes: [{ name: "v-", emptyDir: {}, ephemeral: { volumeClaimTemplate: template({}) } }] },
    { volumes: [{ name: "v".repeat(60), emptyDir: {}, ephemeral: { volumeClaimTemplate: template({}) } }] },
    reference("bogus", "3"),
    reference("cpu", "3"),
    reference("limits.cpu", "3"),
    reference("limits.bogus", "3"),
    reference("requests.hugepages-2Mi", "3"),
    reference("requests.memory", "0"),
    reference("requests.memory", "1000m"),
    { containers: [{ ...main, envFrom: [{ configMapRef: { name: "a-" } }, { secretRef: { name: "a." } }] }] },
    { containers: [{ ...main, envFrom: [{ secretRef: { name: "a-" }, prefix: "1" }] }] },
    variable({ configMapKeyRef: { name: "a-", key: "b" } }),
    variable({ fieldRef: { fieldPath: "metadata.labels['A b']" } }),
    variable({ fieldRef: { fieldPath: "metadata.annotations['']" } }),
    variable({ fieldRef: { fieldPath: "spec.host", apiVersion: "v1" } }),
    variable({ fieldRef: { fieldPath: "metadata.name['a']" } }),
    variable({ fieldRef: { fieldPath: "bogus['a']" } }),
    variable({ fieldRef: { fieldPath: "metadata.annotations[']" } }),
    { volumes: [{ name: "v", downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.host" } }] } }] },
    { os: { name: "windows" }, resources: { requests: { cpu: "1", bogus: "1" } } },
    { resources: { requests: { cpu: "1" }, claims: [{ name: "a" }] } },
    { resourceClaims: [{ name: "a", resourceClaimName: "b" }, { name: "a" }] },
    { overhead: { cpu: "-1", bogus: "1" } },
    { preemptionPolicy: "Bogus", priorityClassName: "A b", runtimeClassName: "" },
    { hostNetwork: true, containers: [{ ...main, ports: [{ containerPort: 80, hostPort: 81 }] }] },
    { hostNetwork: true, initContainers: [{ ...main, name: "first", ports: [{ containerPort: 80, hostPort: 81 }] }] },
    { hostname: "A b", subdomain: "c.d", setHostnameAsFQDN: true, hostnameOverride: "e_f" },
    { dnsPolicy: "None", dnsConfig: { searches: ["a_b", ".", "c..d", "e."] } },
    { dnsConfig: { searches: ["a_b", ".", "c..d", "e."], options: [{ name: "" }], nameservers: ["01.2.3.4", "a"] } },
    { securityContext: { windowsOptions: { hostProcess: true } }, hostNetwork: true },
    { readinessGates: [{ conditionType: "A b" }], schedulingGates: [{ name: "a" }, { name: "a" }], nodeName: "n" },
  ]
  const mirror = { "kubernetes.io/config.mirror": "a" }
  return [
    ...specs.map((spec, index) => make(`p${index}`, spec)),
    ...specs.map((spec, index) =>
      post(
        "/apis/apps/v1/namespaces/@{ns}/deployments?dryRun=All",
        {
          metadata: { name: `d${index}` },
          spec: {
            selector: { matchLabels: { a: "b" } },
            template: { metadata: { labels: { a: "b" } }, spec: { containers: [main], ...spec } },
          },
        },
        { label: `template ${index}` },
      ),
    ),
    ...["spec.host=n", "spec.host!=n", "status.podIPs=", "status.podIPs=1.2.3.4", "spec.hostNetwork=false"].map(
      (fields) => get(`${pods}?fieldSelector=${encodeURIComponent(fields)}&limit=1`, { label: fields }),
    ),
    make("m", { nodeName: "n", resourceClaims: [{ name: "a" }, { name: "b" }] }, { annotations: mirror }),
    make("o", { nodeName: "n", resourceClaims: [{ name: "a", resourceClaimName: "b" }] }, { annotations: mirror }),
    make("q", { nodeName: "n", volumes: [{ name: "v", secret: { secretName: "s" } }] }, { annotations: mirror }),
    make("r", { nodeName: "n", serviceAccountName: "default" }, { annotations: mirror }),
  ]
}

function systemControls(): RequestStep[] {
  const names = [
    "kernel.sem",
    "kernel.sem_next_id",
    "kernel.shm",
    "kernel.shm_rmid_forced",
    "kernel.shm_other",
    "kernel.msgmax",
    "kernel.msg_other",
    "kernel/shmmax",
    "fs.mqueue",
    "fs.mqueue.a",
    "fs/mqueue/a",
    "net",
    "net.a",
    "net/ipv4/a.b",
    "net.ipv4/a",
    "network.a",
    "",
    "Bad name",
    "a".repeat(254),
  ]
  const sysctls = [...names, "net.a", ""].map((name) => ({ name, value: "1" }))
  const localhostProfile = "a".repeat(4096)
  return [
    make("network", { hostNetwork: true, securityContext: { sysctls } }),
    make("ipc", { hostIPC: true, securityContext: { sysctls } }),
    make("none", { securityContext: { sysctls } }),
    ...[localhostProfile, localhostProfile.slice(1), "", " ", " a"].flatMap((profile, index) => {
      const appArmorProfile = { type: "Localhost", localhostProfile: profile }
      const seccompProfile = { type: "Localhost", localhostProfile: profile }
      return [
        make(`p${index}`, { securityContext: { appArmorProfile, seccompProfile } }),
        make(`c${index}`, { containers: [{ ...main, securityContext: { appArmorProfile, seccompProfile } }] }),
      ]
    }),
  ]
}

function formerAnnotations(): RequestStep[] {
  const annotations = {
    "pod.alpha.kubernetes.io/init-containers": "[]",
    "pod.beta.kubernetes.io/init-containers": "[]",
    "pod.alpha.kubernetes.io/init-container-statuses": "[]",
    "pod.beta.kubernetes.io/init-container-statuses": "[]",
  }
  const template = (more: Body): Body => ({
    metadata: { labels: { a: "b" }, annotations: { ...annotations, ...more } },
    spec: { containers: [main] },
  })
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const selector = { matchLabels: { a: "b" } }
  return [
    make("a", {}, { annotations }),
    make("b", {}, { annotations: { ...annotations, c: "d" } }),
    patch(`${pods}/a`, mergePatch, { metadata: { annotations: { ...annotations, e: "f" } } }),
    patch(`${pods}/a/status`, mergePatch, { metadata: { annotations } }),
    get(`${pods}/a`),
    post(deployments, { metadata: { name: "a", annotations }, spec: { selector, template: template({}) } }),
    patch(`${deployments}/a`, mergePatch, { spec: { template: template({}) } }),
    patch(`${deployments}/a`, mergePatch, { spec: { template: template({ c: "d" }) } }),
    post("/api/v1/namespaces/@{ns}/podtemplates", { metadata: { name: "a" }, template: template({}) }),
  ]
}

function accountNames(): RequestStep[] {
  const names = ["", "default", "a", null]
  const both = names.flatMap((serviceAccountName) =>
    names.map((serviceAccount) => ({ serviceAccountName, serviceAccount })),
  )
  return both.map((spec, index) =>
    post(
      `${pods}?dryRun=All`,
      { metadata: { name: `p${index}` }, spec: { containers: [main], automountServiceAccountToken: false, ...spec } },
      { label: JSON.stringify(spec) },
    ),
  )
}

function unreachable(): RequestStep[] {
  const addresses = [
    "127.0.0.1",
    "0.0.0.0",
    "169.254.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "fe80::1",
    "ff02::1",
    "::",
  ]
  return [
    make("a", { containers: [{ ...main, ports: [{ containerPort: 1 }] }] }),
    ...addresses.flatMap((podIP) => [
      patch(`${pods}/a/status`, mergePatch, { status: { podIP, podIPs: [{ ip: podIP }] } }),
      get(`${pods}/a/proxy/x`, { label: `GET ${podIP}` }),
    ]),
  ]
}
