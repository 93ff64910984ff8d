// A super cluster that is restored from a backup while a syncer runs.

import { setImmediate as nextTurn } from "node:timers/promises"
import type { FakeClock } from "../../client/testing/fake-clock.ts"
import type { Faults } from "../../client/testing/faulty-client.ts"

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

/** Super is down for that, and nothing happens there before the syncer has noticed: it may wait for three quarters of a minute. */
export async function restored(restore: () => void, faults: Faults, clock: FakeClock): Promise<void> {
  const { probability } = faults
  faults.probability = 0
  faults.isDown = true
  await turns(10)
  restore()
  await turns(10)
  faults.isDown = false
  for (let time = 0; time < 6; time++) {
    clock.advance(10_000)
    await turns(10)
  }
  faults.probability = probability
}
