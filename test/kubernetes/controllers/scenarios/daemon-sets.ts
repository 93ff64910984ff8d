// DaemonSets on two nodes.

import type { Scenario, Step } from "../scenario.ts"
import { labels, template, workload, image, settle } from "./steps.ts"

const daemon = (spec: object = {}): Step => workload("DaemonSet", spec)

export const daemonSetScenarios: readonly Scenario[] = [
  { name: "daemon set runs on each node", nodes: "ready", steps: [daemon(), settle] },
  {
    name: "daemon set on no node",
    steps: [daemon({ template: template("one", { nodeSelector: { a: "b" } }) }), settle],
  },
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
    name: "daemon set replaces a failed pod",
    nodes: "ready",
    steps: [daemon(), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
]
