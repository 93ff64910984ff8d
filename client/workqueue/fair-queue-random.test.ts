// A FairQueue under random operations, compared with a model that finds everything by looking at all keys.

import { expect, test } from "vitest"
import { chance, createRandom, pick, seeds, type Random } from "../../apimachinery/testing/random.ts"
import { QueueMetrics } from "../metrics/queue-metrics.ts"
import { FakeClock } from "../testing/fake-clock.ts"
import { FairQueue } from "./fair-queue.ts"

interface Key {
  group: string
  name: string
}

const idOf = ({ group, name }: Key): string => `${group}/${name}`
const keyOf = (id: string): Key => ({ group: id.slice(0, 1), name: id.slice(2) })
const groups = ["a", "b", "c", "d"]
const names = Array.from({ length: 12 }, (_, n) => String(n))
const limits = { baseDelayMs: 5, maxDelayMs: 100, keysPerGroup: 6 }
/** Each step takes as long, so that no two keys are due at the same time. */
const stepMs = 1 / 8192

/** By group: what one may take in its turn, and have in work at a time. */
type Amounts = Readonly<Record<string, number>>

class Model {
  /** In order of arrival. */
  queued: string[] = []
  readonly processing = new Set<string>()
  /** Taken, but the work on them has not begun, since when additions are of no use. */
  readonly taken = new Set<string>()
  readonly begun = new Set<string>()
  /** Added again while they were processed. */
  readonly again = new Set<string>()
  readonly delayed = new Map<string, number>()
  readonly failures = new Map<string, number>()
  /** In the order in which they first failed. */
  readonly failed = new Set<string>()
  readonly refused = new Set<string>()
  /** If there are any, no group can be served. */
  waiters = 0
  readonly served: string[] = []
  readonly refills: string[] = []
  /** By group that could be served: what the others have got since it could, or since it was. */
  readonly #passedOver = new Map<string, Map<string, number>>()
  readonly weights: Amounts
  readonly most: Amounts

  constructor(weights: Amounts, most: Amounts) {
    this.weights = weights
    this.most = most
  }

  of = (ids: Iterable<string>, group: string): string[] => [...ids].filter((id) => keyOf(id).group === group)

  mayServe(group: string): boolean {
    const isFull = this.of(this.processing, group).length >= (this.most[group] ?? 0)
    return !isFull && this.of(this.queued, group).length > 0
  }

  add(id: string): void {
    const { group } = keyOf(id)
    if (this.queued.includes(id) || this.taken.has(id)) return
    if (this.processing.has(id)) this.again.add(id)
    else if (this.of(this.queued, group).length >= limits.keysPerGroup) this.refused.add(group)
    else this.#push(id)
  }

  addAfter(id: string, due: number): void {
    this.delayed.set(id, Math.min(this.delayed.get(id) ?? Infinity, due))
  }

  fail(id: string, now: number): void {
    const failures = this.failures.get(id) ?? 0
    this.failures.set(id, failures + 1)
    this.failed.add(id)
    this.addAfter(id, now + Math.min(limits.baseDelayMs * 2 ** failures, limits.maxDelayMs))
  }

  begin(id: string): void {
    for (const known of [this.taken, this.again, this.delayed]) known.delete(id)
    this.begun.add(id)
  }

  /** Until the work on them begins. */
  get waiting(): number {
    return this.queued.length + this.again.size + this.taken.size
  }

  forget(id: string): void {
    this.failures.delete(id)
    this.failed.delete(id)
  }

  giveUp(id: string, due: number): void {
    this.failures.delete(id)
    this.failed.add(id)
    this.addAfter(id, due)
  }

  addFailed(group: string): void {
    for (const id of this.of(this.failed, group)) this.add(id)
  }

  pass(until: number): void {
    const due = [...this.delayed].filter(([, at]) => at <= until).sort(([, a], [, b]) => a - b)
    // One that is taken meanwhile is not due any more.
    for (const [id] of due) if (this.delayed.delete(id)) this.add(id)
  }

