// DaemonSets with revisions that somebody else wrote, and on nodes that want none of them.

import type { Scenario, Step } from "../scenario.ts"
import { daemon, onOwn, ownNode, taint } from "./daemon-set-steps.ts"
import { wholeTemplate } from "./stateful-set-steps.ts"
import { image, labels, settle, template } from "./steps.ts"

const onNode = { template: template("one", onOwn) }
const repelling: Step = {
  patch: ["nodes", "NAMESPACE-a"],
  with: { spec: { taints: [taint, { key: "other", effect: "NoSchedule" }] } },
}
const limits = (rollingUpdate: object): object => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } })
const revision = (
  name: string,
  metadata: object,
  number: number,
  ofTemplate: object = { ...wholeTemplate, x: 1 },
): Step => ({
  create: {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name, ...metadata },
    data: { spec: { template: ofTemplate } },
    revision: number,
  },
})
const owned = {
  ownerReferences: [
    { apiVersion: "apps/v1", kind: "DaemonSet", name: "web", uid: "UID:daemonsets/web", controller: true },
  ],
}

export const daemonSetHistoryScenarios: readonly Scenario[] = [
  ...[
    { maxUnavailable: "50%" },
    { maxUnavailable: 1 },
    { maxUnavailable: 0, maxSurge: "50%" },
    { maxUnavailable: 0, maxSurge: 1 },
  ].map((strategy) => ({
    name: `unwanted daemon set rolls by ${JSON.stringify(strategy)}`,
    nodes: "ready" as const,
    steps: [
      ownNode("a"),
      daemon({ ...onNode, ...limits(strategy) }),
      settle,
      repelling,
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  })),
  {
    name: "daemon set lets go of a revision of other labels",
    nodes: "ready",
    steps: [
      daemon(),
      settle,
      revision("web-other", { labels: { app: "other" }, ...owned }, 5),
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set whose old revision is given the number of its current one",
    nodes: "ready",
    steps: [
      revision("web-old", { labels }, 0),
      settle,
      daemon(),
      settle,
      { patch: ["controllerrevisions", "web-old"], with: { revision: 1 } },
      settle,
    ],
  },
  {
    name: "daemon set whose old revision is given a higher number than its current one",
    nodes: "ready",
    steps: [
      revision("web-old", { labels }, 0),
      settle,
      daemon(),
      settle,
      { patch: ["controllerrevisions", "web-old"], with: { revision: 4 } },
      settle,
    ],
  },
]
