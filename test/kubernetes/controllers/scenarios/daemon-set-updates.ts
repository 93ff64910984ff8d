// DaemonSets that get another template.

import type { Scenario } from "../scenario.ts"
import { daemon, onOwn, ownNode, taint } from "./daemon-set-steps.ts"
import { container, image, labels, settle, template, workload } from "./steps.ts"

export const daemonSetUpdateScenarios: readonly Scenario[] = [
  {
    name: "daemon set rolls to a new template",
    nodes: "ready",
    steps: [daemon(), settle, image("two", "daemonsets"), settle],
  },
  {
    name: "daemon set rolls with a surge",
    nodes: "ready",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set on delete",
    nodes: "ready",
    steps: [
      daemon({ updateStrategy: { type: "OnDelete" } }),
      settle,
      image("two", "daemonsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "daemon set stuck in an update",
    nodes: "bound",
    steps: [daemon(), settle, { pods: "ready" }, settle, image("two", "daemonsets"), settle],
  },
  {
    name: "daemon set goes back to a template",
    nodes: "ready",
    steps: [daemon(), settle, image("two", "daemonsets"), settle, image("one", "daemonsets"), settle],
  },
  {
    name: "daemon set that keeps one revision",
    nodes: "ready",
    steps: [
      daemon({ revisionHistoryLimit: 1 }),
      settle,
      image("two", "daemonsets"),
      settle,
      image("three", "daemonsets"),
      settle,
      image("four", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set rolls all at once",
    nodes: "bound",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "100%" } } }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set surges and is stuck",
    nodes: "bound",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } } }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set on a node that gets a taint",
    nodes: "ready",
    steps: [
      ownNode("a"),
      daemon({ template: template("one", onOwn) }),
      settle,
      {
        patch: ["nodes", "NAMESPACE-a"],
        with: { spec: { taints: [taint, { key: "other", effect: "NoExecute" }] } },
      },
      settle,
    ],
  },
  {
    name: "daemon set deleted, its pods taken by one of another template",
    nodes: "ready",
    steps: [
      daemon(),
      settle,
      { delete: ["daemonsets", "web"], policy: "Orphan" },
      { until: ["daemonsets", "web"], has: null },
      settle,
      daemon({ template: template("two") }),
      settle,
    ],
  },
  {
    name: "daemon set finds the history of a stateful set",
    nodes: "ready",
    steps: [
      workload("StatefulSet", { serviceName: "web", replicas: 0 }),
      settle,
      { delete: ["statefulsets", "web"], policy: "Orphan" },
      { until: ["statefulsets", "web"], has: null },
      settle,
      daemon({ template: template("one", { nodeSelector: { a: "b" } }) }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set gets what its twin leaves",
    nodes: "ready",
    steps: [
      daemon(),
      settle,
      {
        create: {
          apiVersion: "apps/v1",
          kind: "DaemonSet",
          metadata: { name: "twin" },
          spec: { selector: { matchLabels: labels }, template: template("two") },
        },
      },
      settle,
      // The revision that is kept is the one of the higher number; of equal numbers upstream keeps any.
      { patch: ["daemonsets", "twin"], with: { spec: { template: { spec: { containers: [container("one")] } } } } },
      settle,
      { delete: ["daemonsets", "twin"], policy: "Orphan" },
      { until: ["daemonsets", "twin"], has: null },
      settle,
    ],
  },
  {
    name: "daemon set stuck in an update keeps no revision but those in use",
    nodes: "bound",
    steps: [
      daemon({ revisionHistoryLimit: 1 }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "daemonsets"),
      settle,
      image("three", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set surges where none works",
    nodes: "bound",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set surges and its pods do not end",
    nodes: "ready",
    steps: [
      daemon({
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } },
      }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set surges and leaves a node",
    nodes: "ready",
    steps: [
      ownNode("a"),
      ownNode("b"),
      daemon({
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: template("one", onOwn),
      }),
      settle,
      {
        patch: ["nodes", "NAMESPACE-a"],
        with: { spec: { taints: [taint, { key: "other", effect: "NoSchedule" }] } },
      },
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set rolls where some do not work",
    nodes: "bound",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "50%" } } }),
      settle,
      { pods: "ready", count: 1 },
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set surges and waits an hour, and then no more",
    nodes: "bound",
    steps: [
      ownNode("a"),
      ownNode("b"),
      daemon({
        template: template("one", onOwn),
        minReadySeconds: 3600,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      }),
      settle,
      { pods: "ready" },
      settle,
      { patch: ["daemonsets", "web"], with: { spec: { template: template("two", onOwn) } } },
      settle,
      { pods: "ready" },
      settle,
      { patch: ["daemonsets", "web"], with: { spec: { minReadySeconds: 0 } } },
      settle,
      { pods: "ready" },
      settle,
    ],
  },
]
