// Owners and dependents of other kinds and in other places, and what is changed of them while they wait for each other.

import type { Scenario, Step } from "../scenario.ts"
import { config, gone, held, hold, ownedBy, remove, uid } from "./deletion-steps.ts"
import { settle } from "./steps.ts"

const group = "scenarios.example.com/v1"
const thing = (name: string, owners: object[] = [], more: object = {}): Step => ({
  create: { apiVersion: group, kind: "Thing", metadata: { name, ownerReferences: owners, ...more } },
})
const ownedByThing = (name: string, more: object = {}): object => ({
  apiVersion: group,
  kind: "Thing",
  name,
  uid: `UID:things/${name}`,
  ...more,
})
const blocks = { blockOwnerDeletion: true }

/** Upstream looks for new kinds every 30 s, and tries again after as long as it has tried. */
const isKnown: readonly Step[] = [
  config("probe", [{ apiVersion: group, kind: "Thing", name: "nobody", uid }]),
  { until: ["configmaps", "probe"], has: null, late: true },
]

const reference = (name: string, owners: object[]): Step => ({
  patch: ["configmaps", name],
  with: { metadata: { ownerReferences: owners } },
})
const release = (name: string): Step => ({
  patch: ["configmaps", name],
  with: { metadata: { finalizers: null } },
})
const elsewhere = "NAMESPACE-elsewhere"
const otherNamespace: Step = {
  create: { apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere } },
}
const configElsewhere = (name: string, owners: object[] = []): Step => ({
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: elsewhere, ownerReferences: owners } },
})
const ownedElsewhere = (name: string): object => ({
  ...ownedBy(name),
  uid: `UID:${elsewhere}/configmaps/${name}`,
})

