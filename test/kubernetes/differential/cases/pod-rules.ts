// What pods and their subresources refuse by rules that are theirs alone.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, patch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const pods = `${core}/pods`

export function podRuleCases(): Scenario[] {
  return [
    { name: "an eviction with dryRun in two places", steps: evictions() },
    { name: "a pod of many containers is resized", anyOrder: true, steps: resizes() },
    { name: "conflicting options of logs", steps: logs() },
    { name: "restart rules of containers that start others", steps: restartRules() },
    { name: "a pod is made for one system", steps: systems() },
  ]
}

function evictions(): RequestStep[] {
  const evict = (query: string, deleteOptions: Body): RequestStep =>
    post(
      `${pods}/a/eviction${query}`,
      { metadata: { name: "a" }, deleteOptions },
      { label: `${query} ${JSON.stringify(deleteOptions)}` },
    )
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "busybox" }] } }),
    evict("?dryRun=All", { dryRun: ["All"] }),
    evict("?dryRun=All", {}),
    evict("", { dryRun: ["All"] }),
    evict("", { dryRun: ["Bogus"] }),
    evict("?dryRun=All", { dryRun: ["All", "All"] }),
    evict("", { dryRun: ["All", "All"] }),
    evict("", { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
    evict("", { preconditions: { uid: "other" } }),
    evict("", { preconditions: { resourceVersion: "1" } }),
    get(`${pods}/a`),
  ]
}

function resizes(): RequestStep[] {
  const sized = (cpu: string): Body => ({ requests: { cpu, memory: "10Mi" }, limits: { cpu: "2", memory: "20Mi" } })
  const container = (name: string, more: Body = {}): Body => ({
    name,
    image: "busybox",
    resources: sized("1"),
    ...more,
  })
  const spec: Body = {
    containers: [container("main"), container("other")],
    initContainers: [container("side", { restartPolicy: "Always" }), container("first")],
  }
  const resize = (name: string, change: Body): RequestStep =>
    patch(`${pods}/${name}/resize?dryRun=All`, strategicPatch, { spec: change }, { label: JSON.stringify(change) })
  const limits = { requests: { cpu: "1", memory: "10Mi" }, limits: { cpu: "2", memory: "20Mi" } }
  return [
    post(pods, { metadata: { name: "many" }, spec }),
    resize("many", { containers: [{ name: "main", resources: sized("1500m") }] }),
    resize("many", { initContainers: [{ name: "side", resources: sized("1500m") }] }),
    resize("many", { initContainers: [{ name: "first", resources: sized("1500m") }] }),
    resize("many", {
      initContainers: [{ name: "first", resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }],
    }),
    resize("many", { containers: [{ name: "third", image: "busybox" }] }),
    resize("many", { initContainers: [{ name: "third", image: "busybox" }] }),
    resize("many", { containers: [{ name: "main", resources: { requests: { cpu: null } } }] }),
    resize("many", { containers: [{ name: "main", resources: { limits: null } }] }),
    resize("many", { initContainers: [{ name: "side", resources: { limits: null } }] }),
    resize("many", {
      containers: [
        { name: "main", resources: { requests: { "example.com/a": "1" }, limits: { "example.com/a": "1" } } },
      ],
    }),
    resize("many", { containers: [{ name: "main", resources: { requests: { "ephemeral-storage": "1Gi" } } }] }),
    resize("many", { containers: [{ name: "main", image: "other" }] }),
    resize("many", { resources: limits }),
    post(pods, { metadata: { name: "whole" }, spec: { ...spec, resources: { requests: { cpu: "5" } } } }),
    resize("whole", { resources: { requests: { cpu: "6" } } }),
    resize("whole", { resources: null }),
    resize("whole", { resources: { requests: null } }),
    resize("whole", { resources: { requests: { cpu: "1" } } }),
    resize("whole", { resources: { requests: { "hugepages-2Mi": "2Mi" } } }),
  ]
}

function logs(): RequestStep[] {
  const log = (query: string): RequestStep => get(`${pods}/a/log?${query}`)
  return [
    post(pods, { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "busybox" }] } }),
    log("stream=Stdout"),
    log("stream=All&tailLines=1"),
    log("stream=Stdout&tailLines=1"),
    log("stream=Stderr&tailLines=-1"),
    log("stream=Bogus"),
    log("stream="),
    log("stream=Bogus&tailLines=1"),
    log("sinceSeconds=1&sinceTime=2024-01-02T03:04:05Z"),
  ]
}

function restartRules(): RequestStep[] {
  const rules = [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }]
  const lists: Body[] = [
    { restartPolicy: "Always", restartPolicyRules: rules },
    { restartPolicy: "Never", restartPolicyRules: rules },
    { restartPolicyRules: rules },
    { restartPolicy: "OnFailure", restartPolicyRules: [] },
    { restartPolicy: "Never", restartPolicyRules: [{ action: "Stop", exitCodes: { operator: "Near" } }, {}] },
  ]
  const main = { name: "main", image: "busybox" }
  return lists.flatMap((more) =>
    (["containers", "initContainers"] as const).map((list) =>
      post(
        `${pods}?dryRun=All`,
        { metadata: { name: "a" }, spec: { containers: [main], [list]: [{ ...main, name: "main", ...more }] } },
        { label: `${list} ${JSON.stringify(more)}` },
      ),
    ),
  )
}

function systems(): RequestStep[] {
  const shared = {
    seLinuxOptions: { level: "a" },
    seccompProfile: { type: "RuntimeDefault" },
    runAsUser: 1,
    runAsGroup: 1,
  }
  const appArmorProfile = { type: "RuntimeDefault" }
  const windowsOptions = { runAsUserName: "user" }
  const ofPod: Body = {
    ...shared,
    appArmorProfile,
    fsGroup: 1,
    fsGroupChangePolicy: "Always",
    sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }],
    supplementalGroups: [1],
    supplementalGroupsPolicy: "Merge",
    seLinuxChangePolicy: "MountOption",
  }
  const ofContainer: Body = {
    ...shared,
    appArmorProfile,
    capabilities: { add: ["NET_ADMIN"] },
    readOnlyRootFilesystem: false,
    privileged: false,
    allowPrivilegeEscalation: false,
    procMount: "Default",
  }
  const whole: Body = { hostPID: true, hostIPC: true, shareProcessNamespace: false, hostUsers: true }
  const contexts: Body[] = [ofPod, ofContainer, { windowsOptions }, { sysctls: [], supplementalGroups: [] }, {}]
  const container = (name: string, securityContext: Body): Body => ({ name, image: "busybox", securityContext })
  const make = (name: string, label: string, spec: Body): RequestStep =>
    post(
      `${pods}?dryRun=All`,
      { metadata: { name: "a" }, spec: { os: { name }, containers: [{ name: "main", image: "i" }], ...spec } },
      { label: `${name}, ${label}` },
    )
  return ["linux", "windows", "bogus", ""].flatMap((name) => [
    ...contexts.flatMap((context, index) => [
      make(name, `of a pod, ${index}`, { securityContext: context }),
      make(name, `of containers, ${index}`, {
        containers: [container("main", context)],
        initContainers: [container("first", context)],
      }),
    ]),
    make(name, "of all", whole),
    make(name, "with the host's", { hostNetwork: true, hostPID: false, hostIPC: false }),
  ])
}
