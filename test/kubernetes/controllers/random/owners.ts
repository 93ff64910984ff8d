// Owners and dependents in any graph, deleted in any way, and whole namespaces of them.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { begunToEnd, hold, uid } from "../scenarios/deletion-steps.ts"
import { settle } from "../scenarios/steps.ts"
import { type Family, maybe, oneByOne, refusable, some } from "./family.ts"

const kinds = [
  { apiVersion: "v1", kind: "ConfigMap", resource: "configmaps" },
  { apiVersion: "v1", kind: "Secret", resource: "secrets" },
  { apiVersion: "v1", kind: "ServiceAccount", resource: "serviceaccounts" },
] as const
const policies = ["Background", "Background", "Foreground", "Foreground", "Orphan"] as const

interface Made {
  kind: (typeof kinds)[number]
  name: string
}

export const owners: Family = (random) => {
  const graph = new Graph(random)
  const steps: (() => Step)[] = [
    () => graph.create(),
    () => graph.create(),
    () => graph.delete(),
    () => graph.delete(),
    () => graph.delete(),
    () => graph.release(),
    () => graph.give(),
  ]
  // Those made together are looked at together.
  const begin = unlessGone(some(random, 3, 8, () => graph.create()))
  return {
    steps: [...begin, settle, ...oneByOne(some(random, 4, 10, () => pick(random, steps)()))].map(refusable),
  }
}

export const namespaces: Family = (random) => {
  // Who is still owned by whom depends on which kind is deleted first, and that is left to chance.
  const graph = new Graph(random, 1)
  const begin = unlessGone(some(random, 2, 6, () => graph.create()))
  const keeps: Step = { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "keeps", ...hold } } }
  const delete_: Step = { delete: ["namespaces", "NAMESPACE"] }
  const meanwhile = oneByOne(some(random, 0, 2, () => (chance(random, 0.5) ? graph.delete() : graph.create())))
  const held = maybe(random, 0.2, { finalizers: ["example.com/namespace"] })
  const own: Step = { patch: ["namespaces", "NAMESPACE"], with: { metadata: { ...held, labels: { a: "b" } } } }
  return {
    steps: [...begin.map(refusable), keeps, own, settle, delete_, begunToEnd, settle, ...meanwhile.map(refusable)],
  }
}

/** What has no owner that is there is deleted at once: whether it can still be named as an owner would be a matter of moments. */
const unlessGone = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => (JSON.stringify(step).includes(uid) ? [step, settle] : [step]))

class Graph {
  readonly #random: Random
  readonly #mostOwners: number
  readonly #made: Made[] = []

  constructor(random: Random, mostOwners = 2) {
    this.#random = random
    this.#mostOwners = mostOwners
  }

  create(): Step {
    const kind = pick(this.#random, kinds)
    const { apiVersion } = kind
    const metadata = { ownerReferences: this.#references(), ...maybe(this.#random, 0.25, hold) }
    const made = { kind, name: `o${this.#made.length}` }
    this.#made.push(made)
    return { create: { apiVersion, kind: kind.kind, metadata: { name: made.name, ...metadata } } }
  }

  delete(): Step {
    return { delete: this.#one(), policy: pick(this.#random, policies) }
  }

  /** What held it is taken off: maybe all that is to be done before it goes, too. */
  release(): Step {
    const finalizers = pick(this.#random, [null, null, ["example.com/other"]])
    return { patch: this.#one(), with: { metadata: { finalizers } } }
  }

  /** To other owners, maybe to its own dependents. */
  give(): Step {
    return { patch: this.#one(), with: { metadata: { ownerReferences: this.#references() } } }
  }

  #one(): [string, string] {
    const { kind, name } = pick(this.#random, this.#made)
    return [kind.resource, name]
  }

  #references(): object[] {
    const random = this.#random
    const chosen = this.#made.length === 0 ? [] : some(random, 0, this.#mostOwners, () => pick(random, this.#made))
    const references: object[] = [...new Set(chosen)].map(({ kind: { apiVersion, kind, resource }, name }) => ({
      apiVersion,
      kind,
      name,
      uid: `UID:${resource}/${name}`,
      ...maybe(random, 0.5, { blockOwnerDeletion: true }),
    }))
    if (references.length > 0 && chance(random, 0.2)) Object.assign(pick(random, references), { controller: true })
    if (references.length < this.#mostOwners && chance(random, 0.08)) references.push(pick(random, strangers))
    return references
  }
}

/** Nobody, a kind nobody knows, and what is in no namespace. */
const strangers = [
  { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid },
  { apiVersion: "example.com/v1", kind: "Nothing", name: "x", uid },
  { apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid: "UID:namespaces/NAMESPACE" },
]
