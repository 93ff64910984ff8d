// Stores of which LevelDB loses logs again and again, while writes fail and other processes come in between.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../../apimachinery/testing/random.ts"
import { faults, logsIn, losing, splitLog, useLosingLevel } from "../testing/losing-level.ts"
import { put, remove, text } from "../testing/store-suite/shorthand.ts"
import type { Store } from "../types.ts"
import { checkDirectory } from "./check.ts"
import { openLevelStore } from "./store.ts"

useLosingLevel()

const limits = { writeBufferBytes: 64 * 1024, historyRevisions: 10, compactionStep: 4 }

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-losing-"))
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

/** A store, and what has been acknowledged of it. */
class Losing {
  readonly #random: Random
  readonly #expected = new Map<string, string>()
  #revision = 1
  #compacted = 0
  readonly done: string[] = []

  constructor(random: Random) {
    this.#random = random
  }

  /** An opening that may fail. */
  async fail(): Promise<void> {
    this.#lose()
    if (chance(this.#random, 0.7)) faults.fail = pick(this.#random, ["before the write", "after the write"] as const)
    this.#did(`open, fail ${faults.fail}`)
    const store = await openLevelStore({ directory, limits }).catch(() => undefined)
    await store?.[Symbol.asyncDispose]()
    faults.fail = undefined
  }

  /** An opening that must not fail. */
  async use(): Promise<void> {
    if (chance(this.#random, 0.3)) await splitLog(directory)
    await rm(join(directory, "IMAGE"), { force: true })
    this.#lose()
    this.#did("use")
    await using store = await openLevelStore({ directory, limits })
    await this.#expectWhole(store)
    await this.#write(store)
    this.#revision = store.revision
    this.#compacted = store.compactedRevision
  }

  #did(what: string): void {
    this.done.push(what)
  }

  #lose(): void {
    const random = this.#random
    const other = chance(random, 0.15)
    const lose = chance(random, 0.7)
      ? losing(chance(random, 0.5) ? 0 : random(100) / 100, () => chance(random, 0.7))
      : undefined
    faults.lose = async (path) => {
      if (other) await this.#beSomebodyElse()
      const before = await logsIn(path)
      // What another process has left since the logs were read, nobody has read but LevelDB.
      if (!other) await lose?.(path)
      this.#did(`${other ? "another, " : ""}logs ${before.join()}, lost ${!other && lose !== undefined}`)
    }
  }

  async #beSomebodyElse(): Promise<void> {
    faults.fail = undefined
    await using store = await openLevelStore({ directory, limits })
    await this.#expectWhole(store)
    if (chance(this.#random, 0.5)) await this.#write(store)
    else if (store.revision > 2) await store.compact(store.revision - 1)
    this.#revision = store.revision
    this.#compacted = store.compactedRevision
  }

  async #expectWhole(store: Store): Promise<void> {
    expect(store.revision).toBe(this.#revision)
    expect(store.compactedRevision).toBeGreaterThanOrEqual(this.#compacted)
    const { items } = await store.range("/")
    expect(new Map(items.map(({ key, value }) => [key, text(value)]))).toEqual(this.#expected)
  }

  async #write(store: Store): Promise<void> {
    const random = this.#random
    for (let left = random(15); left > 0; left--) {
      const key = pick(random, ["/a", "/b", "/c", "/d"])
      if (this.#expected.has(key) && chance(random, 0.3)) {
        await remove(store, key)
        this.#expected.delete(key)
      } else {
        const value = `${random(1000)} `.repeat(chance(random, 0.2) ? random(20_000) : 1)
        await put(store, key, value)
        this.#expected.set(key, value)
      }
      if (chance(random, 0.1)) await store.compact(1 + random(store.revision))
    }
  }
}

test.each(seeds(4))("all that was acknowledged is there: seed %i", async (seed) => {
  const random = createRandom(seed)
  const store = new Losing(random)
  try {
    for (let round = 0; round < 15; round++) {
      for (let time = random(3); time > 0; time--) await store.fail()
      await store.use()
      if (chance(random, 0.3)) expect(await checkDirectory(directory)).toEqual([])
    }
  } catch (error) {
    throw new Error(`SEED=${seed}:\n${store.done.slice(-12).join("\n")}`, { cause: error })
  }
})