export const ownerScenarios: readonly Scenario[] = [
  {
    name: "custom resources in the foreground",
    steps: [
      ...isKnown,
      thing("owner"),
      thing("blocks", [ownedByThing("owner", blocks)], hold),
      thing("does-not", [ownedByThing("owner")]),
      config("leaf", [ownedByThing("blocks", blocks)]),
      settle,
      { delete: ["things", "owner"], policy: "Foreground" },
      settle,
      { patch: ["things", "blocks"], with: { metadata: { finalizers: null } } },
      { until: ["things", "owner"], has: null },
      settle,
    ],
  },
  {
    name: "custom resources that leave orphans",
    steps: [
      ...isKnown,
      thing("owner"),
      thing("other"),
      thing("both", [ownedByThing("owner", { controller: true }), ownedByThing("other")]),
      thing("one", [ownedByThing("owner")]),
      config("built-in", [ownedByThing("owner")]),
      settle,
      { delete: ["things", "owner"], policy: "Orphan" },
      { until: ["things", "owner"], has: null },
      settle,
    ],
  },
  {
    name: "custom resource with one owner left",
    steps: [
      ...isKnown,
      thing("one"),
      config("two"),
      thing("both", [ownedByThing("one"), ownedBy("two")]),
      config("too", [ownedByThing("one"), ownedBy("two")]),
      settle,
      { delete: ["things", "one"] },
      settle,
    ],
  },
  {
    name: "custom resources in a circle",
    steps: [
      ...isKnown,
      thing("a"),
      thing("b", [ownedByThing("a", blocks)]),
      { patch: ["things", "a"], with: { metadata: { ownerReferences: [ownedByThing("b", blocks)] } } },
      settle,
      { delete: ["things", "a"], policy: "Foreground" },
      settle,
    ],
  },
  {
    name: "custom resources of no namespace",
    steps: [
      ...isKnown,
      { create: { apiVersion: group, kind: "ClusterThing", metadata: { name: "NAMESPACE-owner" } } },
      thing("dependent", [
        { apiVersion: group, kind: "ClusterThing", name: "NAMESPACE-owner", uid: "UID:clusterthings/NAMESPACE-owner" },
      ]),
      {
        create: {
          apiVersion: group,
          kind: "ClusterThing",
          metadata: { name: "NAMESPACE-stray", ownerReferences: [ownedByThing("dependent")] },
        },
      },
      settle,
      { delete: ["clusterthings", "NAMESPACE-owner"] },
      { until: ["things", "dependent"], has: null },
      settle,
    ],
  },
  {
    name: "dependent that blocks no longer",
    steps: [
      config("owner"),
      held("dependent", [ownedBy("owner", blocks)]),
      settle,
      remove("owner", "Foreground"),
      settle,
      reference("dependent", [ownedBy("owner")]),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "dependent that is given away while its owner waits",
    steps: [
      config("owner"),
      config("other"),
      held("dependent", [ownedBy("owner", blocks)]),
      settle,
      remove("owner", "Foreground"),
      settle,
      reference("dependent", [ownedBy("other")]),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "dependent that did not block is given away while its owner waits",
    steps: [
      config("owner"),
      config("other"),
      held("blocks", [ownedBy("owner", blocks)]),
      held("does-not", [ownedBy("owner"), ownedBy("other")]),
      settle,
      remove("owner", "Foreground"),
      settle,
      config("late", [ownedBy("owner", blocks)]),
      settle,
      reference("late", [ownedBy("owner", blocks), ownedBy("other")]),
      settle,
      reference("late", [ownedBy("owner", blocks)]),
      settle,
    ],
  },
  {
    name: "dependent that is given to an owner that waits",
    steps: [
      config("owner"),
      config("other"),
      held("blocks", [ownedBy("owner", blocks)]),
      config("given", [ownedBy("other")]),
      settle,
      remove("owner", "Foreground"),
      settle,
      reference("given", [ownedBy("owner", blocks)]),
      settle,
      release("blocks"),
      settle,
    ],
  },
  {
    name: "owner of itself",
    steps: [
      config("background"),
      reference("background", [ownedBy("background", blocks)]),
      config("foreground"),
      reference("foreground", [ownedBy("foreground", blocks)]),
      config("orphan"),
      reference("orphan", [ownedBy("orphan")]),
      settle,
      remove("background", "Background"),
      remove("foreground", "Foreground"),
      remove("orphan", "Orphan"),
      settle,
    ],
  },
  {
    name: "dependents that say themselves how they are to go",
    steps: [
      config("owner"),
      ...["orphan", "foregroundDeletion"].flatMap((finalizer): Step[] => [
        {
          create: {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: {
              name: finalizer.toLowerCase(),
              ownerReferences: [ownedBy("owner")],
              finalizers: [finalizer],
            },
          },
        },
        held(`of-${finalizer.toLowerCase()}`, [ownedBy(finalizer.toLowerCase(), blocks)]),
      ]),
      settle,
      remove("owner", "Background"),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "owner whose finalizer somebody takes off",
    steps: [
      held("owner"),
      held("dependent", [ownedBy("owner", blocks)]),
      settle,
      remove("owner", "Foreground"),
      settle,
      { patch: ["configmaps", "owner"], with: { metadata: hold } },
      config("late", [ownedBy("owner", blocks)]),
      settle,
      release("dependent"),
      settle,
    ],
  },
  {
    name: "owner elsewhere that has dependents there",
    steps: [
      otherNamespace,
      configElsewhere("owner"),
      configElsewhere("right", [ownedElsewhere("owner")]),
      settle,
      config("wrong", [ownedElsewhere("owner")]),
      gone("wrong"),
      held("held", [ownedElsewhere("owner")]),
      settle,
      { delete: ["configmaps", "owner", elsewhere] },
      { until: ["configmaps", "right", elsewhere], has: null },
      config("late", [{ ...ownedBy("owner"), uid }]),
      settle,
    ],
  },
  {
    name: "owners that are named wrongly",
    steps: [
      config("owner"),
      config("of-another-name", [{ ...ownedBy("owner"), name: "another" }]),
      config("of-another-kind", [{ ...ownedBy("owner"), kind: "Secret" }]),
      config("of-another-version", [{ ...ownedBy("owner"), apiVersion: "v2" }]),
      config("of-another-group", [{ ...ownedBy("owner"), apiVersion: "apps/v1" }]),
      config("twice", [ownedBy("owner"), { ...ownedBy("owner"), name: "another" }]),
      config("right", [ownedBy("owner")]),
      settle,
      remove("owner", "Background"),
      gone("right"),
      settle,
    ],
  },
  {
    name: "owner that is named otherwise than before",
    steps: [
      config("owner"),
      config("renamed", [ownedBy("owner")]),
      config("of-another-kind", [ownedBy("owner")]),
      config("and-given-another", [ownedBy("owner")]),
      config("and-blocks-no-more", [ownedBy("owner", blocks)]),
      settle,
      reference("renamed", [ownedBy("owner", { name: "another" })]),
      reference("of-another-kind", [ownedBy("owner", { kind: "Secret" })]),
      reference("and-given-another", [ownedBy("owner", { name: "another" }), ownedBy("renamed")]),
      reference("and-blocks-no-more", [ownedBy("owner", { name: "another" })]),
      settle,
      { patch: ["configmaps", "renamed"], with: { metadata: { labels: { a: "b" } } } },
      reference("of-another-kind", [ownedBy("owner")]),
      settle,
    ],
  },
  {
    name: "owner that is named otherwise than before and goes",
    steps: [
      config("owner"),
      config("renamed", [ownedBy("owner")]),
      settle,
      reference("renamed", [ownedBy("owner", { name: "another" })]),
      settle,
      remove("owner", "Background"),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "owners of kinds that are not followed",
    steps: [
      config("of-binding", [{ apiVersion: "v1", kind: "Binding", name: "nobody", uid }]),
      config("of-review", [
        { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", name: "nobody", uid },
      ]),
      config("of-status", [{ apiVersion: "v1", kind: "ComponentStatus", name: "nobody", uid }]),
      settle,
    ],
  },
]
