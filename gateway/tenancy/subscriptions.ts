// The subscriptions to resources over all tenants. They are shared by the feeds of all tenants, so a tenant has no cost per
// follower.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { builtInDefinitions } from "../registry/definitions.ts"
import { everything, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { bornObject } from "../registry/generic/storage/stored-value.ts"
import type { KubeValue } from "../registry/generic/storage/value.ts"
import type { KeyValue, StoreEvent } from "../../storage/types.ts"

/** As in client/tenants.ts, but with unparsed values. Called synchronously; must not throw. */
export interface TenantValueHandler {
  event(tenant: string, type: "ADDED" | "MODIFIED" | "DELETED", value: KubeValue): void
  synced(tenant: string): void
  removed(tenant: string): void
  restarted(tenant: string): void
  asleep?(tenant: string): void
}

export interface Subscription {
  /** Increasing: a feed that has handled a sequence has handled all smaller ones. */
  readonly sequence: number
  readonly resource: GroupVersionResource
  /** The storage prefix of its objects. */
  readonly prefix: string
  readonly handler: TenantValueHandler
  readonly signal: AbortSignal
  /** Objects whose text contains none of these, before and after the change, may be left out. Undefined: all are needed. */
  readonly mentioning: readonly Buffer[] | undefined
}

export class Subscriptions {
  readonly #all = new Set<Subscription>()
  readonly #byPrefix = new Map<string, Subscription[]>()
  #last = 0

  /** The sequence of the latest subscription. */
  get last(): number {
    return this.#last
  }

  /** Nobody follows all tenants now. */
  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  add(
    resource: GroupVersionResource,
    handler: TenantValueHandler,
    signal: AbortSignal,
    mentioning: readonly string[] | undefined,
  ): Subscription {
    const subscription: Subscription = {
      sequence: ++this.#last,
      resource,
      prefix: prefixOf(resource),
      handler,
      signal,
      mentioning: mentioning?.map((text) => Buffer.from(text)),
    }
    this.#all.add(subscription)
    const beside = this.#byPrefix.get(subscription.prefix)
    if (beside === undefined) this.#byPrefix.set(subscription.prefix, [subscription])
    else beside.push(subscription)
    return subscription
  }

  delete(subscription: Subscription): void {
    this.#all.delete(subscription)
    const left = this.at(subscription.prefix).filter((other) => other !== subscription)
    if (left.length === 0) this.#byPrefix.delete(subscription.prefix)
    else this.#byPrefix.set(subscription.prefix, left)
  }

  at(prefix: string): readonly Subscription[] {
    return this.#byPrefix.get(prefix) ?? []
  }

  /** The subscriptions after a sequence, in order. */
  after(sequence: number): Subscription[] {
    return sequence === this.#last ? [] : [...this.#all].filter((subscription) => subscription.sequence > sequence)
  }
}

/** From this number of subscriptions on, one scan of everything is cheaper than one each. */
const scanFrom = 8

/** What is scanned for them. */
export function prefixesOf(subscriptions: readonly Subscription[]): ReadonlySet<string> {
  if (subscriptions.length >= scanFrom) return new Set([everything])
  return new Set(subscriptions.map(({ prefix }) => prefix))
}

/** Whether an object with this text may be needed. */
export function mentions({ mentioning }: Subscription, stored: KeyValue): boolean {
  if (mentioning === undefined) return true
  const born = bornObject(stored)
  if (born !== undefined) return born.mentions(mentioning)
  const { value: text } = stored
  const buffer = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  return mentioning.some((words) => buffer.includes(words))
}

/** Whether the change of an object may be needed: because of its text, or of the text before. */
export function concerns(subscription: Subscription, { type, current, previous }: StoreEvent): boolean {
  if (type === "delete" || mentions(subscription, current)) return true
  return previous !== undefined && mentions(subscription, previous)
}

let builtIn: ReadonlyMap<string, string> | undefined

function prefixOf({ group, version, resource }: GroupVersionResource): string {
  builtIn ??= new Map(
    builtInDefinitions().map((definition) => [
      `${definition.group}/${definition.version}/${definition.resource}`,
      definition.storagePrefix,
    ]),
  )
  return builtIn.get(`${group}/${version}/${resource}`) ?? storagePrefixOf(group, resource)
}
