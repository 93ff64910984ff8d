// What keeps controllers from going on as they have begun, by chance.

import { chance, pick } from "../../apimachinery/testing/random.ts"
import type { DelayedWorld } from "./delayed-world.ts"

const hourMs = 3_600_000
/** Waits until a time of the day are longer by this after the clock has been set back. */
const correctionMs = 300_000

export class Interruptions {
  readonly #world: DelayedWorld
  /** The clock is set forward, and will be set back. */
  #isAhead = false

  constructor(world: DelayedWorld) {
    this.#world = world
  }

  /** One of them. */
  async step(): Promise<void> {
    const { random, tenant, clock } = this.#world
    const all: readonly (() => unknown)[] = [
      () => this.#world.startAfterDeath(),
      () => this.#sleep(),
      () => tenant.switch(chance(random, 0.5)),
      () => tenant.startAgain(),
      () => tenant.silence(random),
      () => tenant.endSilence(),
      () => this.#correctClock(),
      () => clock.advance(hourMs),
    ]
    await pick(random, all)()
  }

  /**
   * Nothing keeps them from going on; a tenant that sleeps wakes up with what happens next. The clock is set to the later time, in which
   * nothing that has happened is in the future.
   */
  end(): void {
    const { tenant } = this.#world
    tenant.endSilence()
    tenant.switch(true)
    if (!this.#isAhead) this.#correctClock()
  }

  async #sleep(): Promise<void> {
    const { random, tenant, clock } = this.#world
    await this.#world.rest(2)
    tenant.sleep()
    clock.advance(pick(random, [10, 2_000, 60_000]))
  }

  #correctClock(): void {
    this.#world.clock.correct(this.#isAhead ? -correctionMs : correctionMs)
    this.#isAhead = !this.#isAhead
  }
}
