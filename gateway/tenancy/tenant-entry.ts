// One tenant the gateway has: its record, and while it is awake its control plane and the feed of those who follow it. The
// owner of both: what runs for the tenant ends when it falls asleep or is closed, and closing waits for it.
//
//   asleep ──controlPlane(), follow()──▶ awake: control plane, feed ──sleep()──▶ asleep
//
// The feed of a tenant that was only woken to be read stays dormant: those who follow it know all that is there.

import type { Log } from "../../client/log.ts"
import { notFound } from "../../apimachinery/status.ts"
import type { Credentials } from "../authentication/types.ts"
import { controlPlaneClosed } from "../ending.ts"
import { type Admittance, admits } from "./admittance.ts"
import type { ControlPlane } from "./control-plane.ts"
import { type Preparation, Preparing } from "./prepare.ts"
import { Presence } from "./presence.ts"
import type { Found } from "./tenant-resolver.ts"
import type { Semaphore } from "./semaphore.ts"
import { Sleepers } from "./sleepers.ts"
import type { Subscriptions } from "./subscriptions.ts"
import { TenantFeed } from "./tenant-feed.ts"
import type { TenantRecord } from "./tenant-record.ts"

/** The same for all tenants of a process. */
export interface TenantEntryParts {
  open: (record: TenantRecord, life: ControlPlaneLife) => Promise<ControlPlane>
  /** Makes what needs the super cluster's answer, once the tenant is used. */
  preparation: Preparation
  /** How long who uses it waits for that: what is not there then is made in the background. */
  readyMs: number
  /** What is to be known of it while it sleeps; undefined: nothing can be. */
  admittance: (controlPlane: ControlPlane) => Promise<Admittance | undefined>
  /** Told each time it has woken. */
  woke: (entry: TenantEntry) => void
  /** Told when it has fallen asleep and all is closed: up to that revision everybody knew everything. */
  slept?: (entry: TenantEntry, revision: number) => void
  subscriptions: Subscriptions
  /** Shared by all feeds. */
  opening: Semaphore
  log: Log
}

/** What a control plane is told of the tenant whose it is for a while. */
export interface ControlPlaneLife {
  presence: Presence
  /** The control plane of the tenant after this one, once somebody has woken it; undefined when the signal ends first. */
  reopened(signal: AbortSignal): Promise<ControlPlane | undefined>
  /** Somebody uses the tenant beyond reading what it was born with. Undefined: it is prepared for that. */
  begin(): Promise<void> | undefined
}

interface Awake {
  controlPlane: ControlPlane
  feed: TenantFeed | undefined
  feeding: Promise<void>
  /** Ends when it falls asleep or is closed. */
  ending: AbortController
  preparing: Preparing
}

/** What the process holds for a tenant with those who follow all: places in maps, what is its own of what every tenant is born with. */
const followedBytes = 160 * 1024

export class TenantEntry {
  readonly record: TenantRecord
  readonly presence = new Presence()
  readonly #parts: TenantEntryParts
  /** The tenant is deleted, or the gateway stops. */
  #ended = false
  #opening: Promise<Awake> | undefined
  #awake: Awake | undefined
  #closing: Promise<void> | undefined
  /** The revision up to which all who follow knew everything, and the latest of them, when it fell asleep. */
  #settled: { revision: number; followers: number } | undefined
  /** Followed from the next opening on, whatever is settled. */
  #wanted = false
  /** It has been made by this process, and nobody has used it yet: those who follow all tenants know nothing of it. */
  #isUnused = false
  #announced: boolean
  /** While it sleeps. Undefined: every caller wakes it. */
  #admittance: Admittance | undefined
  #measured: { of: Awake; at: number; bytes: number } | undefined
  /** performance.now() */
  #introduced: { at: number; tookMs: number } | undefined
  readonly #sleepers = new Sleepers()

