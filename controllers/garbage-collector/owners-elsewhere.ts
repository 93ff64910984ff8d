// An owner in another namespace does not count, so its dependents are deleted. If such an owner exists, an event on the dependent
// reports it. Upstream finds it in its graph of all objects. Our graph contains only objects with owners, so all objects of the
// owner's kind are listed, once for all references waiting. Source: k8s.io/kubernetes/pkg/controller/garbagecollector/graph_builder.go.

import { printGroupVersion, type OwnerReference } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import { pagesOf } from "../../client/pages.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { Actor } from "../actor.ts"
import { isTenantGone } from "../tenant-gone.ts"
import type { Graph } from "./graph.ts"
import type { Node } from "./node.ts"

/** Limit per kind and tenant. References beyond it are not reported. */
const maxWaiting = 1_000

interface Searched {
  actor: Actor
  graph: Graph
  /** Of the kind that a reference names, if it is served. */
  resourceOf(reference: OwnerReference): DiscoveredResource | undefined
}

/** A reference whose owner is being searched for, and those that came with it and are examined if it is in order. */
interface Waiting {
  dependent: Node
  reference: OwnerReference
  rest: readonly OwnerReference[]
}

export class OwnersElsewhere {
  readonly #log: Log
  /** By tenant and kind, while a list is in progress. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Called when the node's owners have been looked up. Of the references that it got together, the first of these is reported. */
  examine(of: Searched, dependent: Node): void {
    this.#examine(of, dependent, dependent.unexamined)
    dependent.unexamined = []
  }

  #examine(of: Searched, dependent: Node, references: readonly OwnerReference[]): void {
    const { graph } = of
    for (const [index, reference] of references.entries()) {
      const resource = of.resourceOf(reference)
      const known = graph.known(reference, dependent.namespace)
      if (resource?.namespaced !== true || known === "found" || known === "gone") continue
      const namespace = graph.elsewhere(reference.uid)
      if (namespace === undefined) {
        this.#search(of, resource, { dependent, reference, rest: references.slice(index + 1) })
        return
      }
      if (this.#isReported(of, dependent, reference, namespace)) return
    }
  }

  #isReported(of: Searched, dependent: Node, reference: OwnerReference, namespace: string): boolean {
    if (namespace === "" || namespace === dependent.namespace) return false
    this.#report(of, dependent, reference)
    return true
  }

  /** Each owner is searched for once. */
  #search(of: Searched, resource: DiscoveredResource, one: Waiting): void {
    const place = `${of.actor.tenant} ${resource.group}/${resource.resource}`
    const waiting = this.#waiting.get(place)
    if (waiting !== undefined) {
      if (waiting.length < maxWaiting) waiting.push(one)
      return
    }
    this.#waiting.set(place, [one])
    this.#searchAll(of, resource, place)
      .catch((error: unknown) => {
        const { tenant } = of.actor
        if (!isTenantGone(error)) this.#log.warn({ tenant, err: error }, "search for owners in other namespaces failed")
      })
      .finally(() => this.#waiting.delete(place))
  }

  async #searchAll(of: Searched, resource: DiscoveredResource, place: string): Promise<void> {
    for (let all = this.#take(place); all.length > 0; all = this.#take(place)) {
      const byOwner = Map.groupBy(all, ({ reference }) => reference.uid)
      for await (const { items } of pagesOf(of.actor.client, resource, { metadataOnly: true })) {
        for (const { metadata } of items) this.#found(of, byOwner, metadata.uid ?? "", metadata.namespace ?? "")
        if (byOwner.size === 0) break
      }
      for (const uid of byOwner.keys()) this.#found(of, byOwner, uid, "")
    }
  }

  #take(place: string): readonly Waiting[] {
    return this.#waiting.get(place)?.splice(0) ?? []
  }

  /** Those that waited may have been deleted since. */
  #found(of: Searched, byOwner: Map<string, Waiting[]>, uid: string, namespace: string): void {
    const all = byOwner.get(uid)
    if (all === undefined) return
    byOwner.delete(uid)
    of.graph.learnElsewhere(uid, namespace)
    for (const { dependent, reference, rest } of all)
      if (!this.#isReported(of, dependent, reference, namespace)) this.#examine(of, dependent, rest)
  }

  #report({ actor }: Searched, dependent: Node, reference: OwnerReference): void {
    const { resource, namespace = "", name, uid } = dependent
    const object = {
      apiVersion: printGroupVersion(resource),
      kind: resource.kind,
      metadata: { name, uid, ...(namespace === "" ? {} : { namespace }) },
    }
    const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`
    const text = `ownerRef ${owner} does not exist in namespace "${namespace}"`
    actor.event(object, "Warning", "OwnerRefInvalidNamespace", text)
  }
}
