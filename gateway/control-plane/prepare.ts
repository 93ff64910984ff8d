// Prepares what a control plane needs from outside (its first Service, whose address the super cluster allocates). Preparation is
// retried until it succeeds.

import { backoff } from "../../client/backoff.ts"
import { endsWithin, pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { ControlPlane } from "./control-plane.ts"

export type Prepare = (controlPlane: ControlPlane) => Promise<void>

/** Prepares a tenant at its first use: many tenants are only read for a while, or never used. */
export interface Preparation {
  /** Whether preparation was started before. It is then repeated at each opening, because its dependencies may have moved. */
  isBegun(controlPlane: ControlPlane): Promise<boolean>
  /** Idempotent. */
  prepare: Prepare
  /** Of what it creates. It is repeated when one of them is deleted, as kube-apiserver creates its own Service again. */
  keys: readonly string[]
}

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

export interface PreparingParts {
  controlPlane: ControlPlane
  preparation: Preparation
  /** How long users of the tenant wait for the preparation. */
  readyMs: number
  /** Aborted when the control plane is closed. */
  signal: AbortSignal
  log: Log
}

/** The preparation of one open control plane: started by its first use, and repeated when what it created is deleted. */
export class Preparing {
  readonly #parts: PreparingParts
  #running: Promise<void> | undefined
  #watching: Promise<unknown> | undefined
  /** performance.now() */
  #since = 0
  #done = false

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
    this.#since = performance.now()
    this.#watching = Promise.all(this.#parts.preparation.keys.map((key) => this.#watch(key)))
    this.#running = this.#prepare()
  }

  async #prepare(): Promise<void> {
    const { controlPlane, preparation, signal, log } = this.#parts
    this.#done = false
    await prepareUntilDone(controlPlane, (each) => preparation.prepare(each), signal, log)
    this.#done = true
  }

  /** Until the control plane is closed. Never rejects. */
  async #watch(key: string): Promise<void> {
    const { controlPlane, signal, log } = this.#parts
    if (signal.aborted) return
    const { store } = controlPlane
    const watcher = store.watch(key, { after: store.revision })
    const stop = (): void => watcher.close()
    signal.addEventListener("abort", stop)
    try {
      for await (const events of watcher) {
        const isGone = events.some((event) => event.type === "delete" && event.current.key === key)
        if (isGone) this.#running = this.ended.then(() => this.#prepare())
      }
    } catch (error) {
      // It is created again when the control plane is next opened.
      log.warn({ tenant: controlPlane.tenant?.name, error: String(error) }, `watch of ${key} ended`)
    } finally {
      signal.removeEventListener("abort", stop)
      watcher.close()
    }
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
