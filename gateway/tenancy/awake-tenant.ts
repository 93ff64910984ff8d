// What runs for a tenant while it is awake: its control plane, the preparation of that, and its feed for followers of all tenants.
// All of it ends together.

import type { FairPlaces } from "../../apimachinery/fair-places.ts"
import type { Log } from "../../client/log.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { controlPlaneClosed } from "../control-plane/ending.ts"
import { type Preparation, Preparing } from "../control-plane/prepare.ts"
import type { Presence } from "./presence.ts"
import type { Subscriptions } from "./subscriptions.ts"
import { TenantFeed } from "./tenant-feed.ts"

export interface AwakeTenantParts {
  name: string
  /** Not owned: whoever closes the tenant disposes it, after end(). */
  controlPlane: ControlPlane
  presence: Presence
  /** Creates what depends on the super cluster, once the tenant is used. */
  preparation: Preparation
  /** How long users of the tenant wait for its preparation, which then continues in the background. */
  readyMs: number
  subscriptions: Subscriptions
  /** Shared by all feeds. */
  opening: FairPlaces<string>
  log: Log
}

/** Memory per tenant of components that follow all tenants: entries in maps, and the tenant-specific parts of bootstrap objects. */
const followedBytes = 160 * 1024

export class AwakeTenant {
  readonly controlPlane: ControlPlane
  readonly preparing: Preparing
  readonly #parts: AwakeTenantParts
  readonly #ending = new AbortController()
  #feed: TenantFeed | undefined
  #feeding: Promise<void> = Promise.resolve()
  #measured: { at: number; bytes: number } | undefined

  constructor(parts: AwakeTenantParts) {
    this.#parts = parts
    const { controlPlane, preparation, readyMs, log } = parts
    this.controlPlane = controlPlane
    this.preparing = new Preparing({ controlPlane, preparation, readyMs, signal: this.#ending.signal, log })
  }

  /** Undefined until follow(). */
  get feed(): TenantFeed | undefined {
    return this.#feed
  }

  /** Starts the feed. `settled`: all followers know the tenant's state up to that revision. */
  follow(settled: number | undefined): void {
    const { name, controlPlane, subscriptions, opening, log } = this.#parts
    const { signal } = this.#ending
    this.#feed = new TenantFeed({ tenant: name, controlPlane, settled, subscriptions, signal, opening, log })
    this.#feeding = this.#feed
      .run()
      .catch((error: unknown) => log.error({ err: error, tenant: name }, "following a tenant stopped"))
  }

  /** Estimated. Measured again after each use. */
  get memoryBytes(): number {
    const { isInUse, lastUsed } = this.#parts.presence
    if (isInUse || this.#measured?.at !== lastUsed)
      this.#measured = { at: lastUsed, bytes: this.controlPlane.memoryBytes }
    return this.#measured.bytes + (this.#feed?.hasDelivered === true ? followedBytes : 0)
  }

  /**
   * The revision at which it may fall asleep. Undefined while it is needed: a request or its preparation is in progress, or followers
   * have not received all changes.
   */
  get restsAt(): number | undefined {
    return this.preparing.isUnderWay || this.#parts.presence.isInUse ? undefined : this.#feed?.settledAt
  }

  /** Ends everything that runs; end() waits for that. */
  stop(): void {
    this.#ending.abort(controlPlaneClosed)
  }

  async end(): Promise<void> {
    this.stop()
    await this.#feeding
    await this.preparing.end()
  }
}
