// PersistentVolumes made by hand and claims for them.

import type { Scenario } from "../scenario.ts"
import { settle } from "./steps.ts"
import { asks, attributes, bound, claim, expandable, isIn, labelled, volume } from "./volume-steps.ts"

export const volumeScenarios: readonly Scenario[] = [
  {
    name: "claim gets the smallest volume that fits",
    steps: [
      volume("large", "10Gi"),
      volume("fits", "5Gi"),
      volume("small", "1Gi"),
      volume("many", "2Gi", { accessModes: ["ReadWriteOnce", "ReadOnlyMany"] }),
      volume("block", "2Gi", { volumeMode: "Block" }),
      isIn("large", "Available"),
      isIn("fits", "Available"),
      isIn("small", "Available"),
      isIn("many", "Available"),
      isIn("block", "Available"),
      claim("data", "2Gi"),
      bound("data"),
    ],
  },
  {
    name: "claim and volume reserved for each other",
    steps: [
      volume("reserved", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "data" } }),
      isIn("reserved", "Available"),
      claim("data", "2Gi"),
      bound("data"),
    ],
  },
  {
    name: "claim that names its volume",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeName: "NAMESPACE-one" }),
      bound("data"),
    ],
  },
  {
    name: "claim that names a volume that is too small",
    steps: [
      volume("one", "1Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeName: "NAMESPACE-one" }),
      settle,
    ],
  },
  {
    name: "claim that names another's volume",
    steps: [
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "other" } }),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeName: "NAMESPACE-one" }),
      settle,
    ],
  },
  {
    name: "claim bound to volumes reserved for it that are too small",
    steps: [
      volume("one", "1Gi", { claimRef: { namespace: "NAMESPACE", name: "one" } }),
      volume("two", "1Gi", {
        claimRef: { namespace: "NAMESPACE", name: "two" },
        nfs: null,
        awsElasticBlockStore: { volumeID: "v" },
      }),
      isIn("one", "Available"),
      isIn("two", "Available"),
      claim("one", "2Gi", { volumeName: "NAMESPACE-one" }),
      claim("two", "2Gi", { volumeName: "NAMESPACE-two" }),
      bound("one"),
      bound("two"),
      settle,
    ],
  },
  {
    name: "claim that requests more than its volume has",
    steps: [
      expandable,
      volume("one", "1Gi"),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      asks("data", "2Gi"),
      settle,
    ],
  },
  {
    name: "claim chooses by label",
    steps: [
      labelled("a", { tier: "slow" }),
      labelled("b", { tier: "fast" }),
      isIn("a", "Available"),
      isIn("b", "Available"),
      claim("data", "1Gi", { selector: { matchExpressions: [{ key: "tier", operator: "In", values: ["fast"] }] } }),
      bound("data"),
    ],
  },
  {
    name: "claim that no volume fits",
    steps: [volume("one", "1Gi"), isIn("one", "Available"), claim("data", "5Gi"), settle],
  },
  {
    name: "claims for the same volume",
    steps: [volume("one", "5Gi"), isIn("one", "Available"), claim("a", "1Gi"), bound("a"), claim("b", "1Gi"), settle],
  },
  {
    name: "claim for a block",
    steps: [
      volume("files", "1Gi"),
      volume("block", "5Gi", { volumeMode: "Block" }),
      isIn("files", "Available"),
      isIn("block", "Available"),
      claim("data", "1Gi", { volumeMode: "Block" }),
      bound("data"),
    ],
  },
  {
    name: "claim that names a volume of another mode",
    steps: [
      volume("block", "5Gi", { volumeMode: "Block" }),
      isIn("block", "Available"),
      claim("data", "1Gi", { volumeName: "NAMESPACE-block" }),
      settle,
    ],
  },
  {
    name: "claim that names a volume that is not there",
    steps: [claim("data", "1Gi", { volumeName: "NAMESPACE-nothing" }), settle],
  },
  {
    name: "volume comes after its claim",
    steps: [claim("data", "1Gi"), settle, volume("one", "1Gi"), bound("data")],
  },
  {
    name: "volume reserved for a claim of another uid",
    steps: [
      volume("one", "5Gi", {
        claimRef: { namespace: "NAMESPACE", name: "data", uid: "11111111-1111-4111-8111-111111111111" },
      }),
      isIn("one", "Released"),
      claim("data", "2Gi"),
      settle,
    ],
  },
  {
    name: "claim said to be bound to a volume that does not know it",
    steps: [
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "data" } }),
      isIn("one", "Available"),
      {
        create: {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "NAMESPACE",
            volumeName: "NAMESPACE-one",
            resources: { requests: { storage: "1Gi" } },
          },
        },
      },
      settle,
    ],
  },
  {
    name: "claim takes fewer modes before what is reserved for it",
    steps: [
      volume("reserved", "5Gi", {
        accessModes: ["ReadWriteOnce", "ReadWriteMany"],
        claimRef: { namespace: "NAMESPACE", name: "data" },
      }),
      volume("free", "5Gi"),
      isIn("reserved", "Available"),
      isIn("free", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      settle,
    ],
  },
  {
    name: "claim of attributes is bound",
    steps: [
      attributes,
      volume("one", "5Gi", {
        nfs: null,
        csi: { driver: "csi.example.com", volumeHandle: "h" },
        volumeAttributesClassName: "NAMESPACE",
      }),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeAttributesClassName: "NAMESPACE" }),
      bound("data"),
      settle,
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } } },
      { delete: ["persistentvolumes", "NAMESPACE-one"] },
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } }, mayBeGone: true },
      { until: ["persistentvolumeclaims", "data"], has: { status: { phase: "Lost" } } },
      settle,
    ],
  },
]
