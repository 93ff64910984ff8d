// A KubeClient that calls a control plane's registries directly, without HTTP and JSON. Everything after the filters is as for a
// request: decoding, defaults, strategies, admission, dry run. The returned objects are frozen and shared.

import { setImmediate as nextTurn } from "node:timers/promises"
import { deepFreeze } from "../../apimachinery/freeze.ts"
import { type Json, type KubeObject, printGroupVersion } from "../../apimachinery/object.ts"
import { methodNotAllowed, notFound, unsupportedMediaType } from "../../apimachinery/status.ts"
import type {
  DeleteOptions,
  DiscoveredResource,
  KubeClient,
  KubeList,
  ListOptions,
  PatchOptions,
  ReadOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../../client/rest.ts"
import { inPreferredVersions, scaleIn } from "../../client/discovered-resources.ts"
import { discoveredResources } from "../aggregation/discovery.ts"
import { deleteSelected } from "../endpoints/verbs/delete-collection.ts"
import { applied, mayCreateByApply } from "../endpoints/verbs/apply.ts"
import { managedKindOf, patched } from "../endpoints/verbs/patch.ts"
import {
  admitOf,
  type Caller,
  contextOf,
  decoded,
  decodedBeside,
  deleteRequestOf,
  neverAborted,
  type Target,
  targetOf,
  writeOptionsOf,
} from "./local-request.ts"
import { PageTurns } from "./page-turns.ts"
import { withoutAdmission } from "../registry/generic/internal-write.ts"
import type { ResourceDefinition, WriteOptions as RegistryWriteOptions } from "../registry/rest.ts"
import { createSubresource } from "../registry/generic/subresource-create.ts"
import type { RequestContext } from "../request/context.ts"
import type { User } from "../request/user.ts"
import { requestInfo } from "../request/request-info.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

const polyplane: User = { name: "system:polyplane", groups: ["system:masters", "system:authenticated"], extra: {} }

/** Objects of a list that are parsed at once. A super cluster has many; requests are served between the pieces. */
const pieceSize = 200

type Change = (current: KubeObject | undefined) => KubeObject | Promise<KubeObject>

export function createLocalClient(controlPlane: ControlPlane): KubeClient {
  return new LocalClient({ controlPlane, user: polyplane })
}

/** Deletes an object of a definition that may not be served, without asking admission. */
export async function deleteUnasked(
  controlPlane: ControlPlane,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
): Promise<void> {
  const ctx = contextOf({ controlPlane, user: polyplane }, definition, "delete", { namespace, name })
  const registry = controlPlane.resources.registryOf(definition)
  await registry.delete(ctx, namespace, name, { dryRun: false }, withoutAdmission)
}

class LocalClient implements KubeClient {
  readonly #caller: Caller
  readonly #pages = new PageTurns()

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Of resources that are not served here: by aggregated APIs, or not at all. */
  get #elsewhere(): KubeClient {
    return this.#caller.controlPlane.aggregator.client(this.#caller.user)
  }

  get #controlPlane(): ControlPlane {
    return this.#caller.controlPlane
  }

  get #resources(): ControlPlane["resources"] {
    return this.#caller.controlPlane.resources
  }

  async discover(): Promise<readonly DiscoveredResource[]> {
    // The preferred version of a group comes first.
    const own = this.#resources
      .definitions()
      .map(({ group, version, resource, namespaced, kind, verbs, subresources }) => ({
        group,
        version,
        resource,
        namespaced,
        kind,
        verbs,
        ...scaleIn(subresources),
      }))
    const aggregated = discoveredResources(await this.#controlPlane.aggregator.versions())
    return inPreferredVersions([...own, ...aggregated])
  }

  async unavailable(): Promise<readonly string[]> {
    const all = await this.#controlPlane.aggregator.versions()
    return all.filter(({ isCurrent }) => !isCurrent).map(printGroupVersion)
  }

  async get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: ReadOptions = {},
  ): Promise<T> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.get<T>(resource, namespace, name, options)
    const { subresource } = options
    const { registry, handler } = targetOf(served, "get", subresource, name)
    const ctx = contextOf(this.#caller, resource, "get", { namespace, name, subresource })
    if (handler === undefined) return (await registry.get(ctx, namespace ?? "", name)).object() as T
    if (handler.get === undefined) throw methodNotAllowed()
    return deepFreeze(await handler.get(ctx, registry, namespace ?? "", name)) as T
  }

  /** Lists of resources served here are answered from the registries; all other paths are forwarded to aggregated APIs. */
  async raw(path: string): Promise<unknown> {
    const { pathname, searchParams } = new URL(path, "http://localhost")
    const { verb, namespace, subresource, ...resource } = requestInfo("GET", pathname, searchParams)
    const isList = verb === "list" && subresource === ""
    if (!isList || this.#resources.registry(resource) === undefined) {
      return this.#elsewhere.raw(path)
    }
    const labelSelector = searchParams.get("labelSelector")
    const options = { namespace, ...(labelSelector === null ? {} : { labelSelector }) }
    return this.list({ ...resource, namespaced: namespace !== "" }, options)
  }

  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.list<T>(resource, options)
    const { registry, definition } = targetOf(served, "list")
    const { signal = neverAborted, ...rest } = options
    const ctx = contextOf(this.#caller, resource, "list", { namespace: options.namespace, signal })
    const read = () => registry.list(ctx, { ...rest, uncounted: true })
    const isFirst = options.continue === undefined
    const { items, ...metadata } = await (isFirst ? read() : this.#pages.take(read, signal))
    const parse = async (): Promise<T[]> => {
      const objects: T[] = []
      for (const item of items) {
        objects.push(item.held() as T)
        if (objects.length % pieceSize === 0) await nextTurn()
      }
      return objects
    }
    const isOneOfMany = !isFirst || metadata.continue !== undefined
    const objects = await (isOneOfMany ? this.#pages.take(parse, signal) : parse())
    return { apiVersion: printGroupVersion(definition), kind: definition.listKind, metadata, items: objects }
  }

  async *watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const served = this.#resources.registry(resource)
    if (served === undefined) {
      yield* this.#elsewhere.watch<T>(resource, options)
      return
    }
    const { registry } = targetOf(served, "watch")
    const ctx = contextOf(this.#caller, resource, "watch", options)
    for await (const events of registry.watch(ctx, options)) {
      for (const { type, value } of events) {
        if (options.signal.aborted) return
        yield { type, object: value.held() as T }
      }
    }
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.create(resource, object, options)
    const { namespace = "", name = "" } = object.metadata
    const target = targetOf(served, "create", options.subresource, name)
    const { registry, definition, handler, expected } = target
    const ctx = contextOf(this.#caller, resource, "create", {
      namespace,
      name: options.subresource ? name : "",
      subresource: options.subresource,
    })
    const body = await decoded(ctx, object, expected, namespace)
    const admit = admitOf(ctx, definition, "CREATE", options)
    const write = writeOptionsOf(options)
    if (options.subresource) {
      const to = { registry, handler, subresource: options.subresource, kind: expected, namespace, name }
      return deepFreeze(await createSubresource(ctx, to, body, write, admit)) as T
    }
    if (definition.answer !== undefined) {
      return deepFreeze(await definition.answer(ctx, body, write, () => Promise.resolve())) as T
    }
    return (await registry.create(ctx, body, write, admit)).object() as T
  }

  async update<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.update(resource, object, options)
    const { namespace = "", name = "" } = object.metadata
    const target = targetOf(served, "update", options.subresource, name)
    const ctx = contextOf(this.#caller, resource, "update", { namespace, name, subresource: options.subresource })
    if (target.handler !== undefined) {
      const change = (): KubeObject | Promise<KubeObject> => decoded(ctx, object, target.expected, namespace)
      return (await this.#write(ctx, target, change, options)) as T
    }
    const change: Change = (current) => decodedBeside(ctx, object, current, target.expected, namespace)
    return (await this.#write(ctx, target, change, options, { readsCurrent: true })) as T
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.patch<T>(resource, namespace, name, patch, options)
    const target = targetOf(served, "patch", options.subresource, name)
    const ctx = contextOf(this.#caller, resource, "patch", { namespace, name, subresource: options.subresource })
    const { type } = options
    if (type === "apply") return (await this.#apply(ctx, target, patch as KubeObject, options)) as T
    if (type === "strategic" && target.definition.customResource !== undefined) {
      throw unsupportedMediaType(["application/json-patch+json", "application/merge-patch+json"])
    }
    const change: Change = (current) => {
      if (current === undefined) throw notFound(target.definition, name)
      const document = { value: patch as Json, duplicates: [], isMarked: false }
      return patched(ctx, current, document, type, target.expected, "Ignore", { namespace: namespace ?? "", name })
    }
    return (await this.#write(ctx, target, change, options, { isPatch: true })) as T
  }

  async delete(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.delete(resource, namespace, name, options)
    const { registry, definition } = targetOf(served, "delete")
    const ctx = contextOf(this.#caller, resource, "delete", { namespace, name })
    const admit = admitOf(ctx, definition, "DELETE", {})
    await registry.delete(ctx, namespace ?? "", name, deleteRequestOf(options), admit)
  }

  async deleteCollection(
    resource: Resource,
    namespace: string | undefined,
    selectors: { labelSelector?: string; fieldSelector?: string } = {},
    options: DeleteOptions = {},
  ): Promise<void> {
    const served = this.#resources.registry(resource)
    if (served === undefined) return this.#elsewhere.deleteCollection(resource, namespace, selectors, options)
    const { registry, definition } = targetOf(served, "deletecollection")
    const ctx = contextOf(this.#caller, resource, "deletecollection", { namespace })
    const chosen = { ...selectors, ...(namespace === undefined ? {} : { namespace }) }
    await deleteSelected(ctx, registry, definition, chosen, deleteRequestOf(options))
  }

  async #apply(ctx: RequestContext, target: Target, object: KubeObject, options: PatchOptions): Promise<KubeObject> {
    const { definition, expected } = target
    const { namespace, name } = ctx.info
    const { force = false } = options
    const of = managedKindOf(ctx, definition, expected)
    const { fieldManager: manager } = writeOptionsOf(options)
    const application = { definition, of, expected, at: { namespace, name }, fieldManager: manager, force }
    const change: Change = (current) => applied(ctx, application, { object, duplicates: [] }, current, "Ignore")
    return this.#write(ctx, target, change, options, {
      managersKnown: true,
      mayCreate: mayCreateByApply(ctx, definition),
      isPatch: true,
    })
  }

  async #write(
    ctx: RequestContext,
    target: Target,
    change: Change,
    options: WriteOptions,
    more: Partial<RegistryWriteOptions> = {},
  ): Promise<KubeObject> {
    const { registry, definition, handler } = target
    const { namespace, name } = ctx.info
    const admit = admitOf(ctx, definition, "UPDATE", options)
    const write = { ...writeOptionsOf(options), ...more }
    if (handler === undefined) {
      return (await registry.update(ctx, namespace, name, change, write, admit)).value.object()
    }
    if (handler.update === undefined) throw methodNotAllowed()
    return deepFreeze(await handler.update(ctx, registry, namespace, name, change, write, admit))
  }
}
