// Changes of pods that few clients make: their status, what a gate still permits, and those of mirrored pods.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const pods = "/api/v1/namespaces/@{ns}/pods"

export function podChangeCases(): Scenario[] {
  return [
    { name: "conditions of a pod keep the generation they are about", steps: observedGenerations() },
    { name: "a pod that is gated changes where it may run", anyOrder: true, steps: gated() },
    { name: "a mirror pod is changed through its subresources", steps: mirrored() },
    { name: "a container of a pod is chosen", steps: chosen() },
    { name: "a pod changes tolerations and deadlines", anyOrder: true, steps: tolerations() },
    { name: "a pod is bound", steps: bound() },
    { name: "parts of a pod that rule each other out", anyOrder: true, steps: together() },
    { name: "a pod on a node is deleted in steps", steps: deletedInSteps() },
    { name: "a pod with an address that is not its own alone is no backend", steps: unreachable() },
    { name: "names of a pod's account", steps: accountNames() },
    { name: "system controls of a pod", anyOrder: true, steps: systemControls() },
    { name: "annotations of former init containers", steps: formerAnnotations() },
  ]
}

const main: Body = { name: "main", image: "busybox" }
const make = (name: string, spec: Body = {}, metadata: Body = {}): RequestStep =>
  post(pods, { metadata: { name, ...metadata }, spec: { containers: [main], ...spec } }, { label: `POST ${name}` })
const change = (name: string, spec: Body): RequestStep =>
  patch(`${pods}/${name}`, mergePatch, { spec }, { label: `${name} ${JSON.stringify(spec)}` })

function observedGenerations(): RequestStep[] {
  const status = (value: Body): RequestStep =>
    patch(`${pods}/a/status`, mergePatch, { status: value }, { label: JSON.stringify(value) })
  const a = { type: "a", status: "True" }
  return [
    make("a"),
    status({ conditions: [{ ...a, observedGeneration: 3 }] }),
    status({ conditions: [a] }),
    status({ conditions: [{ ...a, observedGeneration: 0 }, a] }),
    status({
      conditions: [
        { ...a, observedGeneration: 4 },
        { ...a, observedGeneration: 5 },
        { ...a, type: "b" },
      ],
    }),
    status({ conditions: [{ ...a, type: "b" }, a, a, a] }),
    status({ conditions: [a, { ...a, observedGeneration: -1 }] }),
    status({ conditions: null }),
    status({ conditions: [a] }),
    status({ observedGeneration: 4 }),
    status({ observedGeneration: 0 }),
    status({ observedGeneration: null }),
    status({ qosClass: "" }),
    status({ qosClass: null }),
    status({ qosClass: "Burstable" }),
    status({ phase: "" }),
    status({ phase: null }),
    put(`${pods}/a/status`, { metadata: { name: "a" }, status: {} }),
    put(`${pods}/a/status`, { metadata: { name: "a", ownerReferences: [] }, spec: { nodeName: "b" } }),
    get(`${pods}/a`),
  ]
}

function gated(): RequestStep[] {
  const required = (nodeSelectorTerms: Json): Body => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  })
  const expression = (key: string): Body => ({ key, operator: "Exists" })
  const schedulingGates = [{ name: "a" }, { name: "b" }]
  return [
    make("a", { schedulingGates, nodeSelector: { a: "b" } }),
    change("a", { nodeSelector: { a: "c" } }),
    change("a", { nodeSelector: null }),
    change("a", { nodeSelector: { c: "d" } }),
    change("a", required([{}, { matchExpressions: [expression("a")] }])),
    change("a", required([{ matchExpressions: [expression("a")] }, { matchExpressions: [expression("a")] }])),
    change("a", required([{}, { matchExpressions: [expression("a"), expression("b")] }])),
    change("a", required([{}, { matchExpressions: [expression("b")] }])),
    change("a", required([{}, { matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }])),
    change("a", required([{}])),
    change("a", required([])),
    change("a", { affinity: null }),
    change("a", { affinity: { podAffinity: {} } }),
    change("a", { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } }),
    change("a", { schedulingGates: [{ name: "c" }] }),
    change("a", { schedulingGates: [{ name: "b" }, { name: "a" }] }),
    change("a", { schedulingGates: [{ name: "b" }] }),
    change("a", { schedulingGates: [{ name: "b" }], nodeName: "n" }),
    change("a", { schedulingGates: [] }),
    change("a", { nodeSelector: { e: "f" } }),
    make("b", { schedulingGates, affinity: {} }),
    change("b", required([{ matchExpressions: [expression("a")] }])),
    change("b", { affinity: null }),
    make("c", { schedulingGates }),
    change("c", { affinity: {} }),
    change("c", { affinity: { podAffinity: {} } }),
    change("c", { affinity: { nodeAffinity: {} } }),
    change("c", { ...required([{ matchExpressions: [expression("a")] }]), schedulingGates: null }),
    change("c", { affinity: { nodeAffinity: {} } }),
  ]
}

