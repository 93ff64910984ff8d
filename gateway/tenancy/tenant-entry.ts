// A tenant of the gateway: its record, and while it is awake what runs for it (awake-tenant.ts). It owns that: everything ends when the
// tenant falls asleep or is closed, and closing waits for it.
//
//   asleep ──controlPlane(), follow()──▶ awake: control plane, feed ──sleep()──▶ asleep
//
// If a tenant was only woken to be read, its feed stays dormant: its followers know its state already. Not if they have something to do
// whenever it is awake.

import type { Credentials } from "../authentication/types.ts"
import { type Admittance, admits } from "./admittance.ts"
import { AwakeTenant, type AwakeTenantParts } from "./awake-tenant.ts"
import type { ControlPlane, ControlPlaneLife } from "../control-plane/control-plane.ts"
import type { Due } from "../control-plane/event-expiry.ts"
import { pauseOwnParts } from "../local-client/local-request.ts"
import { Waiters } from "../request/waiters.ts"
import { Presence } from "./presence.ts"
import type { Found } from "./tenant-resolver.ts"
import { noSuchTenant } from "./tenant-errors.ts"
import type { TenantRecord } from "./tenant-record.ts"

/** Shared by all tenants of a process. */
export interface TenantEntryParts extends Omit<AwakeTenantParts, "name" | "controlPlane" | "presence"> {
  open: (record: TenantRecord, life: ControlPlaneLife) => Promise<ControlPlane>
  /** The admittance data for the time it sleeps; undefined if there can be none. */
  admittance: (controlPlane: ControlPlane) => Promise<Admittance | undefined>
  /** Called each time the tenant has woken. */
  woke: (entry: TenantEntry) => void
  /** Its objects are needed whenever it is awake. */
  isExpected: (entry: TenantEntry) => boolean
  /** Called when it has fallen asleep and is closed: all followers know its state up to that revision. */
  slept?: (entry: TenantEntry, revision: number) => void
}

/** When all followers last received its state. */
interface Introduction {
  /** performance.now() */
  at: number
  tookMs: number
  /** The sequence of the latest of them. */
  followers: number
  /** Some of them had not received it before. */
  isToNew: boolean
}

export class TenantEntry {
  readonly record: TenantRecord
  readonly presence: Presence
  readonly events: Due = { at: 0 }
  readonly #parts: TenantEntryParts
  /** The tenant was deleted, or the gateway is stopping. */
  #ended = false
  #opening: Promise<AwakeTenant> | undefined
  #awake: AwakeTenant | undefined
  #closing: Promise<void> | undefined
  #isClosing = false
  /** When it fell asleep: the revision up to which all followers knew its state, and the sequence of the latest follower. */
  #settled: { revision: number; followers: number } | undefined
  /** The next opening must deliver its objects to followers, even if they are up to date. */
  #wanted = false
  /** It was created by this process and has not been used yet: followers of all tenants do not know it. */
  #isUnused = false
  /** Followers of all tenants may be notified. */
  #announced = false
  /** Set while it sleeps. Undefined: every caller wakes it. */
  #admittance: Admittance | undefined
  /** Of the last opening. */
  #failure: unknown
  #introduced: Introduction | undefined
  /** The watches of the sleeping tenant wait for its next control plane; undefined if it never wakes again. */
  readonly #wakeWaiters = new Waiters<ControlPlane>()

  /** Followers are not notified before announce(). */
  constructor(record: TenantRecord, parts: TenantEntryParts) {
    this.record = record
    this.presence = new Presence(record.tenant.name)
    this.#parts = parts
  }

  get isAwake(): boolean {
    return this.#awake !== undefined
  }

  /** Watches wait for it to wake. */
  get isWaitedFor(): boolean {
    return this.#wakeWaiters.size > 0
  }

  /** It is awake, being woken, or not yet closed. */
  get isOpen(): boolean {
    return this.#opening !== undefined || this.#isClosing
  }

