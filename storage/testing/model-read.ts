// A read of the past that may come too late, as a compaction runs at the same time.

import { expect } from "vitest"
import { hasCode, type Store } from "../types.ts"
import { type Model, showState } from "./model-state.ts"

export class PastRead {
  readonly #prefix: string
  readonly #revision: number
  #found: readonly string[] | "Compacted" = []

  constructor(prefix: string, revision: number) {
    this.#prefix = prefix
    this.#revision = revision
  }

  async from(store: Store): Promise<void> {
    try {
      const { items } = await store.range(this.#prefix, { revision: this.#revision })
      this.#found = items.map(showState)
    } catch (error) {
      if (!hasCode(error, "Compacted")) throw error
      this.#found = "Compacted"
    }
  }

  check(model: Model): void {
    if (this.#found === "Compacted") expect(this.#revision).toBeLessThanOrEqual(model.compacted)
    else expect(this.#found).toEqual(model.list(this.#prefix, this.#revision))
  }
}