function mirrored(): RequestStep[] {
  const annotations = { "kubernetes.io/config.mirror": "a" }
  return [
    make("none", {}, { annotations }),
    make("a", { nodeName: "n" }, { annotations }),
    patch(`${pods}/a/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: [{ name: "A b" }] } }),
    patch(`${pods}/a/ephemeralcontainers`, mergePatch, {
      metadata: { annotations: { b: "c" } },
      spec: { ephemeralContainers: [{ name: "b", image: "i", terminationMessagePolicy: "File" }] },
    }),
    patch(`${pods}/a/resize`, strategicPatch, {
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "-1" } } }] },
    }),
    patch(`${pods}/a/resize`, strategicPatch, {
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] },
    }),
    patch(`${pods}/a`, mergePatch, { metadata: { annotations: null } }),
    make("b", { resources: {} }),
    patch(`${pods}/b/resize`, mergePatch, { spec: { resources: null } }),
    make("c"),
    patch(`${pods}/c/resize`, mergePatch, { spec: { resources: {} } }),
    patch(`${pods}/c/resize`, mergePatch, {
      spec: { containers: [{ ...main, resources: { claims: [{ name: "a" }] } }] },
    }),
    patch(`${pods}/c/resize`, mergePatch, { metadata: { labels: { a: "b" }, generateName: "x", finalizers: ["a/b"] } }),
    get(`${pods}/c`),
  ]
}

function chosen(): RequestStep[] {
  const containers = [main, { ...main, name: "other" }]
  const initContainers = [{ ...main, name: "first" }]
  const annotations = { "kubectl.kubernetes.io/default-container": "other" }
  const nodeName = "no-node"
  const names = ["one", "first", "annotated", "many"]
  return [
    make("one", { nodeName }),
    make("first", { nodeName, initContainers }),
    make("annotated", { nodeName, containers, initContainers }, { annotations }),
    make("many", { nodeName, containers, initContainers }),
    patch(`${pods}/many/ephemeralcontainers`, strategicPatch, {
      spec: { ephemeralContainers: [{ name: "debug", image: "i", terminationMessagePolicy: "File" }] },
    }),
    make("without-node", { containers }),
    ...[...names, "without-node"].flatMap((name) => [
      get(`${pods}/${name}/log`),
      get(`${pods}/${name}/log?container=debug`),
      post(`${pods}/${name}/exec?command=a&stdout=1`, null),
      post(`${pods}/${name}/attach?container=first&stdout=1`, null),
      post(`${pods}/${name}/portforward?ports=1`, null),
    ]),
  ]
}

function tolerations(): RequestStep[] {
  const of = (tolerationSeconds?: number, more: Body = {}): Body => ({
    key: "a",
    operator: "Exists",
    effect: "NoExecute",
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    ...more,
  })
  return [
    make("a", { tolerations: [of(5)], activeDeadlineSeconds: 10, terminationGracePeriodSeconds: -5 }),
    change("a", { tolerations: [of(6)] }),
    change("a", { tolerations: [of()] }),
    change("a", { tolerations: [of(7), of(8)] }),
    change("a", { tolerations: [] }),
    change("a", { tolerations: [of(7, { operator: "Gt", value: "5" })] }),
    change("a", { tolerations: [of(7), of(undefined, { effect: "Bogus" })] }),
    change("a", { tolerations: [of(7, { effect: "" })] }),
    change("a", { activeDeadlineSeconds: 11 }),
    change("a", { activeDeadlineSeconds: 11, tolerations: [] }),
    change("a", { activeDeadlineSeconds: null, tolerations: [] }),
    change("a", { activeDeadlineSeconds: 0 }),
    change("a", { activeDeadlineSeconds: 1 }),
    change("a", { terminationGracePeriodSeconds: 2 }),
    change("a", { terminationGracePeriodSeconds: 1 }),
    change("a", { terminationGracePeriodSeconds: -5 }),
    make("b"),
    change("b", { activeDeadlineSeconds: 0 }),
    change("b", { activeDeadlineSeconds: 5 }),
    change("b", { containers: [{ ...main, image: "" }] }),
    change("b", { containers: [{ ...main, image: " a" }] }),
    change("b", { containers: [main, main] }),
    change("b", { initContainers: [main], tolerations: [] }),
    change("b", { ephemeralContainers: [{ name: "a", image: "b" }] }),
    change("b", { nodeName: "a" }),
    change("b", { resources: { requests: { cpu: "1" } } }),
  ]
}

function bound(): RequestStep[] {
  const bind = (name: string, more: Body): RequestStep =>
    post(
      `${pods}/${name}/binding`,
      { metadata: { name }, target: { name: "n" }, ...more },
      { label: JSON.stringify(more) },
    )
  return [
    make("a"),
    bind("a", { target: null }),
    bind("a", { target: { kind: "Pod" } }),
    bind("a", { target: { kind: "Pod", name: "n" } }),
    bind("a", { metadata: { name: "a", uid: "other" } }),
    bind("a", { metadata: { name: "a", resourceVersion: "1" } }),
    bind("a", { metadata: { name: "a", resourceVersion: "x" } }),
    bind("a", { metadata: { name: "a", annotations: { "A b": "c" }, labels: { "C d": "e f" } } }),
    get(`${pods}/a`),
    bind("a", {}),
    patch(`${pods}/a/status`, mergePatch, { status: { nominatedNodeName: "m" } }),
    make("b", { schedulingGates: [{ name: "a" }] }),
    bind("b", {}),
    make("c", {}, { finalizers: ["a/b"] }),
    patch(`${pods}/c/status`, mergePatch, { status: { nominatedNodeName: "m", phase: "Running" } }),
    patch(`${pods}/c/status`, mergePatch, { status: { nominatedNodeName: "M m" } }),
    bind("c", { target: { name: "A b", namespace: "x", uid: "y" } }),
    get(`${pods}/c`),
    { method: "DELETE", path: `${pods}/c?gracePeriodSeconds=0` },
    bind("c", {}),
    post("/api/v1/namespaces/@{ns}/bindings", { metadata: { name: "c", resourceVersion: "1" }, target: { name: "n" } }),
    post("/api/v1/namespaces/@{ns}/bindings", { metadata: { name: "missing" }, target: { name: "n" } }),
    post("/api/v1/namespaces/@{ns}/bindings?dryRun=All", { metadata: { name: "c" }, target: { name: "n" } }),
  ]
}

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

function deletedInSteps(): RequestStep[] {
  const at = (name: string): string => `${pods}/${name}`
  const remove = (name: string, query: string, body?: Body): RequestStep => ({
    method: "DELETE",
    path: `${at(name)}${query}`,
    ...(body === undefined ? {} : { body }),
  })
  const nodeName = "no-node"
  const held = { finalizers: ["a/b"] }
  return [
    make("a", { nodeName, terminationGracePeriodSeconds: 0 }, held),
    remove("a", "?dryRun=All"),
    remove("a", ""),
    remove("a", "?gracePeriodSeconds=30"),
    patch(at("a"), mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(`${at("a")}/status`, mergePatch, { status: { phase: "Failed" } }),
    patch(at("a"), mergePatch, { metadata: { finalizers: ["c/d", "a/b"] } }),
    patch(at("a"), mergePatch, { metadata: { finalizers: ["c/d"] } }),
    patch(at("a"), mergePatch, { spec: { activeDeadlineSeconds: 5 } }),
    patch(`${at("a")}/status`, mergePatch, { metadata: { finalizers: null } }),
    get(at("a")),
    make("b", { nodeName, terminationGracePeriodSeconds: 3600 }),
    remove("b", ""),
    remove("b", "?gracePeriodSeconds=4000"),
    remove("b", "?gracePeriodSeconds=1800&dryRun=All"),
    remove("b", "?gracePeriodSeconds=1800"),
    remove("b", "?gracePeriodSeconds=-5&dryRun=All"),
    patch(at("b"), mergePatch, { metadata: { deletionGracePeriodSeconds: 5 } }),
    patch(at("b"), mergePatch, { metadata: { deletionTimestamp: null } }),
    patch(at("b"), mergePatch, { metadata: { finalizers: ["a/b"] } }),
    patch(`${at("b")}/status`, mergePatch, { status: { phase: "Succeeded" } }),
    patch(`${at("b")}/ephemeralcontainers`, strategicPatch, {
      spec: { ephemeralContainers: [{ name: "debug", image: "i", terminationMessagePolicy: "File" }] },
    }),
    post(`${at("b")}/eviction`, { metadata: { name: "b" } }),
    post(`${at("b")}/eviction`, { metadata: { name: "b" }, deleteOptions: { gracePeriodSeconds: 10 } }),
    remove("b", "?propagationPolicy=Foreground"),
    remove("b", "", { preconditions: { uid: "other" } }),
    remove("b", "", { preconditions: { uid: "" } }),
    remove("b", "", { preconditions: { resourceVersion: "" } }),
    remove("b", "?gracePeriodSeconds=0"),
    get(at("b")),
    make("c", { nodeName }),
    patch(`${at("c")}/status`, mergePatch, { status: { phase: "Succeeded" } }),
    remove("c", "?gracePeriodSeconds=30"),
    get(at("c")),
    make("d", { nodeName }, held),
    make("e", {}, held),
    { method: "DELETE", path: `${pods}?gracePeriodSeconds=1000` },
    { method: "DELETE", path: `${pods}?gracePeriodSeconds=0` },
    get(pods),
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
