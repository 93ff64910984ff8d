// What a control plane needs beyond itself (its first Service, whose address the super cluster gives out) is tried until it
// is there.

import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { backoff } from "../../client/reflector.ts"
import type { ControlPlane } from "./control-plane.ts"

export type Prepare = (controlPlane: ControlPlane) => Promise<void>

/** What a tenant is prepared by when somebody begins to use it: most are read for a while before, or never used at all. */
export interface Preparation {
  /** It has been before. Then it is again at each opening, because what it needs may have moved. */
  isBegun(controlPlane: ControlPlane): Promise<boolean>
  /** Idempotent. */
  prepare: Prepare
}

/** Resolves when it succeeded or the signal ended. Never rejects. */
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
      log.warn({ tenant: controlPlane.name, err: error, failures }, "control plane is not prepared, trying again")
      await pause(systemClock, backoff(failures), signal)
    }
  }
}

export interface PreparingParts {
  controlPlane: ControlPlane
  preparation: Preparation
  /** How long who uses it waits for that. */
  readyMs: number
  /** Ends when the control plane is closed. */
  signal: AbortSignal
  log: Log
}

/** The preparation of one control plane while it is open: begun once, by who uses it first. */
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

  /** Resolves when nothing is under way any more. */
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

  /** Begins it. Resolves when it is done, or has taken too long: then that goes on in the background. */
  async inTime(): Promise<void> {
    this.begin()
    const left = this.#since + this.#parts.readyMs - performance.now()
    if (left <= 0) return
    const enough = new AbortController()
    await Promise.race([this.ended.finally(() => enough.abort()), pause(systemClock, left, enough.signal)])
  }
}
