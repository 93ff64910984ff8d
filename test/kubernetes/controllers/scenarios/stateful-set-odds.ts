// StatefulSets with odd pods, templates, claims and histories.

import type { Scenario, Step } from "../scenario.ts"
import { claims, patched, podNamed, retention, revisionNamed, stateful, wholeTemplate } from "./stateful-set-steps.ts"
import { image, labels, quota, scale, settle, template } from "./steps.ts"

const named = (name: string): Step => podNamed(name, { labels })
const conditions = [{ type: "Noted", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }]
const status = (of: object): Step => ({ patch: ["statefulsets", "web"], with: { status: of }, subresource: "status" })
const [claim] = claims

export const oddStatefulSetScenarios: readonly Scenario[] = [
  ...["web-99999999999", "web-2147483647"].map((name) => ({
    name: `stateful set finds a pod ${name}`,
    nodes: "ready" as const,
    steps: [named(name), settle, stateful({ replicas: 2 }), settle],
  })),
  {
    name: "stateful set without a service of a template with a subdomain",
    nodes: "ready",
    steps: [stateful({ serviceName: "", replicas: 1, template: template("one", { subdomain: "sub" }) }), settle],
  },
  {
    name: "stateful set whose revisions are deleted",
    nodes: "ready",
    steps: [stateful(), settle, { deleteAll: "controllerrevisions" }, scale(2, "statefulsets"), settle],
  },
  {
    name: "stateful set whose claims are to be held",
    nodes: "ready",
    steps: [
      stateful({
        replicas: 1,
        volumeClaimTemplates: [
          {
            ...claim,
            metadata: {
              ...claim?.metadata,
              labels: { app: "mine", tier: "a" },
              annotations: { note: "x" },
              finalizers: ["example.com/hold"],
            },
          },
        ],
      }),
      settle,
    ],
  },
  {
    name: "stateful set whose status somebody else completes",
    nodes: "ready",
    steps: [stateful({ replicas: 1 }), settle, status({ conditions }), settle],
  },
  {
    name: "stateful set whose status somebody else completes is resized",
    nodes: "ready",
    steps: [stateful({ replicas: 1 }), settle, status({ conditions }), settle, scale(2, "statefulsets"), settle],
  },
  {
    name: "stateful set that keeps all revisions",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1, revisionHistoryLimit: -1 }),
      settle,
      image("two", "statefulsets"),
      settle,
      image("three", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set forgets revisions that leave no room for another",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1 }),
      settle,
      image("two", "statefulsets"),
      settle,
      image("three", "statefulsets"),
      settle,
      quota({ "count/controllerrevisions.apps": "3" }),
      settle,
      image("four", "statefulsets"),
      settle,
      patched({ revisionHistoryLimit: 1 }),
      settle,
    ],
  },
  {
    name: "stateful set takes a revision that is going",
    nodes: "ready",
    steps: [
      revisionNamed("web-old", wholeTemplate),
      { patch: ["controllerrevisions", "web-old"], with: { metadata: { finalizers: ["example.com/hold"] } } },
      { delete: ["controllerrevisions", "web-old"] },
      stateful({ replicas: 1 }),
      settle,
    ],
  },
  {
    name: "stateful set in parallel finds a stranger of its pod's name",
    steps: [
      ...[0, 1, 2, 3, 4, 5, 6].map((ordinal) => named(`web-${ordinal}`)),
      podNamed("web-7"),
      stateful({ podManagementPolicy: "Parallel", replicas: 16 }),
      settle,
    ],
  },
  {
    name: "stateful set begins elsewhere, again and again, and keeps few claims",
    nodes: "ready",
    steps: [
      stateful({
        ...retention("Delete", "Retain"),
        replicas: 3,
        podManagementPolicy: "Parallel",
        ordinals: { start: 2 },
      }),
      settle,
      patched({ ordinals: { start: 4 } }),
      settle,
      patched({ replicas: 1, ordinals: { start: 3 } }),
      settle,
      patched({ persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain", whenDeleted: "Delete" } }),
      settle,
      patched({ replicas: 3, ordinals: { start: 2 } }),
      settle,
      { delete: ["statefulsets", "web"] },
      settle,
    ],
  },
]