  /** `announced` false: nobody is told of it before announce(). */
  constructor(record: TenantRecord, announced: boolean, parts: TenantEntryParts) {
    this.record = record
    this.#announced = announced
    this.#parts = parts
  }

  get isAwake(): boolean {
    return this.#awake !== undefined
  }

  /** Watches wait for it to wake. */
  get isWaitedFor(): boolean {
    return this.#sleepers.size > 0
  }

  /** It is awake, about to be, or not closed yet. */
  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Of memory; 0 while it sleeps. Measured anew when it has been used since. */
  get memoryBytes(): number {
    if (this.#awake === undefined) return 0
    const { isInUse, lastUsed } = this.presence
    if (isInUse || this.#measured?.at !== lastUsed || this.#measured.of !== this.#awake)
      this.#measured = { of: this.#awake, at: lastUsed, bytes: this.#awake.controlPlane.memoryBytes }
    return this.#measured.bytes + (this.#awake.feed?.hasTold === true ? followedBytes : 0)
  }

  /** Opens it when it is not. */
  async controlPlane(isUse = true): Promise<ControlPlane> {
    const { controlPlane } = await this.#open()
    if (isUse) this.presence.touch()
    return controlPlane
  }

  /** For who calls with these credentials. Undefined: nobody the tenant would do anything for, so it sleeps on. */
  forCaller(credentials: Credentials): Found {
    if (this.#awake === undefined || this.#ended) return this.#wokenFor(credentials)
    this.presence.touch()
    return this.#awake.controlPlane
  }

  async #wokenFor(credentials: Credentials): Promise<ControlPlane | undefined> {
    if (this.#opening === undefined) await this.#closing?.catch(() => undefined) // told to whoever opens it
    const known = this.#opening === undefined ? this.#admittance : undefined
    return known === undefined || (await admits(known, credentials)) ? this.controlPlane() : undefined
  }

  /** From now on those who follow all tenants may be told of it. */
  announce(): void {
    this.#announced = true
    if (this.#awake !== undefined) this.#feed(this.#awake)
  }

  /**
   * Those who follow all tenants need its objects. Resolves when they have been told, or it could not be woken: that is
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
      this.#introduced = { at: introducedAt, tookMs: introducedAt - began }
      // They have something to do now, perhaps after a while.
      if (isUse) this.presence.touch()
    } catch (error) {
      const { tenant } = this.record
      if (!this.#ended) this.#parts.log.error({ err: error, tenant: tenant.name }, "a tenant could not be woken")
    }
  }

  /** When everybody was told last what there is, and how long that took. */
  get introduced(): { at: number; tookMs: number } | undefined {
    return this.#introduced
  }

  /** Whether everybody who follows knows all there is: then it need not be woken for them. */
  get isSettled(): boolean {
    return this.#settled?.followers === this.#parts.subscriptions.last && !this.#wanted
  }

  /** It has just been made and is not announced: nobody need be told of what every control plane is born with. */
  async born(): Promise<void> {
    const { controlPlane } = await this.#open()
    this.#settled = { revision: controlPlane.store.revision, followers: this.#parts.subscriptions.last }
    this.#isUnused = true
  }

  /** Resolves when it is prepared, or has taken too long: then that goes on in the background. Undefined: it is. */
  #begin(): Promise<void> | undefined {
    const awake = this.#awake
    if (awake === undefined || awake.preparing.isDone) return undefined
    if (this.#isUnused) void this.introduce()
    this.#isUnused = false
    return awake.preparing.inTime()
  }

  #open(): Promise<Awake> {
    if (this.#ended) return Promise.reject(notFound({ group: "", resource: "tenants" }, this.record.tenant.name))
    this.#opening ??= this.#wakeUp().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #wakeUp(): Promise<Awake> {
    await this.#closing
    this.#admittance = undefined
    const { open, preparation, readyMs, log } = this.#parts
    const controlPlane = await open(this.record, {
      presence: this.presence,
      reopened: (signal) => this.#reopened(signal),
      begin: () => this.#begin(),
    })
    const isBegun = await preparation.isBegun(controlPlane)
    // From here on without a pause: who closes it ends what is begun.
    const ending = new AbortController()
    if (this.#ended) ending.abort(controlPlaneClosed)
    const preparing = new Preparing({ controlPlane, preparation, readyMs, signal: ending.signal, log })
    const awake: Awake = { controlPlane, feed: undefined, feeding: Promise.resolve(), ending, preparing }
    if (isBegun) preparing.begin()
    this.#awake = awake
    this.#parts.woke(this)
    if (this.#announced) this.#feed(awake)
    this.#sleepers.wake(controlPlane)
    return awake
  }

  #feed(awake: Awake): void {
    const { subscriptions, opening, log } = this.#parts
    const { name } = this.record.tenant
    const settled = this.isSettled ? this.#settled?.revision : undefined
    this.#wanted = false
    awake.feed = new TenantFeed({
      tenant: name,
      controlPlane: awake.controlPlane,
      settled,
      subscriptions,
      signal: awake.ending.signal,
      opening,
      log,
    })
    awake.feeding = awake.feed
      .run()
      .catch((error: unknown) => log.error({ err: error, tenant: name }, "following a tenant stopped"))
  }

  /** What a watch waits for whose store has gone to sleep. */
  #reopened(signal: AbortSignal): Promise<ControlPlane | undefined> {
    if (this.#awake !== undefined) return Promise.resolve(this.#awake.controlPlane)
    return this.#ended ? Promise.resolve(undefined) : this.#sleepers.next(signal)
  }

  /** Nobody needs it now: no request, nothing that followers have not seen, nothing left to prepare. */
  get canSleep(): boolean {
    const awake = this.#awake
    return awake?.preparing.isUnderWay === false && !this.presence.isInUse && awake.feed?.settledAt !== undefined
  }

  /** false: it is needed after all. Followers are told before anything is closed. */
  sleep(): boolean {
    const awake = this.#awake
    const revision = awake?.feed?.settledAt
    if (awake === undefined || revision === undefined || !this.canSleep) return false
    this.#settled = { revision, followers: this.#parts.subscriptions.last }
    this.#wanted = false
    awake.ending.abort(controlPlaneClosed)
    awake.feed?.tellAsleep()
    this.#close(awake, revision)
    return true
  }

  #close(awake: Awake, settled?: number): void {
    this.#awake = this.#opening = this.#measured = undefined
    this.#closing = (async () => {
      awake.ending.abort(controlPlaneClosed)
      await awake.feeding
      await awake.preparing.ended
      if (settled !== undefined) await this.#sleepOn(awake, settled)
      else await awake.controlPlane[Symbol.asyncDispose]()
    })()
    // Whoever opens it next is told as well.
    this.#closing.catch((error: unknown) =>
      this.#parts.log.error({ err: error, tenant: this.record.tenant.name }, "closing a tenant failed"),
    )
  }

  async #sleepOn({ controlPlane }: Awake, settled: number): Promise<void> {
    const { admittance, slept, log } = this.#parts
    const known = await admittance(controlPlane).catch((error: unknown) => {
      log.warn({ err: error, tenant: this.record.tenant.name }, "a tenant falls asleep without being looked at")
      return undefined
    })
    const { store } = controlPlane
    await controlPlane[Symbol.asyncDispose]()
    // True of what is on disk only when nothing was written since everybody knew everything.
    this.#admittance = store.revision === settled ? known : undefined
    slept?.(this, settled)
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#awake?.ending.abort(controlPlaneClosed)
    this.#sleepers.wake(undefined)
    const awake = await this.#opening?.catch(() => undefined) // told to whoever asked for it
    if (awake !== undefined && this.#awake === awake) this.#close(awake)
    await this.#closing
  }
}
