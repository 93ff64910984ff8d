// Objects of an aggregated API as owners, dependents, things that quotas count, and content of a namespace.

import type { Scenario, Step } from "../scenario.ts"
import { begunToEnd, config, gone, held, hold, ownedBy, remove, scoped, uid } from "./deletion-steps.ts"
import { settle } from "./steps.ts"

const group = "wardle.example.com"
const flunder = (name: string, owners: object[] = [], more: object = {}): Step => ({
  create: {
    apiVersion: `${group}/v1beta1`,
    kind: "Flunder",
    metadata: { name, ownerReferences: owners, ...more },
  },
})
/** Of no namespace. */
const fischerName = "NAMESPACE-petri"
const fischer = (owners: object[] = []): Step => ({
  create: {
    apiVersion: `${group}/v1alpha1`,
    kind: "Fischer",
    metadata: { name: fischerName, ownerReferences: owners },
  },
})
const elsewhere = "NAMESPACE-elsewhere"
const ownedByFlunder = (name: string, more: object = {}): object => ({
  apiVersion: `${group}/v1beta1`,
  kind: "Flunder",
  name,
  uid: `UID:flunders/${name}`,
  ...more,
})
const ownedByFischer = (more: object = {}): object => ({
  apiVersion: `${group}/v1alpha1`,
  kind: "Fischer",
  name: fischerName,
  uid: `UID:fischers/${fischerName}`,
  ...more,
})
const blocks = { blockOwnerDeletion: true }
const removeFlunder = (name: string, policy: "Background" | "Foreground" | "Orphan" = "Background"): Step => ({
  delete: ["flunders", name],
  policy,
})
const flunderGone = (name: string): Step => ({ until: ["flunders", name], has: null })
const release = (name: string): Step => ({
  patch: ["flunders", name],
  with: { metadata: { finalizers: null } },
})
const count = "count/flunders.wardle.example.com"
const used = (number: string): Step => ({
  until: ["resourcequotas", "limit"],
  has: { status: { used: { [count]: number } } },
})

export const aggregatedApiScenarios: readonly Scenario[] = [
  {
    name: "flunder that owns others is deleted",
    steps: [
      flunder("owner"),
      config("config", [ownedByFlunder("owner")]),
      flunder("flunder", [ownedByFlunder("owner")]),
      config("below", [ownedBy("config")]),
      settle,
      removeFlunder("owner"),
      gone("below"),
      settle,
    ],
  },
  {
    name: "config map that owns a flunder is deleted",
    steps: [
      config("owner"),
      flunder("flunder", [ownedBy("owner")]),
      config("below", [ownedByFlunder("flunder")]),
      settle,
      remove("owner", "Background"),
      gone("below"),
      settle,
    ],
  },
  {
    name: "flunder is deleted in the foreground",
    steps: [
      flunder("owner"),
      held("blocks", [ownedByFlunder("owner", blocks)]),
      flunder("flunder", [ownedByFlunder("owner", blocks)]),
      config("does-not", [ownedByFlunder("owner")]),
      settle,
      removeFlunder("owner", "Foreground"),
      settle,
      { patch: ["configmaps", "blocks"], with: { metadata: { finalizers: null } } },
      flunderGone("owner"),
      settle,
    ],
  },
  {
    name: "config map is deleted in the foreground that a flunder blocks",
    steps: [
      config("owner"),
      flunder("blocks", [ownedBy("owner", blocks)], hold),
      settle,
      remove("owner", "Foreground"),
      settle,
      release("blocks"),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "flunder leaves orphans",
    steps: [
      flunder("owner"),
      config("config", [ownedByFlunder("owner")]),
      flunder("flunder", [ownedByFlunder("owner", { controller: true })]),
      settle,
      removeFlunder("owner", "Orphan"),
      flunderGone("owner"),
      settle,
    ],
  },
  {
    name: "config map leaves a flunder as an orphan",
    steps: [
      config("owner"),
      config("other"),
      flunder("flunder", [ownedBy("owner"), ownedBy("other")]),
      settle,
      remove("owner", "Orphan"),
      gone("owner"),
      settle,
    ],
  },
  {
    name: "flunder and its dependents have one owner left",
    steps: [
      flunder("one"),
      config("two"),
      flunder("both", [ownedByFlunder("one"), ownedBy("two")]),
      config("too", [ownedByFlunder("one"), ownedBy("two")]),
      settle,
      removeFlunder("one"),
      settle,
    ],
  },
  {
    name: "flunder is named in another version",
    steps: [
      flunder("owner"),
      config("config", [ownedByFlunder("owner", { apiVersion: `${group}/v1alpha1` })]),
      flunder("flunder", [ownedByFlunder("owner", { apiVersion: `${group}/v1alpha1` })]),
      config("nowhere", [ownedByFlunder("owner", { apiVersion: `${group}/v1` })]),
      settle,
      removeFlunder("owner"),
      gone("config"),
      settle,
    ],
  },
  {
    name: "fischer, which has no namespace, is deleted",
    steps: [
      fischer(),
      config("config", [ownedByFischer()]),
      flunder("flunder", [ownedByFischer()]),
      settle,
      { delete: ["fischers", fischerName] },
      gone("config"),
      settle,
    ],
  },
  {
    name: "flunder has an owner that was never there",
    steps: [
      flunder("nobody", [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid }]),
      config("too", [{ apiVersion: `${group}/v1beta1`, kind: "Flunder", name: "no-flunder", uid }]),
      flunderGone("nobody"),
      gone("too"),
      settle,
    ],
  },
  {
    name: "fischer, which has no namespace, is owned by a flunder",
    steps: [flunder("owner"), fischer([ownedByFlunder("owner")]), settle, removeFlunder("owner"), settle],
  },
  {
    name: "config map names a flunder of another namespace",
    steps: [
      { create: { apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere } } },
      flunder("owner", [], { namespace: elsewhere }),
      config("dependent", [ownedByFlunder("owner", { uid: `UID:${elsewhere}/flunders/owner` })]),
      gone("dependent"),
      settle,
    ],
  },
  {
    name: "flunders own each other in a circle",
    steps: [
      flunder("a"),
      flunder("b", [ownedByFlunder("a", blocks)]),
      { patch: ["flunders", "a"], with: { metadata: { ownerReferences: [ownedByFlunder("b", blocks)] } } },
      settle,
      removeFlunder("a", "Foreground"),
      settle,
    ],
  },
  {
    name: "quota counts flunders",
    steps: [
      flunder("a"),
      flunder("b"),
      flunder("c"),
      scoped("limit", { hard: { [count]: "5", "count/configmaps": "9" } }),
      used("3"),
      removeFlunder("a"),
      used("2"),
      // Nobody asks the quota: it is the server's business.
      flunder("d"),
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { [count]: "1" } } } },
      used("3"),
      settle,
    ],
  },
  // Meanwhile its conditions differ: upstream asks for protobuf, in which this server cannot list what it deletes.
  {
    name: "namespace with flunders is deleted",
    steps: [
      flunder("plain"),
      flunder("held", [], hold),
      config("config"),
      settle,
      { delete: ["namespaces", "NAMESPACE"] },
      begunToEnd,
      settle,
      release("held"),
      { until: ["namespaces", "NAMESPACE"], has: null, late: true },
      settle,
    ],
  },
]
