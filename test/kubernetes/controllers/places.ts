// Where scenarios are played: pairs of clusters, each with places for some at a time.

import { type BothSides, type Played, type SidesOptions, startBothSides } from "./both-sides.ts"
import type { Scenario } from "./scenario.ts"

export class Places implements AsyncDisposable {
  readonly #pairs: readonly BothSides[]
  /** A pair is here as often as it has free places. */
  readonly #free: BothSides[]
  readonly #waiting: ((pair: BothSides) => void)[] = []

  private constructor(pairs: readonly BothSides[], atOnce: number) {
    this.#pairs = pairs
    this.#free = Array.from({ length: atOnce }, () => pairs).flat()
  }

  static async start({ pairs, atOnce }: { pairs: number; atOnce: number }, options: SidesOptions): Promise<Places> {
    await using starting = new AsyncDisposableStack()
    const started = await Promise.allSettled(
      Array.from({ length: pairs }, async () => starting.use(await startBothSides(options))),
    )
    const all = started.map((each) => {
      if (each.status === "rejected") throw each.reason
      return each.value
    })
    starting.move()
    return new Places(all, atOnce)
  }

  /** The `time`-th time. What is played again is next. */
  async play(scenario: Scenario, time: number): Promise<Played> {
    const pair = this.#free.shift() ?? (await this.#next(time > 1))
    try {
      return await pair.play(scenario, time)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(pair)
      else next(pair)
    }
  }

  #next(isFirst: boolean): Promise<BothSides> {
    return new Promise((resolve) => (isFirst ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pairs.map((pair) => pair[Symbol.asyncDispose]()))
  }
}
