// Who follows which resource over all tenants. Shared by all tenants' feeds, so that a tenant costs nothing per follower.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { builtInDefinitions } from "../registry/definitions.ts"
import { storagePrefixOf } from "../registry/keys.ts"
import { bornObject, type KubeValue } from "../registry/value.ts"
import type { KeyValue } from "../../storage/types.ts"

/** As client/tenants.ts has it, before anything is parsed. Called synchronously; must not throw. */
export interface TenantValueHandler {
  event(tenant: string, type: "ADDED" | "MODIFIED" | "DELETED", value: KubeValue): void
  synced(tenant: string): void
  removed(tenant: string): void
  restarted(tenant: string): void
  asleep?(tenant: string): void
}

export interface Subscription {
  /** Grows: a feed that knows all up to one knows all before it. */
  readonly sequence: number
  readonly resource: GroupVersionResource
  /** Where its objects lie. */
  readonly prefix: string
  readonly handler: TenantValueHandler
  readonly signal: AbortSignal
  /** An object without any of these in its text, now and before, may be left out. Undefined: all are wanted. */
  readonly mentioning: readonly Buffer[] | undefined
}

export class Subscriptions {
  readonly #all = new Set<Subscription>()
  readonly #byPrefix = new Map<string, Subscription[]>()
  #last = 0

  /** The sequence of the latest one. */
  get last(): number {
    return this.#last
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

  /** Those added after one, in order. */
  after(sequence: number): Subscription[] {
    return sequence === this.#last ? [] : [...this.#all].filter((subscription) => subscription.sequence > sequence)
  }
}

/** Whether an object with this text may be one that is wanted. */
export function mentions({ mentioning }: Subscription, stored: KeyValue): boolean {
  if (mentioning === undefined) return true
  const born = bornObject(stored)
  if (born !== undefined) return born.mentions(mentioning)
  const { value: text } = stored
  const buffer = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  return mentioning.some((words) => buffer.includes(words))
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
