// Feeds the graphs from watches: one per built-in resource over all tenants, and one per custom resource, or resource of an aggregated
// API, and tenant. Reports when a tenant's graph is complete.

import { builtInResources } from "../../apimachinery/schema/facts.ts"
import {
  parseGroupVersion,
  type CustomResourceDefinition,
  type KubeObject,
  type OwnerReference,
} from "../../apimachinery/object.ts"
import { customResourceDefinitions } from "../../client/resources.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { TenantWatchHandler } from "../../client/tenants.ts"
import { findCondition } from "../conditions.ts"
import type { ControllerContext } from "../context.ts"
import type { AggregatedHandler } from "../aggregated/handler.ts"
import { CustomMonitor } from "./custom-monitor.ts"
import { foregroundFinalizer, orphanFinalizer, type Graph } from "./graph.ts"

/** Never collected: these resources are numerous and have no relevant owners. */
const ignored = new Set(["/events", "events.k8s.io/events"])

/** The text of every object that the graph contains has at least one of these. */
const mentioning = [`"ownerReferences"`, `"${foregroundFinalizer}"`, `"${orphanFinalizer}"`]

interface TenantState {
  /** Built-in resources whose objects have all been received. */
  synced: Set<string>
  /** By resource: while a watch restarts, the uids it has delivered since. */
  seen: Map<string, Set<string>>
  /** By "group/resource". */
  custom: Map<string, CustomMonitor>
}

interface MonitorSink {
  graph(tenant: string): Graph
  /** isComplete() has become true. */
  complete(tenant: string): void
  /** It sleeps, or is gone. */
  forgotten(tenant: string): void
}

export class Monitors {
  readonly #ctx: ControllerContext
  readonly #sink: MonitorSink
  readonly #resources: readonly DiscoveredResource[]
  readonly #tenants = new Map<string, TenantState>()
  /** Informers whose events feed the graphs. */
  readonly #informers = new Map<DiscoveredResource, TenantInformer<KubeObject>>()

  constructor(ctx: ControllerContext, sink: MonitorSink) {
    this.#ctx = ctx
    this.#sink = sink
    this.#resources = collectable()
  }

