// Owners and dependents in two namespaces, in none and of custom kinds: references that reach where they may and where they may not,
// a namespace and a definition that go.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step, Where } from "../scenario.ts"
import { begunToEndIn, hold, uid } from "../scenarios/deletion-steps.ts"
import { settle } from "../scenarios/steps.ts"
import { type Family, maybe, oneByOne, refusable, some } from "./family.ts"

interface Kind {
  apiVersion: string
  kind: string
  resource: string
  isOfCluster?: true
  isNeverHeld?: true
}

const custom = "scenarios.example.com/v1"
const kinds: readonly Kind[] = [
  { apiVersion: "v1", kind: "ConfigMap", resource: "configmaps" },
  { apiVersion: "v1", kind: "Secret", resource: "secrets" },
  { apiVersion: custom, kind: "Thing", resource: "things" },
  { apiVersion: custom, kind: "ClusterThing", resource: "clusterthings", isOfCluster: true },
  { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", resource: "clusterroles", isOfCluster: true },
]
const other = "NAMESPACE-b"
const spaces = ["NAMESPACE", "NAMESPACE", other] as const
const policies = ["Background", "Background", "Foreground", "Foreground", "Orphan"] as const

interface Made {
  kind: Kind
  name: string
  space: string
}

export const ownersAcross: Family = (random) => {
  const graph = new Graph(random, kinds)
  const steps: (() => Step)[] = [
    () => graph.create(),
    () => graph.create(),
    () => graph.delete(),
    () => graph.delete(),
    () => graph.delete(),
    () => graph.hold(),
    () => graph.release(),
    () => graph.give(),
  ]
  const begin = oneByOne(some(random, 3, 9, () => graph.create()))
  const act = (): Step[] => oneByOne(some(random, 2, 6, () => pick(random, steps)()))
  const ends: Step[] = chance(random, 0.4) ? [{ delete: ["namespaces", other] }, begunToEndIn(other), settle] : []
  return { ...passing, steps: [space, keeps, ...begin, ...act(), ...ends, ...act()].map(refusable) }
}

export const definitionsThatGo: Family = (random) => {
  // Upstream waits a minute for what is held before it deletes the next.
  const gadget: Kind = {
    apiVersion: "NAMESPACE.example.com/v1",
    kind: "Gadget",
    resource: "gadgets",
    isNeverHeld: true,
  }
  const graph = new Graph(random, [gadget, gadget, ...kinds])
  const steps: (() => Step)[] = [
    () => graph.create(),
    () => graph.delete(),
    () => graph.delete(),
    () => graph.release(),
    () => graph.release(),
    () => graph.give(),
  ]
  const act = (): Step[] => oneByOne(some(random, 1, 5, () => pick(random, steps)()))
  const begin = oneByOne(some(random, 4, 9, () => graph.create()))
  const again: Step[] = chance(random, 0.4) ? [definition, settle] : []
  const all = [space, definition, ...known, ...begin, ...act(), ...goes, ...act(), ...again, ...act()]
  return { ...passing, steps: all.map(refusable) }
}

/** Upstream looks at what is held every eight seconds. */
const passing = { ignoreConditions: ["NamespaceContentRemaining", "NamespaceFinalizersRemaining"] }
const space: Step = { create: { apiVersion: "v1", kind: "Namespace", metadata: { name: other } } }
const keeps: Step = {
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "keeps", namespace: other, ...hold } },
}
const definitionName = "gadgets.NAMESPACE.example.com"
const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
const definition: Step = {
  create: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: definitionName },
    spec: {
      group: "NAMESPACE.example.com",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget", listKind: "GadgetList" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  },
}
/** Collectors look for kinds every 30 s; what is deleted in the foreground is gone when they know its kind. */
const known: readonly Step[] = [
  {
    until: ["customresourcedefinitions", definitionName],
    has: { status: { conditions: [{ type: "Established", status: "True" }] } },
  },
  settle,
  { create: { apiVersion: "NAMESPACE.example.com/v1", kind: "Gadget", metadata: { name: "canary" } } },
  { delete: ["gadgets", "canary"], policy: "Foreground" },
  { until: ["gadgets", "canary"], has: null },
]
const goes: readonly Step[] = [
  { delete: ["customresourcedefinitions", definitionName] },
  { until: ["customresourcedefinitions", definitionName], has: null },
  settle,
]

class Graph {
  readonly #random: Random
  readonly #kinds: readonly Kind[]
  readonly #made: Made[] = []

  constructor(random: Random, kinds: readonly Kind[]) {
    this.#random = random
    this.#kinds = kinds
  }

  create(): Step {
    const random = this.#random
    const kind = pick(random, this.#kinds)
    const made: Made = kind.isOfCluster
      ? { kind, name: `NAMESPACE-o${this.#made.length}`, space: "" }
      : { kind, name: `o${this.#made.length}`, space: pick(random, spaces) }
    const ownerReferences = this.#references()
    this.#made.push(made)
    const place = kind.isOfCluster ? {} : { namespace: made.space }
    const metadata = { name: made.name, ...place, ownerReferences, ...maybe(random, kind.isNeverHeld ? 0 : 0.25, hold) }
    return { create: { apiVersion: kind.apiVersion, kind: kind.kind, metadata } }
  }

  delete(): Step {
    return { delete: this.#one(), policy: pick(this.#random, policies) }
  }

  hold(): Step {
    return this.#finalized(hold.finalizers)
  }

  release(): Step {
    return this.#finalized(pick(this.#random, [null, null, ["example.com/other"]]))
  }

  give(): Step {
    return { patch: this.#one(), with: { metadata: { ownerReferences: this.#references() } } }
  }

  #finalized(finalizers: readonly string[] | null): Step {
    const held = this.#made.filter(({ kind }) => kind.isNeverHeld !== true)
    return held.length === 0 ? this.create() : { patch: this.#one(held), with: { metadata: { finalizers } } }
  }

  #one(of: readonly Made[] = this.#made): Where {
    const { kind, name, space } = pick(this.#random, of)
    return space === "" ? [kind.resource, name] : [kind.resource, name, space]
  }

  #references(): object[] {
    const random = this.#random
    const chosen = this.#made.length === 0 ? [] : some(random, 0, 2, () => pick(random, this.#made))
    const references: object[] = [...new Set(chosen)].map(({ kind: { apiVersion, kind, resource }, name, space }) => ({
      apiVersion,
      kind,
      name,
      uid: space === "" ? `UID:${resource}/${name}` : `UID:${space}/${resource}/${name}`,
      ...maybe(random, 0.5, { blockOwnerDeletion: true }),
    }))
    if (references.length < 2 && chance(random, 0.1)) references.push(pick(random, strangers))
    return references
  }
}

/** Nobody, a kind nobody knows, and the namespaces. */
const strangers = [
  { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid },
  { apiVersion: custom, kind: "ClusterThing", name: "nobody", uid },
  { apiVersion: "example.com/v1", kind: "Nothing", name: "x", uid },
  { apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid: "UID:namespaces/NAMESPACE" },
  { apiVersion: "v1", kind: "Namespace", name: other, uid: `UID:namespaces/${other}` },
]
