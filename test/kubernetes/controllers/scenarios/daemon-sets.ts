// DaemonSets on two nodes.

import type { Scenario, Step } from "../scenario.ts"
import { daemon, onOwn, ownNode, taint } from "./daemon-set-steps.ts"
import { image, labels, settle, template } from "./steps.ts"

export const daemonSetScenarios: readonly Scenario[] = [
  { name: "daemon set runs on each node", nodes: "ready", steps: [daemon(), settle] },
  {
    name: "daemon set on no node",
    steps: [daemon({ template: template("one", { nodeSelector: { a: "b" } }) }), settle],
  },
  {
    name: "daemon set replaces a failed pod",
    nodes: "ready",
    steps: [daemon(), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
  {
    name: "daemon set deleted, its pods kept and taken by another",
    nodes: "ready",
    steps: [
      daemon(),
      settle,
      { delete: ["daemonsets", "web"], policy: "Orphan" },
      { until: ["daemonsets", "web"], has: null },
      settle,
      daemon(),
      settle,
    ],
  },
  {
    name: "daemon set available after a while",
    nodes: "ready",
    steps: [daemon({ minReadySeconds: 2 }), settle],
  },
  {
    name: "daemon set whose pods are refused",
    steps: [daemon({ template: template("one", { serviceAccountName: "nobody" }) }), settle],
  },
  {
    name: "daemon set that leaves a node",
    nodes: "ready",
    steps: [
      daemon(),
      settle,
      { patch: ["daemonsets", "web"], with: { spec: { template: { spec: { nodeSelector: { a: "b" } } } } } },
      settle,
    ],
  },
  {
    name: "daemon set on a node that comes, changes and goes",
    nodes: "ready",
    steps: [
      daemon({ template: template("one", onOwn) }),
      settle,
      ownNode("a"),
      settle,
      { patch: ["nodes", "NAMESPACE-a"], with: { metadata: { labels: { of: "other" } } } },
      settle,
      { patch: ["nodes", "NAMESPACE-a"], with: { metadata: { labels: { of: "NAMESPACE" } } } },
      settle,
    ],
  },
  ...["", " and then takes them again", " and then sends all away"].map((end): Scenario => {
    const other = (...effects: string[]): Step => ({
      patch: ["nodes", "NAMESPACE-a"],
      with: { spec: { taints: [taint, ...effects.map((effect) => ({ key: "other", effect }))] } },
    })
    const steps = end === "" ? [] : [end.includes("again") ? other() : other("NoSchedule", "NoExecute"), settle]
    return {
      name: `daemon set on a node that repels new pods${end}`,
      nodes: "ready",
      steps: [
        ownNode("a"),
        ownNode("b"),
        daemon({ template: template("one", onOwn) }),
        settle,
        other("NoSchedule"),
        settle,
        ...steps,
      ],
    }
  }),
  {
    name: "daemon set on a node that cannot be scheduled",
    nodes: "ready",
    steps: [
      ownNode("a"),
      daemon({ template: template("one", onOwn) }),
      settle,
      { patch: ["nodes", "NAMESPACE-a"], with: { spec: { unschedulable: true } } },
      settle,
      { deletePods: labels },
      settle,
    ],
  },
  {
    name: "daemon set in the nodes' network",
    nodes: "ready",
    steps: [daemon({ template: template("one", { hostNetwork: true }) }), settle],
  },
  {
    name: "daemon set beside pods of its labels",
    nodes: "ready",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "orphan", labels },
          spec: { nodeName: "n1", containers: [{ name: "c", image: "one" }] },
        },
      },
      settle,
      daemon(),
      settle,
    ],
  },
  {
    name: "daemon set whose pods do not end",
    nodes: "ready",
    steps: [
      daemon({ template: { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } } }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set with a pod that has succeeded",
    nodes: "bound",
    steps: [daemon(), settle, { pods: "ready" }, settle, { pods: "succeeded", count: 1 }, settle],
  },
  {
    name: "daemon set with affinity and patience of its own",
    nodes: "ready",
    steps: [
      ownNode("a"),
      daemon({
        template: template("one", {
          tolerations: [
            ...onOwn.tolerations,
            { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 7 },
          ],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: "of", operator: "In", values: ["NAMESPACE"] }] },
                  { matchExpressions: [{ key: "and", operator: "Exists" }] },
                ],
              },
            },
          },
        }),
      }),
      settle,
    ],
  },
  {
    name: "daemon set whose node goes before its pod is there",
    steps: [
      ownNode("a"),
      daemon({ template: template("one", onOwn) }),
      settle,
      // Upstream looks every five seconds which nodes have come and gone.
      settle,
      settle,
      { delete: ["nodes", "NAMESPACE-a"] },
      settle,
      settle,
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set whose pods have failed and do not end",
    nodes: "bound",
    steps: [
      daemon({ template: { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } } }),
      settle,
      { pods: "ready" },
      settle,
      { pods: { exit: 1 }, count: 1 },
      settle,
    ],
  },
]
