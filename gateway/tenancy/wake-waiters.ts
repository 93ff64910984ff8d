// The watches of a sleeping tenant: each waits for its next control plane as long as its client stays connected.

import type { ControlPlane } from "../control-plane/control-plane.ts"

export class WakeWaiters {
  readonly #waiting = new Set<(controlPlane: ControlPlane | undefined) => void>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves with undefined if the signal is aborted first, or the tenant never wakes again. */
  next(until: AbortSignal): Promise<ControlPlane | undefined> {
    if (until.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const wake = (controlPlane: ControlPlane | undefined): void => {
        until.removeEventListener("abort", stop)
        this.#waiting.delete(wake)
        resolve(controlPlane)
      }
      const stop = (): void => wake(undefined)
      this.#waiting.add(wake)
      until.addEventListener("abort", stop, { once: true })
    })
  }

  wake(controlPlane: ControlPlane | undefined): void {
    for (const each of this.#waiting) each(controlPlane)
  }
}
