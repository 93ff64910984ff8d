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