  /** Why it cannot be opened, or, while it is open, written to. */
  get failure(): unknown {
    return this.#awake === undefined ? this.#failure : this.#awake.controlPlane.store.damage
  }

  /** Estimated memory; 0 while it sleeps. */
  get memoryBytes(): number {
    return this.#awake?.memoryBytes ?? 0
  }

  /** Called before a piece of work of the gateway's own parts. While it sleeps nothing can be done for it. */
  pause(): Promise<void> | undefined {
    return this.#awake && pauseOwnParts(this.#awake.controlPlane)
  }

  /** Opens the control plane if it is closed. */
  async controlPlane(isUse = true): Promise<ControlPlane> {
    const { controlPlane } = await this.#open()
    if (isUse) this.presence.touch()
    return controlPlane
  }

  /** Finds the control plane for a caller with these credentials. Undefined: the tenant would reject them, so it is not woken. */
  forCaller(credentials: Credentials): Found {
    if (this.#awake === undefined || this.#ended) return this.#wakeFor(credentials)
    this.presence.touch()
    return this.#awake.controlPlane
  }

  async #wakeFor(credentials: Credentials): Promise<ControlPlane | undefined> {
    if (this.#opening === undefined) await this.#closing?.catch(() => undefined) // reported to the caller who opens it
    const known = this.#opening === undefined ? this.#admittance : undefined
    return known === undefined || (await admits(known, credentials)) ? this.controlPlane() : undefined
  }

  /** From now on followers of all tenants may be notified. */
  announce(): void {
    this.#announced = true
    if (this.#awake !== undefined) this.#feed(this.#awake)
  }

  /**
   * Delivers its objects to followers of all tenants. Resolves when that is done, or when the tenant could not be woken, which is
   * logged.
   */
  async introduce(isUse = true): Promise<void> {
    this.#wanted = true
    const feed = this.#awake?.feed
    if (feed !== undefined) return feed.wake()
    const began = performance.now()
    try {
      const awake = await this.#open()
      await awake.feed?.listed
      const introducedAt = performance.now()
      const followers = this.#parts.subscriptions.last
      const isToNew = this.#introduced?.followers !== followers
      this.#introduced = { at: introducedAt, tookMs: introducedAt - began, followers, isToNew }
      // Followers may now have work for it, perhaps after a while.
      if (isUse) this.presence.touch()
    } catch (error) {
      const { tenant } = this.record
      if (!this.#ended) this.#parts.log.error({ err: error, tenant: tenant.name }, "a tenant could not be woken")
    }
  }

  /** Delivers all its objects to followers of all tenants once more. */
  deliverAgain(): void {
    const feed = this.#awake?.feed
    if (feed === undefined) void this.introduce(false)
    else feed.startAgain()
  }

  get introduced(): Introduction | undefined {
    return this.#introduced
  }

  /** Whether all followers know its state, so that it need not be woken for them. */
  get isSettled(): boolean {
    return this.#settled?.followers === this.#parts.subscriptions.last && !this.#wanted
  }

  /** Opens a new, unannounced tenant: followers need not be notified of bootstrap objects. */
  async born(): Promise<void> {
    const { controlPlane } = await this.#open()
    this.#settled = { revision: controlPlane.store.revision, followers: this.#parts.subscriptions.last }
    this.#isUnused = true
  }

  /**
   * Resolves when it is prepared or the time limit has passed; preparation then continues in the background. Undefined: it is
   * prepared.
   */
  #begin(): Promise<void> | undefined {
    const awake = this.#awake
    if (awake === undefined || awake.preparing.isDone) return undefined
    if (this.#isUnused) void this.introduce()
    this.#isUnused = false
    return awake.preparing.inTime()
  }

  #open(): Promise<AwakeTenant> {
    if (this.#ended) return Promise.reject(noSuchTenant(this.record.tenant.name))
    this.#opening ??= this.#wakeUp().catch((error: unknown) => {
      this.#opening = undefined
      this.#failure = error
      throw error
    })
    return this.#opening
  }

  async #wakeUp(): Promise<AwakeTenant> {
    await this.#closing?.finally(() => (this.#closing = undefined))
    this.#admittance = undefined
    const { open, preparation } = this.#parts
    const controlPlane = await open(this.record, {
      presence: this.presence,
      events: this.events,
      reopened: (signal) => this.#reopened(signal),
      begin: () => this.#begin(),
      introduce: () => {
        if (this.#awake === undefined || this.#awake.feed?.isDormant === true) void this.introduce()
      },
    })
    const isBegun = await closedOnFailure(controlPlane, () => preparation.isBegun(controlPlane))
    this.#failure = undefined
    // Synchronous from here on, so that whoever closes it also ends what is started here.
    const { name } = this.record.tenant
    const awake = new AwakeTenant({ ...this.#parts, name, controlPlane, presence: this.presence })
    if (this.#ended) awake.stop()
    if (isBegun) awake.preparing.begin()
    this.#awake = awake
    this.#parts.woke(this)
    if (this.#announced) this.#feed(awake)
    this.#wakeWaiters.wake(controlPlane)
    return awake
  }

  #feed(awake: AwakeTenant): void {
    const settled = this.isSettled && !this.#parts.isExpected(this) ? this.#settled?.revision : undefined
    this.#wanted = false
    awake.follow(settled)
  }

  /** For a watch whose store was closed because the tenant fell asleep. */
  #reopened(signal: AbortSignal): Promise<ControlPlane | undefined> {
    if (this.#awake !== undefined) return Promise.resolve(this.#awake.controlPlane)
    return this.#ended ? Promise.resolve(undefined) : this.#wakeWaiters.next(signal)
  }

  /** Returns false if it is still needed. Followers are notified before anything is closed. */
  sleep(): boolean {
    const awake = this.#awake
    const revision = awake?.restsAt
    if (awake === undefined || revision === undefined) return false
    this.#settled = { revision, followers: this.#parts.subscriptions.last }
    this.#wanted = false
    awake.stop()
    awake.feed?.notifyAsleep()
    this.#close(awake, revision)
    return true
  }

  #close(awake: AwakeTenant, settled?: number): void {
    this.#awake = this.#opening = undefined
    this.#isClosing = true
    this.#closing = this.#end(awake, settled).finally(() => (this.#isClosing = false))
    // The next caller who opens it gets the error, too, and the one after that opens it.
    this.#closing.catch((error: unknown) =>
      this.#parts.log.error({ err: error, tenant: this.record.tenant.name }, "closing a tenant failed"),
    )
  }

  async #end(awake: AwakeTenant, settled?: number): Promise<void> {
    await awake.end()
    if (settled !== undefined) await this.#sleepOn(awake, settled)
    else await awake.controlPlane[Symbol.asyncDispose]()
  }

  async #sleepOn({ controlPlane }: AwakeTenant, settled: number): Promise<void> {
    const { admittance, slept, log } = this.#parts
    const known = await admittance(controlPlane).catch((error: unknown) => {
      log.warn({ err: error, tenant: this.record.tenant.name }, "a tenant falls asleep without being looked at")
      return undefined
    })
    const { store } = controlPlane
    await controlPlane[Symbol.asyncDispose]()
    // Valid only if nothing was written after all followers were up to date.
    this.#admittance = store.revision === settled ? known : undefined
    slept?.(this, settled)
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#awake?.stop()
    this.#wakeWaiters.wake(undefined)
    const awake = await this.#opening?.catch(() => undefined) // reported to the caller who requested it
    if (awake !== undefined && this.#awake === awake) this.#close(awake)
    await this.#closing
  }
}

/** The result of `work`, without which nobody would close it. */
async function closedOnFailure<T>(controlPlane: ControlPlane, work: () => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack()
  stack.use(controlPlane)
  const result = await work()
  stack.move()
  return result
}