  take(id: string): void {
    const { group } = keyOf(id)
    expect(this.mayServe(group), `${id} may be taken`).toBe(true)
    expect(id, "is the first of its group").toBe(this.of(this.queued, group)[0])
    this.#noteTurn(group)
    this.queued = this.queued.filter((other) => other !== id)
    this.processing.add(id)
    this.taken.add(id)
    if (this.of(this.queued, group).length === 0 && this.refused.delete(group)) this.refills.push(group)
    this.#noteWaiting()
  }

  done(id: string): void {
    this.processing.delete(id)
    this.begun.delete(id)
    this.#serve(keyOf(id).group)
    if (this.again.delete(id)) this.#push(id)
  }

  remove(group: string): void {
    const gone = this.of([...this.queued, ...this.taken, ...this.again, ...this.delayed.keys()], group)
    for (const known of [this.taken, this.again, this.delayed]) for (const id of gone) known.delete(id)
    for (const id of this.of(this.failed, group)) this.forget(id)
    this.queued = this.queued.filter((id) => !gone.includes(id))
    this.refused.delete(group)
    this.#noteWaiting()
  }

  #push(id: string): void {
    this.queued.push(id)
    this.#serve(keyOf(id).group)
  }

  #serve(group: string): void {
    this.#noteWaiting()
    for (; this.waiters > 0 && this.mayServe(group); this.waiters--) {
      const [first = ""] = this.of(this.queued, group)
      this.take(first)
      this.served.push(first)
    }
  }

  /** While a group waits, no other gets more than in one turn. */
  #noteTurn(served: string): void {
    this.#passedOver.set(served, new Map())
    for (const [group, others] of this.#passedOver) {
      if (group === served) continue
      const got = (others.get(served) ?? 0) + 1
      expect(got, `what ${served} gets while ${group} waits`).toBeLessThanOrEqual(this.weights[served] ?? 0)
      others.set(served, got)
    }
  }

  #noteWaiting(): void {
    for (const group of groups) {
      if (!this.mayServe(group)) this.#passedOver.delete(group)
      else if (!this.#passedOver.has(group)) this.#passedOver.set(group, new Map())
    }
  }
}

class Run {
  readonly #random: Random
  readonly #model: Model
  readonly #queue: FairQueue<Key>
  readonly #clock = new FakeClock()
  readonly #metrics = new QueueMetrics("test")
  readonly #refills: string[] = []
  readonly #served: string[] = []
  readonly #waiters: AbortController[] = []

  constructor(seed: number) {
    const random = (this.#random = createRandom(seed))
    const amounts = (): Amounts => Object.fromEntries(groups.map((group) => [group, 1 + random(4)]))
    const { weights, most } = (this.#model = new Model(amounts(), amounts()))
    this.#queue = new FairQueue<Key>({
      identify: idOf,
      group: ({ group }) => group,
      weight: (group) => weights[group] ?? 1,
      maxWorking: (group) => most[group] ?? 1,
      refill: (group) => this.#refills.push(group),
      limits,
      clock: this.#clock,
      metrics: this.#metrics,
    })
  }

