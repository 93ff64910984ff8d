// What controllers find when they start, and limits that are soon reached: what upstream looks at each hour or each day, but also
// at its start.

import type { Scenario, Step } from "../scenario.ts"
import { podOn } from "./node-steps.ts"
import { oldCertificates } from "./old-certificates.ts"
import { service } from "./service-steps.ts"
import { labels, settle } from "./steps.ts"
import { alike, auto, withReady } from "./topology-steps.ts"

const startIntervalMs = 1000

/** Given to both (restarted.test.ts). */
export const limits = {
  flags: [
    "--terminated-pod-gc-threshold=2",
    "--legacy-service-account-token-clean-up-period=1s",
    // After once or twice this time; otherwise requests for certificates are looked at before any is known, and then after an hour.
    `--controller-start-interval=${startIntervalMs}ms`,
  ],
  beginsMs: 2 * startIntervalMs,
  limits: { finishedPods: 2, unusedTokenMs: 1000 },
}

const lease = (name: string, spec: object, identity = "kube-apiserver"): Step => ({
  create: {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: `NAMESPACE-${name}`,
      namespace: "kube-system",
      labels: { "apiserver.kubernetes.io/identity": identity },
    },
    spec: { holderIdentity: "somebody", ...spec },
  },
})

/** Since long ago. */
export const tracked: Step = {
  patch: ["configmaps", "kube-apiserver-legacy-service-account-token-tracking", "kube-system"],
  with: { data: { since: "2020-01-01" } },
}
const lastUsed = "kubernetes.io/legacy-token-last-used"
const invalidSince = "kubernetes.io/legacy-token-invalid-since"
const token = (name: string, more: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, annotations: { "kubernetes.io/service-account.name": "robot" }, labels: more },
    type: "kubernetes.io/service-account-token",
  },
})
/** As it was done for every account once. */
const robot = (...secrets: string[]): Step => ({
  create: {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "robot" },
    secrets: secrets.map((name) => ({ name })),
  },
})
const secretIsGone = (name: string): Step => ({ until: ["secrets", name], has: null })
const secretHas = (name: string, label: string): Step => ({
  until: ["secrets", name],
  has: { metadata: { labels: { [label]: new Date().toISOString().slice(0, 10) } } },
})

const finished = (name: string, status: object): Step => ({
  patch: ["pods", name],
  with: { status },
  subresource: "status",
})
const zone = (node: string, name: string): Step[] => [
  { patch: ["nodes", node], with: { metadata: { labels: { "topology.kubernetes.io/zone": name } } } },
  { patch: ["nodes", node], with: { status: { allocatable: { cpu: "2" } } }, subresource: "status" },
]
const pod = (node: string, name: string): Step => podOn("", name, { labels }, { nodeName: node })

export const leftOverScenarios: readonly Scenario[] = [
  oldCertificates,
  {
    name: "leases of API servers",
    before: [
      lease("over", { leaseDurationSeconds: 3600, renewTime: "2020-01-01T00:00:00.000000Z" }),
      lease("kept", { leaseDurationSeconds: 3600, renewTime: "2100-01-01T00:00:00.000000Z" }),
      lease("never-renewed", { leaseDurationSeconds: 3600 }),
      lease("for-no-time", { renewTime: "2100-01-01T00:00:00.000000Z" }),
      lease("anothers", { leaseDurationSeconds: 3600, renewTime: "2020-01-01T00:00:00.000000Z" }, "somebody-else"),
    ],
    steps: [
      ...["over", "never-renewed", "for-no-time"].map((name): Step => ({
        until: ["leases", `NAMESPACE-${name}`, "kube-system"],
        has: null,
      })),
      settle,
    ],
  },
  {
    name: "tokens that nobody asked for",
    before: [
      tracked,
      robot("unused", "used-long-ago", "invalid", "invalid-today", "used-today", "odd", "mounted"),
      token("asked-for"),
      token("unused"),
      token("used-long-ago", { [lastUsed]: "2021-01-01" }),
      token("used-today", { [lastUsed]: new Date().toISOString().slice(0, 10) }),
      token("odd", { [lastUsed]: "soon" }),
      token("mounted"),
      token("invalid", { [lastUsed]: "2021-01-01", [invalidSince]: "2022-01-01" }),
      token("invalid-today", { [invalidSince]: new Date().toISOString().slice(0, 10) }),
      podOn("", "reader", {}, { nodeName: "n1", volumes: [{ name: "token", secret: { secretName: "mounted" } }] }),
      settle,
    ],
    steps: [
      secretIsGone("invalid"),
      secretHas("unused", invalidSince),
      secretHas("used-long-ago", invalidSince),
      settle,
    ],
  },
  {
    name: "more pods that have ended than are kept",
    before: [...["a", "b", "c", "d", "e", "f"].map((name) => pod("n1", name)), settle],
    steps: [
      finished("a", { phase: "Succeeded" }),
      finished("b", { phase: "Failed" }),
      finished("c", { phase: "Failed" }),
      { until: ["pods", "a"], has: null },
      finished("d", { phase: "Succeeded" }),
      { until: ["pods", "b"], has: null },
      finished("e", { phase: "Failed", reason: "Evicted" }),
      { until: ["pods", "e"], has: null },
      settle,
    ],
  },
  {
    name: "service of topology by itself, of one zone's pods for another",
    before: [
      ...zone("n1", "x"),
      ...zone("n2", "y"),
      alike("in-x", "n1"),
      alike("in-y", "n2"),
      settle,
      { pods: "ready" },
      settle,
    ],
    steps: [
      service(),
      settle,
      auto,
      settle,
      ...withReady("in-x", 1, 3),
      ...withReady("in-x", 3, 5),
      ...withReady("in-y", 1, 2),
      ...withReady("in-x", 5, 6),
      ...withReady("in-y", 2, 3),
    ],
  },
  {
    name: "service of topology by itself",
    before: [...zone("n1", "x"), ...zone("n2", "y"), pod("n1", "a"), pod("n2", "b"), { pods: "ready" }, settle],
    steps: [
      service(),
      settle,
      auto,
      settle,
      // More of one zone than of the other: the shares cannot be kept.
      pod("n1", "c"),
      settle,
      { pods: "ready", count: 3 },
      settle,
      { delete: ["pods", "c"] },
      { delete: ["pods", "b"] },
      settle,
    ],
  },
]
