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

/** The preparation of one open control plane: started once, by its first use. */
export class Preparing {
  readonly #parts: PreparingParts
  #running: Promise<void> | undefined
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
    const { controlPlane, preparation, signal, log } = this.#parts
    this.#since = performance.now()
    this.#running = prepareUntilDone(controlPlane, (each) => preparation.prepare(each), signal, log).then(() => {
      this.#done = true
    })
  }

  /** Starts the preparation. Resolves when it is done or the time limit has passed; it then continues in the background. */
  async inTime(): Promise<void> {
    this.begin()
    const left = this.#since + this.#parts.readyMs - performance.now()
    if (left > 0) await endsWithin(systemClock, left, this.ended)
  }
}
