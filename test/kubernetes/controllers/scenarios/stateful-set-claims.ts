// StatefulSets and the claims of their pods.

import type { Scenario } from "../scenario.ts"
import { claimNamed, claims, patched, retention, stateful } from "./stateful-set-steps.ts"
import { quota, scale, settle, template } from "./steps.ts"

export const statefulSetClaimScenarios: readonly Scenario[] = [
  {
    name: "stateful set makes claims",
    nodes: "ready",
    steps: [stateful({ replicas: 2, volumeClaimTemplates: claims }), settle],
  },
  {
    name: "stateful set deletes claims by its retention policy",
    nodes: "ready",
    steps: [
      stateful({
        replicas: 2,
        volumeClaimTemplates: claims,
        persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" },
      }),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set deletes its claims with it",
    nodes: "ready",
    steps: [stateful(retention("Retain", "Delete")), settle, { delete: ["statefulsets", "web"] }, settle],
  },
  {
    name: "stateful set whose claims go with all",
    nodes: "ready",
    steps: [stateful(retention("Delete", "Delete")), settle, scale(1, "statefulsets"), settle],
  },
  {
    name: "stateful set that thinks better of its claims",
    nodes: "ready",
    steps: [
      stateful(retention("Delete", "Delete")),
      settle,
      patched({ persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain", whenDeleted: "Retain" } }),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set whose claim is another's",
    nodes: "ready",
    steps: [
      { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } } },
      claimNamed("data-web-0", {
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "UID:configmaps/owner", controller: true },
        ],
      }),
      stateful(retention("Delete", "Delete")),
      settle,
    ],
  },
  {
    name: "stateful set finds a claim of its name",
    nodes: "ready",
    steps: [claimNamed("data-web-0"), stateful(retention("Delete", "Delete")), settle],
  },
  {
    name: "stateful set waits for a claim that is being deleted",
    steps: [
      claimNamed("data-web-0", { finalizers: ["example.com/hold"] }),
      { delete: ["persistentvolumeclaims", "data-web-0"] },
      stateful(retention("Retain", "Retain")),
      settle,
    ],
  },
  {
    name: "stateful set whose claims run into a quota",
    steps: [
      quota({ persistentvolumeclaims: "1" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { persistentvolumeclaims: "1" } } } },
      stateful({ podManagementPolicy: "Parallel", volumeClaimTemplates: claims }),
      settle,
    ],
  },
  {
    name: "stateful set waits for a claim until it is gone",
    nodes: "ready",
    steps: [
      claimNamed("data-web-0", { finalizers: ["example.com/hold"] }),
      { delete: ["persistentvolumeclaims", "data-web-0"] },
      stateful({ replicas: 1, volumeClaimTemplates: claims }),
      settle,
      { patch: ["persistentvolumeclaims", "data-web-0"], with: { metadata: { finalizers: null } } },
      { until: ["statefulsets", "web"], has: { status: { readyReplicas: 1 } } },
    ],
  },
  {
    name: "stateful set grows again before a claim is gone",
    nodes: "ready",
    steps: [
      stateful(retention("Delete", "Retain")),
      settle,
      {
        patch: ["persistentvolumeclaims", "data-web-1"],
        with: { metadata: { finalizers: ["kubernetes.io/pvc-protection", "example.com/hold"] } },
      },
      scale(1, "statefulsets"),
      settle,
      scale(2, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set with volumes beside its claims",
    nodes: "ready",
    steps: [
      stateful({
        replicas: 1,
        volumeClaimTemplates: claims,
        template: template("one", {
          volumes: [
            { name: "tmp", emptyDir: {} },
            { name: "data", emptyDir: {} },
          ],
        }),
      }),
      settle,
      { patch: ["pods", "web-0"], with: { metadata: { labels: { "statefulset.kubernetes.io/pod-name": null } } } },
      settle,
    ],
  },
  {
    name: "stateful set whose quota of claims is raised",
    nodes: "ready",
    steps: [
      quota({ persistentvolumeclaims: "1" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { persistentvolumeclaims: "1" } } } },
      stateful({ replicas: 2, volumeClaimTemplates: claims }),
      settle,
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { persistentvolumeclaims: "5" } } } },
      { until: ["statefulsets", "web"], has: { status: { readyReplicas: 2 } } },
    ],
  },
]
