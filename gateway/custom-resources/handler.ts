// Keeps the served resources of a control plane up to date with the CustomResourceDefinitions in its store: all when it opens, then
// every change as it is committed, before the write is acknowledged.

import { setImmediate as nextTurn, setTimeout } from "node:timers/promises"
import type { CustomResourceDefinition } from "../../apimachinery/object.ts"
import { timestamp } from "../../apimachinery/object.ts"
import { parseJson } from "../../apimachinery/schema/exact-integers.ts"
import { isConflict, isNotFound } from "../../apimachinery/status.ts"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { hasCode, type KeyValue, type Store, type StoreEvent, type Watcher } from "../../storage/types.ts"
import { controlPlaneClosed } from "../control-plane/ending.ts"
import { inTurns } from "../../client/in-turns.ts"
import { storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import type { Edition } from "../registry/edition.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { semanticEqual } from "../registry/validation/equality.ts"
import { cleanUp, type DeleteObject } from "./cleanup.ts"
import type { CallConversionWebhook } from "./conversion/webhook.ts"
import { compileDefinition, compileStored, editionOf } from "./definitions.ts"
import { acceptNames, sameNames } from "./definition/names.ts"
import { awaitsCleanup, conditionOf, type Definition, definitionsResource, isTerminating } from "./types.ts"

interface CustomResourceParts {
  store: Store
  /** The control plane's resource table: replaces all custom definitions at once. */
  table: { setCustom(definitions: readonly ResourceDefinition[]): void }
  /** Updates definitions; created on first use. */
  client?: () => KubeClient
  /** Deletes an object of a deleted definition, without admission. */
  deleteObject?: (definition: ResourceDefinition, namespace: string, name: string) => Promise<void>
  /** For definitions with webhook conversion. */
  callConversionWebhook?: CallConversionWebhook
  /** Logs errors of background work. */
  log?: Log
}

const prefix = storagePrefixOf(definitionsResource.group, definitionsResource.resource)
/** Delay before a failed cleanup is retried. */
const retryMs = 1000
/** Watches have this time to deliver what was written before their definition changed, as upstream. */
const drainMs = 1000
const definitions: Resource = { ...definitionsResource, namespaced: false }

/** Resolves when the definitions in the store are served. */
export async function startCustomResources(parts: CustomResourceParts): Promise<AsyncDisposable> {
  const handler = new CustomResourceHandler(parts)
  await handler.load()
  handler.start()
  return handler
}

interface Known {
  definition: Definition
  edition: Edition
  served: readonly ResourceDefinition[]
}

class CustomResourceHandler implements AsyncDisposable {
  readonly #parts: CustomResourceParts
  #known = new Map<string, Known>()
  /** Of what has been published. */
  #editions: ReadonlyMap<string, Edition> = new Map()
  readonly #ending = new AbortController()
  /** Cleanups and name updates in progress, by their subject. */
  readonly #background = new Map<string, Promise<void>>()
  #revision = 0
  #watcher: Watcher | undefined
  #following: Promise<void> | undefined

  constructor(parts: CustomResourceParts) {
    this.#parts = parts
  }

  /** Reads all definitions again. */
  async load(): Promise<void> {
    const { items, revision } = await this.#parts.store.range(prefix)
    const known = new Map<string, Known>()
    await inTurns(items, (item) => known.set(item.key, this.#compile(item)))
    this.#known = known
    this.#revision = revision
    this.#publish()
  }

  start(): void {
    this.#following = this.#follow()
    for (const { definition } of this.#known.values()) this.#cleanUp(definition)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(controlPlaneClosed)
    this.#watcher?.close()
    await this.#following
    await Promise.allSettled(this.#background.values())
  }

  /** Runs until the store closes; after any other error, all definitions are read again. */
  async #follow(): Promise<void> {
    const { signal } = this.#ending
    let failures = 0
    for (let isLoaded = true; !signal.aborted;) {
      try {
        if (!isLoaded) await this.#loadAgain()
        isLoaded = true
        this.#watcher = this.#parts.store.watch(prefix, { after: this.#revision })
        for await (const events of this.#watcher) {
          failures = 0
          this.#change(events)
        }
        // Closed by this handler or with the store: there are no further changes.
        return
      } catch (error) {
        if (hasCode(error, "Closed")) return
        isLoaded = false
        if (hasCode(error, "Compacted", "SlowConsumer")) continue
        failures++
        this.#parts.log?.error({ err: error, failures }, "following CustomResourceDefinitions failed, trying again")
        await pause(systemClock, backoff(failures), signal)
      }
    }
  }

  /** Handles missed changes as if they had been observed. */
  async #loadAgain(): Promise<void> {
    const before = this.#known
    await this.load()
    for (const { definition } of before.values()) this.#offerNames(definition)
    for (const { definition } of this.#known.values()) this.#cleanUp(definition)
  }

  #change(events: readonly StoreEvent[]): void {
    const before: Definition[] = []
    for (const { type, current } of events) {
      this.#revision = current.modRevision
      const known = this.#known.get(current.key)
      if (known !== undefined) before.push(known.definition)
      if (type === "put") this.#known.set(current.key, this.#compile(current))
      else this.#known.delete(current.key)
    }
    this.#publish()
    for (const { current } of events) this.#cleanUp(this.#known.get(current.key)?.definition)
    for (const definition of before) this.#offerNames(definition)
  }

  #compile({ key, value, modRevision }: KeyValue): Known {
    const definition = parseJson(Buffer.from(value)) as unknown as Definition
    const current = definition as unknown as CustomResourceDefinition
    const read = editionOf(current)
    const before = this.#editions.get(key)
    const edition = before?.goesOnAs(read) === true ? before : read
    edition.definition = { key, modRevision, isTerminating: isTerminating(definition) }
    try {
      // No object is written under an earlier schema after this revision (object-storage.ts).
      const served = compileDefinition(current, this.#parts.callConversionWebhook, modRevision, edition)
      return { definition, edition, served }
    } catch (error) {
      // An invalid definition (of an older version of Polyplane, say) must not affect the others.
      this.#parts.log?.error(
        { err: error, definition: definition.metadata.name },
        "compiling a CustomResourceDefinition failed",
      )
      return { definition, edition, served: [] }
    }
  }

  /** Two definitions that were created at the same moment may have been granted the same name: the first by name keeps it. */
  #publish(): void {
    const resources = new Set<string>()
    const kinds = new Set<string>()
    const served: ResourceDefinition[] = []
    for (const [, known] of [...this.#known].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const definition of known.served) {
        const { group, version, resource, kind } = definition
        const [resourceKey, kindKey] = [`${group}/${version}/${resource}`, `${group}/${version}/${kind}`]
        if (resources.has(resourceKey) || kinds.has(kindKey)) continue
        resources.add(resourceKey)
        kinds.add(kindKey)
        served.push(definition)
      }
    }
    this.#parts.table.setCustom(served)
    this.#endEditions()
  }

  /** Clients whose watches end find what has been published. */
  #endEditions(): void {
    const before = this.#editions
    this.#editions = new Map([...this.#known].map(([key, { edition }]) => [key, edition]))
    const ended = [...before].filter(([key, edition]) => this.#editions.get(key) !== edition)
    if (ended.length === 0) return
    for (const [key, edition] of ended) edition.replace(this.#nextOf(key, edition))
    const end = (): void => ended.forEach(([, edition]) => edition.end())
    // Watches of a closed control plane compare editions when it opens again.
    setTimeout(drainMs, undefined, { signal: this.#ending.signal, ref: false }).then(end, () => undefined)
  }

  /** Another definition of the same name does not take over the objects of one that was deleted. */
  #nextOf(key: string, edition: Edition): Edition | undefined {
    const next = this.#editions.get(key)
    return next?.uid === edition.uid ? next : undefined
  }

  #cleanUp(definition: Definition | undefined): void {
    const { client, store, deleteObject: deletes, callConversionWebhook } = this.#parts
    if (client === undefined || deletes === undefined || definition === undefined || !awaitsCleanup(definition)) return
    this.#inBackground(`cleanup of ${definition.metadata.uid}`, async () => {
      const { signal } = this.#ending
      while (!signal.aborted) {
        try {
          const compiled = compileStored(definition as unknown as CustomResourceDefinition, callConversionWebhook)
          const deleteObject: DeleteObject = (namespace, name) => deletes(compiled, namespace, name)
          return await cleanUp(definition, { store, client: client(), deleteObject }, signal)
        } catch (error) {
          // Deletion is the goal, and a conflict is no failure. In both cases the state is checked again.
          if (isNotFound(error) || signal.aborted) return
          if (!isConflict(error))
            this.#parts.log?.error({ err: error }, `cleanup of ${definition.metadata.name} failed`)
          await setTimeout(retryMs, undefined, { signal }).catch(() => undefined)
        }
      }
    })
  }

  /** Names that a definition has no longer may be free for others. */
  #offerNames(before: Definition): void {
    const key = storageKey(prefix, "", before.metadata.name ?? "")
    const names = (definition: Definition | undefined) => definition?.status?.acceptedNames ?? {}
    if (sameNames(names(before), names(this.#known.get(key)?.definition))) return
    for (const [otherKey, { definition }] of this.#known) {
      if (otherKey === key || definition.spec?.group !== before.spec?.group) continue
      if (conditionOf(definition, "NamesAccepted")?.status !== "False") continue
      this.#inBackground(`names of ${definition.metadata.name}`, () => this.#acceptNames(definition))
    }
  }

  async #acceptNames(definition: Definition): Promise<void> {
    const client = this.#parts.client?.()
    if (client === undefined) return
    const others = [...this.#known.values()].map((known) => known.definition)
    const status = acceptNames(definition, others, timestamp())
    if (semanticEqual(status, definition.status)) return
    try {
      const current = await client.get<Definition>(definitions, undefined, definition.metadata.name ?? "")
      await client.update(definitions, { ...current, status }, { subresource: "status" })
    } catch (error) {
      // The definition was changed or deleted meanwhile, which triggers its own update of names.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  /** Runs at most one job per subject, starting when the control plane is assembled. */
  #inBackground(about: string, work: () => Promise<void>): void {
    if (this.#background.has(about) || this.#ending.signal.aborted) return
    const running = nextTurn()
      .then(work)
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#parts.log?.error({ err: error }, `${about} failed`)
      })
      .finally(() => this.#background.delete(about))
    this.#background.set(about, running)
  }
}
