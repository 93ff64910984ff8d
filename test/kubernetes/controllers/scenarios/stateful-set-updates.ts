// StatefulSets that get another template.

import type { Scenario } from "../scenario.ts"
import { held, revisionNamed, stateful, wholeTemplate } from "./stateful-set-steps.ts"
import { container, image, labels, owner, scale, settle, template } from "./steps.ts"

export const statefulSetUpdateScenarios: readonly Scenario[] = [
  {
    name: "stateful set rolls to a new template",
    nodes: "ready",
    steps: [stateful(), settle, image("two", "statefulsets"), settle],
  },
  {
    name: "stateful set takes pods that another owner was given",
    nodes: "ready",
    steps: [stateful(), settle, { patchPods: labels, with: { metadata: { ownerReferences: [owner] } } }, settle],
  },
  {
    name: "stateful set rolls only beyond its partition",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }),
      settle,
      image("two", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set on delete",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "OnDelete" } }),
      settle,
      image("two", "statefulsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "stateful set whose pods end at once rolls while they do not work",
    nodes: "bound",
    steps: [
      stateful({
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "RollingUpdate" },
        template: template("one", { terminationGracePeriodSeconds: 0 }),
      }),
      settle,
      image("two", "statefulsets"),
      settle,
      { pods: "ready" },
      settle,
    ],
  },
  {
    name: "stateful set rolls several at a time",
    nodes: "bound",
    steps: [
      stateful({
        replicas: 4,
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } },
      }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set in parallel rolls to a new template",
    nodes: "bound",
    steps: [
      stateful({ podManagementPolicy: "Parallel" }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "statefulsets"),
      settle,
      { pods: "ready" },
      settle,
    ],
  },
  {
    name: "stateful set that keeps one revision",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1, revisionHistoryLimit: 1 }),
      settle,
      image("two", "statefulsets"),
      settle,
      image("three", "statefulsets"),
      settle,
      image("four", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set goes back to a revision",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1 }),
      settle,
      image("two", "statefulsets"),
      settle,
      image("one", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set stuck in an update",
    nodes: "bound",
    steps: [
      stateful({ replicas: 2, podManagementPolicy: "Parallel" }),
      settle,
      { pods: "ready" },
      settle,
      image("two", "statefulsets"),
      settle,
      image("three", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set with a partition beyond its end",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 5 } } }),
      settle,
      image("two", "statefulsets"),
      settle,
      scale(4, "statefulsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "stateful set deleted, its pods taken by one of another template",
    nodes: "ready",
    steps: [
      stateful({ replicas: 2 }),
      settle,
      { delete: ["statefulsets", "web"], policy: "Orphan" },
      { until: ["statefulsets", "web"], has: null },
      settle,
      stateful({ replicas: 2, template: template("two") }),
      settle,
    ],
  },
  {
    name: "stateful set in order stuck in an update",
    nodes: "bound",
    steps: [
      stateful({ replicas: 1 }),
      settle,
      { pods: "ready" },
      settle,
      scale(2, "statefulsets"),
      settle,
      image("two", "statefulsets"),
      settle,
      { pods: "ready" },
      settle,
      image("three", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set shrinks and rolls while one does not end",
    nodes: "bound",
    steps: [
      stateful({ podManagementPolicy: "Parallel", template: held }),
      settle,
      { pods: "ready" },
      settle,
      scale(2, "statefulsets"),
      settle,
      {
        patch: ["statefulsets", "web"],
        with: { spec: { template: { spec: { containers: [container("two")] } } } },
      },
      settle,
    ],
  },
  {
    name: "stateful set finds a revision of its template that is written otherwise",
    nodes: "ready",
    steps: [revisionNamed("whole", wholeTemplate), stateful({ replicas: 1 }), settle],
  },
  {
    name: "stateful set finds a revision with a partial template",
    nodes: "ready",
    steps: [
      revisionNamed("little", { spec: { terminationGracePeriodSeconds: 30 } }),
      stateful({ replicas: 1 }),
      settle,
      image("two", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set finds a revision of another, partial template",
    nodes: "ready",
    steps: [revisionNamed("other", { spec: { terminationGracePeriodSeconds: 7 } }), stateful({ replicas: 1 }), settle],
  },
]