  start(): void {
    for (const resource of this.#resources) this.#watch(resource)
    this.#ctx.informers.of<CustomResourceDefinition>(customResourceDefinitions).subscribe({
      added: (tenant, definition) => this.#define(tenant, definition),
      updated: (tenant, definition) => this.#define(tenant, definition),
      deleted: (tenant, definition) => this.#undefine(tenant, definition),
      synced: (tenant) => this.#check(tenant),
    })
    this.#ctx.aggregated.subscribe(this.#aggregated())
    // What the previous process has not finished is found only if the tenant stays awake until its objects have been listed.
    this.#ctx.tenants.register({ isBusy: (tenant) => this.#isListing(tenant) })
  }

  /** It is awake, and some of its objects may have been received. */
  isFollowing(tenant: string): boolean {
    return this.#tenants.has(tenant)
  }

  /** All objects of the tenant have been received, except those that cannot be listed. */
  isComplete(tenant: string): boolean {
    const state = this.#tenants.get(tenant)
    if (state === undefined || state.synced.size < this.#resources.length) return false
    if (!this.#ctx.informers.of(customResourceDefinitions).isSynced(tenant)) return false
    return !this.#isListing(tenant) && this.#ctx.aggregated.isComplete(tenant)
  }

  /** The resource of the kind that a reference names, in any served version. */
  resourceOf(tenant: string, reference: OwnerReference): DiscoveredResource | undefined {
    const { apiVersion, kind } = reference
    const { group, version } = parseGroupVersion(apiVersion)
    const isNamed = (other: { group: string; kind: string }): boolean => other.group === group && other.kind === kind
    const builtIn = builtInResources().find((resource) => isNamed(resource) && resource.version === version)
    if (builtIn !== undefined) return this.#resources.find(isNamed) ?? builtIn
    const definitions = this.#ctx.informers.of<CustomResourceDefinition>(customResourceDefinitions).list(tenant)
    const definition = definitions.find(({ spec }) => {
      const isServed = spec?.versions.some((each) => each.served && each.name === version) ?? false
      return isServed && isNamed({ group: spec?.group ?? "", kind: spec?.names.kind ?? "" })
    })
    if (definition !== undefined) return customResource(definition)
    return this.#ctx.aggregated.resourceOf(tenant, reference)
  }

  /** Whether an informer holds this owner, and so will report its deletion to the graph. */
  isThere(tenant: string, { apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): boolean {
    const { group } = parseGroupVersion(apiVersion)
    const resource = this.#resources.find((candidate) => candidate.kind === kind && candidate.group === group)
    const informer = resource === undefined ? undefined : this.#informers.get(resource)
    return informer?.get(tenant, resource?.namespaced === true ? namespace : undefined, name)?.metadata.uid === uid
  }

  /** Custom resources, for the first time. */
  #isListing(tenant: string): boolean {
    return (
      this.#tenants
        .get(tenant)
        ?.custom.values()
        .some(({ isSettled }) => !isSettled) === true
    )
  }

  #state(tenant: string): TenantState {
    let state = this.#tenants.get(tenant)
    if (state === undefined) {
      this.#tenants.set(tenant, (state = { synced: new Set(), seen: new Map(), custom: new Map() }))
    }
    return state
  }

  /** Its first object may come before a kind of it is synced. */
  #follow(tenant: string): Graph {
    this.#state(tenant)
    return this.#sink.graph(tenant)
  }

  #watch(resource: DiscoveredResource): void {
    const id = `${resource.group}/${resource.resource}`
    const informer = this.#ctx.informers.existing(resource)
    if (informer === undefined) {
      this.#ctx.tenants.watch<KubeObject>(resource, this.#handler(resource, id), this.#ctx.signal, { mentioning })
      return
    }
    // There is an informer of this resource anyway: one watch serves both.
    this.#informers.set(resource, informer)
    informer.subscribe({
      added: (tenant, object) => this.#follow(tenant).observe(resource, object),
      updated: (tenant, object) => this.#follow(tenant).observe(resource, object),
      deleted: (tenant, object) => this.#follow(tenant).gone(object.metadata.uid ?? ""),
      synced: (tenant) => this.#synced(tenant, id),
      removed: (tenant) => this.#removed(tenant),
      asleep: (tenant) => this.#removed(tenant),
    })
  }

  #handler(resource: DiscoveredResource, id: string): TenantWatchHandler<KubeObject> {
    return {
      event: ({ tenant, type, object }) => {
        const uid = object.metadata.uid ?? ""
        const graph = this.#follow(tenant)
        if (type === "DELETED") graph.gone(uid)
        else {
          this.#tenants.get(tenant)?.seen.get(id)?.add(uid)
          graph.observe(resource, object)
        }
      },
      restarted: (tenant) => {
        this.#state(tenant).seen.set(id, new Set())
      },
      synced: (tenant) => {
        const { seen } = this.#state(tenant)
        const delivered = seen.get(id)
        seen.delete(id)
        if (delivered !== undefined) this.#sink.graph(tenant).doubt(resource.group, resource.kind, delivered)
        this.#synced(tenant, id)
      },
      removed: (tenant) => this.#removed(tenant),
      asleep: (tenant) => this.#removed(tenant),
    }
  }

  /**
   * Their servers are untrusted. That an object is gone is therefore no proof for its dependents, who ask, and none can stand for an
   * object of another API.
   */
  #aggregated(): AggregatedHandler {
    const observe = (tenant: string, resource: DiscoveredResource, object: KubeObject): void => {
      const graph = this.#sink.graph(tenant)
      if (isOf(resource, graph, object)) graph.observe(resource, object)
    }
    return {
      replaced: (tenant, resource, objects, uids) => {
        for (const object of objects) observe(tenant, resource, object)
        this.#sink.graph(tenant).doubt(resource.group, resource.kind, uids)
      },
      changed: (tenant, resource, type, object) => {
        const graph = this.#sink.graph(tenant)
        if (type !== "DELETED") observe(tenant, resource, object)
        else if (isOf(resource, graph, object)) graph.lost(object.metadata.uid ?? "")
      },
      forgotten: (tenant, { group, kind }) => this.#sink.graph(tenant).forget(group, kind),
      complete: (tenant) => this.#check(tenant),
    }
  }

  #synced(tenant: string, id: string): void {
    this.#state(tenant).synced.add(id)
    this.#check(tenant)
  }

  #check(tenant: string): void {
    if (this.isComplete(tenant)) this.#sink.complete(tenant)
  }

  #removed(tenant: string): void {
    const state = this.#tenants.get(tenant)
    if (state === undefined) return
    this.#tenants.delete(tenant)
    for (const custom of state.custom.values()) custom[Symbol.dispose]()
    this.#sink.forgotten(tenant)
  }

  #define(tenant: string, definition: CustomResourceDefinition): void {
    const resource = customResource(definition)
    const isEstablished = findCondition(definition.status?.conditions, "Established")?.status === "True"
    const { custom } = this.#state(tenant)
    const id = `${resource.group}/${resource.resource}`
    const present = custom.get(id)
    if (!isEstablished || present?.version === resource.version) return
    present?.[Symbol.dispose]()
    custom.delete(id)
    const graph = (): Graph => this.#sink.graph(tenant)
    const settled = (): void => this.#check(tenant)
    // As upstream, what waits for objects that can neither be released nor deleted waits until a version is served again.
    if (resource.version === "") settled()
    else custom.set(id, new CustomMonitor({ ctx: this.#ctx, tenant, resource, graph, settled }))
  }

  /** The definition is gone, and with it all of its objects. */
  #undefine(tenant: string, definition: CustomResourceDefinition): void {
    const resource = customResource(definition)
    const { custom } = this.#state(tenant)
    const id = `${resource.group}/${resource.resource}`
    custom.get(id)?.[Symbol.dispose]()
    custom.delete(id)
    this.#sink.graph(tenant).undefined(resource)
    this.#check(tenant)
  }
}

/** The graph does not know it as an object of another resource. */
function isOf({ group, resource }: DiscoveredResource, graph: Graph, { metadata }: KubeObject): boolean {
  const known = graph.node(metadata.uid ?? "")?.resource
  return known === undefined || (known.group === group && known.resource === resource)
}

function collectable(): DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>()
  for (const { group, version, resource, namespaced, kind, verbs } of builtInResources()) {
    const id = `${group}/${resource}`
    const isWatchable = ["list", "watch", "delete"].every((verb) => verbs.includes(verb))
    // The first version in discovery is the preferred one.
    if (isWatchable && !ignored.has(id) && !found.has(id)) {
      found.set(id, { group, version, resource, namespaced, kind, verbs })
    }
  }
  return [...found.values()]
}

/** In its stored version, or another one that is served; "": none is. */
function customResource({ spec }: CustomResourceDefinition): DiscoveredResource {
  const versions = spec?.versions ?? []
  const version = versions.find(({ served, storage }) => served && storage) ?? versions.find(({ served }) => served)
  return {
    group: spec?.group ?? "",
    version: version?.name ?? "",
    resource: spec?.names.plural ?? "",
    namespaced: spec?.scope === "Namespaced",
    kind: spec?.names.kind ?? "",
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  }
}
