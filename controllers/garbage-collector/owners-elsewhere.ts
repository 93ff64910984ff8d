// An owner in another namespace does not count, so its dependents are deleted. If such an owner exists, an event on the dependent
// reports it. Upstream finds it in its graph of all objects. Our graph contains only objects with owners, so all objects of the
// owner's kind are listed, once for all references waiting. Source: k8s.io/kubernetes/pkg/controller/garbagecollector/graph_builder.go.

import { printGroupVersion, type KubeObject, type OwnerReference } from "../../apimachinery/object.ts"
import type { EventRecorder } from "../../client/events.ts"
import type { Log } from "../../client/log.ts"
import type { DiscoveredResource, KubeClient } from "../../client/rest.ts"
import { isTenantGone } from "../tenant-gone.ts"
import type { Graph, Node } from "./graph.ts"

/** Limit per kind and tenant. References beyond it are not reported. */
const maxWaiting = 1_000
const pageSize = 500

export interface Missed {
  dependent: Node
  reference: OwnerReference
}

interface Searched {
  tenant: string
  client: KubeClient
}

export class OwnersElsewhere {
  readonly #events: EventRecorder
  readonly #log: Log
  /** By tenant and kind, while a list is in progress. */
  readonly #waiting = new Map<string, Missed[]>()

  constructor(events: EventRecorder, log: Log) {
    this.#events = events
    this.#log = log
  }

  /** Called for an owner that is not in the dependent's namespace and was never seen there. Each owner is searched for once. */
  look(tenant: string, client: KubeClient, graph: Graph, resource: DiscoveredResource, missed: Missed): void {
    const namespace = graph.elsewhere(missed.reference.uid)
    if (namespace !== undefined) {
      if (namespace !== "") this.#report({ tenant, client }, missed)
      return
    }
    const place = `${tenant} ${resource.group}/${resource.resource}`
    const waiting = this.#waiting.get(place)
    if (waiting !== undefined) {
      if (waiting.length < maxWaiting) waiting.push(missed)
      return
    }
    this.#waiting.set(place, [missed])
    this.#search({ tenant, client }, graph, resource, place)
      .catch((error: unknown) => {
        if (!isTenantGone(error)) this.#log.warn({ tenant, err: error }, "search for owners in other namespaces failed")
      })
      .finally(() => this.#waiting.delete(place))
  }

  async #search(of: Searched, graph: Graph, resource: DiscoveredResource, place: string): Promise<void> {
    for (let all = this.#take(place); all.length > 0; all = this.#take(place)) {
      const byOwner = Map.groupBy(all, ({ reference }) => reference.uid)
      let token: string | undefined
      do {
        const page = await of.client.list(resource, {
          limit: pageSize,
          metadataOnly: true,
          ...(token === undefined ? {} : { continue: token }),
        })
        for (const owner of page.items) this.#match(of, graph, owner, byOwner)
        token = page.metadata.continue
      } while (token !== undefined && token !== "" && byOwner.size > 0)
      for (const uid of byOwner.keys()) graph.learnElsewhere(uid, "")
    }
  }

  #take(place: string): readonly Missed[] {
    return this.#waiting.get(place)?.splice(0) ?? []
  }

  #match(of: Searched, graph: Graph, { metadata }: KubeObject, byOwner: Map<string, Missed[]>): void {
    const { uid = "", namespace = "" } = metadata
    const all = byOwner.get(uid)
    if (all === undefined) return
    byOwner.delete(uid)
    graph.learnElsewhere(uid, namespace)
    for (const missed of all) if (missed.dependent.namespace !== namespace) this.#report(of, missed)
  }

  #report({ tenant, client }: Searched, { dependent, reference }: Missed): void {
    const { resource, namespace = "", name, uid } = dependent
    const object = {
      apiVersion: printGroupVersion(resource),
      kind: resource.kind,
      metadata: { name, uid, ...(namespace === "" ? {} : { namespace }) },
    }
    const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`
    const text = `ownerRef ${owner} does not exist in namespace "${namespace}"`
    this.#events.event(client, object, "Warning", "OwnerRefInvalidNamespace", text, tenant)
  }
}