  async step(): Promise<void> {
    const id = `${pick(this.#random, groups)}/${pick(this.#random, names)}`
    this.#pass(stepMs)
    await this.#act(id)
    await new Promise((resolve) => setImmediate(resolve))
    const [queue, model] = [this.#queue, this.#model]
    expect(this.#served.splice(0)).toEqual(model.served.splice(0))
    expect(this.#refills).toEqual(model.refills)
    const { size, processing, delayed } = queue
    expect([size, processing, delayed]).toEqual([model.queued.length, model.processing.size, model.delayed.size])
    expect(this.#metrics.depth).toBe(model.waiting)
    expect(queue.retries(keyOf(id))).toBe(model.failures.get(id) ?? 0)
    expect(queue.hasFailed(keyOf(id))).toBe(model.failed.has(id))
    const { group } = keyOf(id)
    const isBusy = model.of([...model.queued, ...model.processing], group).length > 0
    expect(queue.isBusy(group)).toBe(isBusy || model.refused.has(group))
  }

  async #act(id: string): Promise<void> {
    const [random, queue, model, clock] = [this.#random, this.#queue, this.#model, this.#clock]
    const one = model.processing.size === 0 ? id : pick(random, [...model.processing])
    switch (
      pick(random, [
        "add",
        "add",
        "add",
        "later",
        "get",
        "get",
        "begin",
        "begin",
        "done",
        "done",
        "fail",
        "pass",
        "other",
      ])
    ) {
      case "add":
        queue.add(keyOf(id))
        return model.add(id)
      case "later": {
        const ms = random(50)
        queue.addAfter(keyOf(id), ms)
        return ms === 0 ? model.add(id) : model.addAfter(id, clock.elapsed() + ms)
      }
      case "get":
        return this.#get()
      case "done":
        if (!model.begun.has(one)) return
        queue.done(keyOf(one))
        return model.done(one)
      case "begin":
        if (!model.processing.has(one) || model.begun.has(one)) return
        queue.begin(keyOf(one))
        return model.begin(one)
      case "fail":
        queue.addRateLimited(keyOf(one))
        return model.fail(one, clock.elapsed())
      case "pass":
        return this.#pass(random(30))
      default:
        return this.#other(id)
    }
  }

  #other(id: string): void {
    const [random, queue, model] = [this.#random, this.#queue, this.#model]
    if (chance(random, 0.2)) {
      queue.removeGroup(keyOf(id).group)
      return model.remove(keyOf(id).group)
    }
    if (chance(random, 0.2)) {
      queue.addFailed(keyOf(id).group)
      return model.addFailed(keyOf(id).group)
    }
    if (chance(random, 0.3)) return this.#clock.correct(random(7_200_000) - 3_600_000)
    if (chance(random, 0.5)) return this.#waiters.at(random(this.#waiters.length))?.abort()
    if (chance(random, 0.3)) {
      const ms = 1 + random(50)
      queue.giveUp(keyOf(id), ms)
      return model.giveUp(id, this.#clock.elapsed() + ms)
    }
    queue.forget(keyOf(id))
    model.forget(id)
  }

  #pass(ms: number): void {
    this.#model.pass(this.#clock.elapsed() + ms)
    this.#clock.advance(ms)
  }

  /** What can be served is, at once. */
  async #get(): Promise<void> {
    const [queue, model] = [this.#queue, this.#model]
    const stop = new AbortController()
    const taking = queue.get(stop.signal)
    if (groups.some((group) => model.mayServe(group))) return model.take(idOf((await taking) as Key))
    model.waiters++
    this.#waiters.push(stop)
    void taking.then((taken) => {
      this.#waiters.splice(this.#waiters.indexOf(stop), 1)
      if (taken === undefined) model.waiters--
      else this.#served.push(idOf(taken))
    })
  }

  /** Nobody waits any more, and nothing is left. */
  async end(): Promise<void> {
    this.#queue[Symbol.dispose]()
    for (const id of this.#model.processing) if (!this.#model.begun.has(id)) this.#queue.begin(keyOf(id))
    for (const id of this.#model.processing) this.#queue.done(keyOf(id))
    this.#queue.add({ group: "a", name: "late" })
    this.#pass(1_000_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect([this.#served, this.#waiters]).toEqual([[], []])
    const { size, processing, delayed } = this.#queue
    expect([size, processing, delayed, this.#metrics.depth, this.#clock.timers]).toEqual([0, 0, 0, 0, 0])
  }
}

test.each(seeds(12))("a FairQueue under random operations is as its model (SEED=%i)", async (seed) => {
  const run = new Run(seed)
  for (let step = 0; step < 3000; step++) await run.step()
  await run.end()
})
