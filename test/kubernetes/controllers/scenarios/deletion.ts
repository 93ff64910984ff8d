// Garbage collection.

import type { Scenario, Step } from "../scenario.ts"
import { config, gone, held, hold, ownedBy, remove, uid } from "./deletion-steps.ts"
import { deployment, rolled, settle } from "./steps.ts"

/** Nobody looks at who comes until something is new of the owner. */
const late: readonly Step[] = [
  config("owner"),
  config("other"),
  held("blocks", [ownedBy("owner", { blockOwnerDeletion: true })]),
  settle,
  remove("owner", "Foreground"),
  settle,
  config("late", [ownedBy("owner")]),
  config("late-and-blocks", [ownedBy("owner", { blockOwnerDeletion: true })]),
  config("late-of-both", [ownedBy("owner"), ownedBy("other")]),
  settle,
]

export const deletionScenarios: readonly Scenario[] = [
  {
    name: "deletion in the background",
    nodes: "ready",
    steps: [deployment(), rolled(3), { delete: ["deployments", "web"] }, settle],
  },
  {
    name: "deletion in the foreground",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Foreground" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "deletion that leaves orphans",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Orphan" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "dependent of an owner that never was",
    steps: [
      config("stays"),
      config("goes", [
        { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "11111111-1111-4111-8111-111111111111" },
      ]),
      settle,
    ],
  },
  {
    name: "owner that waits for a dependent that blocks",
    steps: [
      config("owner"),
      held("blocks", [ownedBy("owner", { blockOwnerDeletion: true })]),
      held("does-not", [ownedBy("owner")]),
      settle,
      remove("owner", "Foreground"),
      settle,
    ],
  },
  {
    name: "dependents that come while their owner waits for another",
    steps: late,
  },
  {
    name: "dependents that came while their owner waited for another",
    steps: [...late, { patch: ["configmaps", "blocks"], with: { metadata: { finalizers: null } } }, settle],
  },
  {
    name: "owner without blocking dependents",
    steps: [
      config("owner"),
      held("does-not", [ownedBy("owner")]),
      settle,
      remove("owner", "Foreground"),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "owner in the background with a dependent that does not end",
    steps: [config("owner"), held("held", [ownedBy("owner")]), settle, remove("owner", "Background"), settle],
  },
  {
    name: "dependent of two owners",
    steps: [
      config("one"),
      config("two"),
      config("both", [ownedBy("one"), ownedBy("two")]),
      settle,
      remove("one", "Background"),
      settle,
    ],
  },
  {
    name: "dependent of two owners of which one waits",
    steps: [
      config("one"),
      config("two"),
      config("both", [ownedBy("one", { blockOwnerDeletion: true }), ownedBy("two", { blockOwnerDeletion: true })]),
      settle,
      remove("one", "Foreground"),
      gone("one"),
      settle,
    ],
  },
  {
    name: "orphans keep their other owners",
    steps: [
      config("one"),
      config("two"),
      config("both", [ownedBy("one", { controller: true }), ownedBy("two")]),
      settle,
      remove("one", "Orphan"),
      gone("one"),
      settle,
    ],
  },
  {
    name: "chain in the foreground",
    steps: [
      config("a"),
      config("b", [ownedBy("a", { blockOwnerDeletion: true })]),
      held("c", [ownedBy("b", { blockOwnerDeletion: true })]),
      settle,
      remove("a", "Foreground"),
      settle,
    ],
  },
  {
    name: "chain whose middle is orphaned",
    steps: [
      config("a"),
      config("b", [ownedBy("a")]),
      config("c", [ownedBy("b")]),
      settle,
      remove("b", "Orphan"),
      gone("b"),
      settle,
      remove("a", "Background"),
      settle,
    ],
  },
  {
    name: "owners in a circle",
    steps: [
      config("a"),
      config("b", [ownedBy("a", { blockOwnerDeletion: true })]),
      {
        patch: ["configmaps", "a"],
        with: { metadata: { ownerReferences: [ownedBy("b", { blockOwnerDeletion: true })] } },
      },
      settle,
      remove("a", "Foreground"),
      settle,
    ],
  },
  {
    name: "owners in a circle without blocking dependents",
    steps: [
      config("a"),
      held("b", [ownedBy("a")]),
      { patch: ["configmaps", "a"], with: { metadata: { ownerReferences: [ownedBy("b")], ...hold } } },
      settle,
      remove("a", "Foreground"),
      settle,
    ],
  },
  {
    name: "dependent whose owner has another uid",
    steps: [config("owner"), config("stray", [{ ...ownedBy("owner"), uid }]), settle],
  },
  {
    name: "dependent of an owner in another namespace",
    steps: [
      config("stray", [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          name: "kube-root-ca.crt",
          uid: "UID:default/configmaps/kube-root-ca.crt",
        },
      ]),
      settle,
    ],
  },
  {
    name: "dependent of an owner of no namespace",
    steps: [
      config("stays", [{ apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid: "UID:namespaces/NAMESPACE" }]),
      config("goes", [{ apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid }]),
      settle,
    ],
  },
  {
    name: "dependent of a kind that is not there",
    steps: [config("stays", [{ apiVersion: "example.com/v1", kind: "Nothing", name: "x", uid }]), settle],
  },
  {
    name: "cluster-scoped object with a namespaced owner",
    steps: [
      {
        create: {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: {
            name: "NAMESPACE-stray",
            ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid }],
          },
          rules: [],
        },
      },
      settle,
    ],
  },
  {
    name: "finalizers of who is deleted in both ways",
    steps: [held("owner"), config("dependent", [ownedBy("owner")]), settle, remove("owner", "Orphan"), settle],
  },
]
