// Prepares what a control plane needs from outside (its first Service, whose address the super cluster allocates), and keeps what
// every control plane has. Preparation is retried until it succeeds, and repeated when others change what it keeps.

import { backoff } from "../../client/backoff.ts"
import { endsWithin, pause, systemClock } from "../../client/clock.ts"
import { failureFields, type Log } from "../../client/log.ts"
import type { StoreEvent } from "../../storage/types.ts"
import { everything } from "../registry/generic/storage/keys.ts"
import type { ControlPlane } from "./control-plane.ts"

type Prepare = (controlPlane: ControlPlane) => Promise<void>

/** Prepares a tenant at its first use: many tenants are only read for a while, or never used. */
export interface Preparation {
  /** Whether preparation was started before. It is then repeated at each opening, because its dependencies may have moved. */
  isBegun(controlPlane: ControlPlane): Promise<boolean>
  /** Idempotent. */
  prepare: Prepare
  /** Of what it keeps. */
  keys: ReadonlySet<string>
  /** Whether a change of these keys requires it again, as kube-apiserver looks after its own objects every 10 s or every minute. */
  isRepeatedAfter(event: StoreEvent): boolean
}

/** Who always changes what is kept, such as a tool with other ideas of it, soon does so against one correction in this time. */
const repetitionDelays = { first: 100, longest: 10_000 }
/** After this time without a repetition, the next one is at once. */
const quietMs = 60_000

/** Resolves when it has succeeded or the signal is aborted. Never rejects. */
export async function prepareUntilDone(
  controlPlane: ControlPlane,
  prepare: Prepare,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await prepare(controlPlane)
    } catch (error) {
      if (signal.aborted) return
      log.warn(
        { tenant: controlPlane.tenant?.name, err: error, failures },
        "preparing the control plane failed; retrying",
      )
      await pause(systemClock, backoff(failures), signal)
    }
  }
}

interface PreparingParts {
  controlPlane: ControlPlane
  preparation: Preparation
  /** How long users of the tenant wait for the preparation. */
  readyMs: number
  /** Aborted when the control plane is closed. */
  signal: AbortSignal
  log: Log
}

/** The preparation of one open control plane: started by its first use, and repeated when others change what it keeps. */
export class Preparing {
  readonly #parts: PreparingParts
  #running: Promise<void> | undefined
  #watching: Promise<void> | undefined
  /** performance.now() */
  #since = 0
  #done = false
  /** Others have changed something since the preparation began. */
  #isDue = false
  #isScheduled = false
  #repetitions = 0

  constructor(parts: PreparingParts) {
    this.#parts = parts
  }

  get isDone(): boolean {
    return this.#done
  }

  get isUnderWay(): boolean {
    return this.#running !== undefined && !this.#done
  }

  /** Resolves when no preparation is in progress. */
  get ended(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  begin(): void {
    if (this.#running !== undefined) return
    this.#watching = this.#watch()
    this.#running = this.#prepare()
  }

  async #prepare(): Promise<void> {
    this.#since = performance.now()
    this.#done = false
    await this.#prepareOnce()
    // Its own writes are among the changes. At a second look nothing is written, unless others wrote as well.
    if (this.#isDue) await this.#prepareOnce()
    this.#done = true
    if (this.#isDue) this.#changed()
  }

  #prepareOnce(): Promise<void> {
    const { controlPlane, preparation, signal, log } = this.#parts
    this.#isDue = false
    return prepareUntilDone(controlPlane, (each) => preparation.prepare(each), signal, log)
  }

  /** At once, unless it has just been repeated. */
  async #repeat(): Promise<void> {
    this.#isScheduled = true
    await this.ended
    const passed = performance.now() - this.#since
    if (passed > quietMs) this.#repetitions = 0
    const delay = this.#repetitions === 0 ? 0 : backoff(this.#repetitions, repetitionDelays)
    if (delay > passed) await pause(systemClock, delay - passed, this.#parts.signal)
    this.#isScheduled = false
    if (this.#parts.signal.aborted) return
    this.#repetitions++
    this.#running = this.#prepare()
  }

  /** Until the control plane is closed. Never rejects. */
  async #watch(): Promise<void> {
    const { controlPlane, preparation, signal, log } = this.#parts
    if (signal.aborted || preparation.keys.size === 0) return
    const { store } = controlPlane
    const concerns = (key: string): boolean => preparation.keys.has(key)
    const watcher = store.watch(everything, { after: store.revision, concerns })
    const stop = (): void => watcher.close()
    signal.addEventListener("abort", stop)
    try {
      for await (const events of watcher) {
        if (events.some((event) => preparation.isRepeatedAfter(event))) this.#changed()
      }
    } catch (error) {
      // It is prepared again when the control plane is next opened.
      log.warn(
        { tenant: controlPlane.tenant?.name, ...failureFields(error) },
        "watch of what every control plane has ended",
      )
    } finally {
      signal.removeEventListener("abort", stop)
      watcher.close()
    }
  }

  #changed(): void {
    if (this.isUnderWay) this.#isDue = true
    else if (!this.#isScheduled) void this.#repeat()
  }

  /** Resolves when nothing of it runs any more. The signal must be aborted. */
  async end(): Promise<void> {
    await this.#watching
    await this.ended
  }

  /** Starts the preparation. Resolves when it is done or the time limit has passed; it then continues in the background. */
  async inTime(): Promise<void> {
    this.begin()
    const left = this.#since + this.#parts.readyMs - performance.now()
    if (left > 0) await endsWithin(systemClock, left, this.ended)
  }
}
