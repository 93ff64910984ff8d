// Events at random, compared with a model of k8s.io/client-go/tools/record/events_cache.go: what is recorded one by one, and how often.

import { expect, test } from "vitest"
import { type KubeObject, timestamp } from "../apimachinery/object.ts"
import { forbidden } from "../apimachinery/status.ts"
import { chance, createRandom, pick, seeds, type Random } from "../apimachinery/testing/random.ts"
import { EventRecorder, type EventType } from "./events.ts"
import { events } from "./resources.ts"
import { FakeClock } from "./testing/fake-clock.ts"
import { FakeCluster } from "./testing/fake-cluster.ts"

interface Recorded {
  object: string
  type: EventType
  reason: string
  message: string
}

interface Counted extends Recorded {
  firstTimestamp: string
  lastTimestamp: string
  count: number
}

const maxSimilar = 10
const similarMs = 600_000
const burst = 25
const refillMs = 300_000

class Model {
  readonly stored = new Map<string, Counted>()
  readonly #observed = new Map<string, { count: number; firstTimestamp: string }>()
  readonly #similar = new Map<string, { messages: Set<string>; at: number }>()
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  record(recorded: Recorded, now: number, isRefused: boolean): void {
    const { object, type, reason } = recorded
    const { key, message } = this.#aggregated(recorded, now)
    const at = timestamp(new Date(Date.parse("2026-01-01T00:00:00Z") + now))
    const known = this.#observed.get(key) ?? { count: 0, firstTimestamp: at }
    const { firstTimestamp } = known
    const count = known.count + 1
    this.#observed.set(key, { firstTimestamp, count })
    if (!this.#accepts(`${object} ${type}`, now) || isRefused) return
    const present = this.stored.get(key)
    if (present !== undefined) Object.assign(present, { count, lastTimestamp: at, message })
    else this.stored.set(key, { object, type, reason, message, firstTimestamp, lastTimestamp: at, count })
  }

  /** Of too many upstream forgets any one; here it is the last. */
  #aggregated({ object, type, reason, message }: Recorded, now: number): { key: string; message: string } {
    const group = `${object} ${type} ${reason}`
    const known = this.#similar.get(group)
    const similar = known === undefined || now - known.at > similarMs ? { messages: new Set<string>(), at: now } : known
    this.#similar.set(group, similar)
    similar.at = now
    similar.messages.add(message)
    if (similar.messages.size < maxSimilar) return { key: `${group} ${message}`, message }
    similar.messages.delete(message)
    return { key: group, message: `(combined from similar events): ${message}` }
  }

  #accepts(what: string, now: number): boolean {
    const bucket = this.#buckets.get(what) ?? { tokens: burst, at: now }
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs)
    this.#buckets.set(what, { tokens: tokens < 1 ? tokens : tokens - 1, at: now })
    return tokens >= 1
  }
}

const pod = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" } })

const randomEvent = (random: Random): Recorded => ({
  object: pick(random, ["a", "a", "b", "c"]),
  type: pick<EventType>(random, ["Normal", "Warning"]),
  reason: pick(random, ["Did", "Failed"]),
  message: String(random(pick(random, [1, 3, 20]))),
})

const inStore = (cluster: FakeCluster): Counted[] =>
  (cluster.all(events) as unknown as (Counted & { involvedObject: { name: string } })[]).map(
    ({ involvedObject, type, reason, message, firstTimestamp, lastTimestamp, count }) => ({
      object: involvedObject.name,
      type,
      reason,
      message,
      firstTimestamp,
      lastTimestamp,
      count,
    }),
  )

const sorted = (all: Iterable<Counted>): string[] => [...all].map((one) => JSON.stringify(one)).sort()

test.each(seeds(20))("events at random are counted as client-go does (SEED=%i)", async (seed) => {
  const random = createRandom(seed)
  const clock = new FakeClock()
  const cluster = new FakeCluster({ clock })
  const recorder = new EventRecorder({ component: "c", clock })
  const model = new Model()
  for (let step = 0; step < 400; step++) {
    clock.advance(random(pick(random, [10_000, 400_000, 1_300_000])))
    const isRefused = chance(random, 0.1)
    cluster.fail = isRefused ? () => forbidden(events, "", "no") : undefined
    for (let left = 1 + random(pick(random, [1, 40])); left > 0; left--) {
      const { object, type, reason, message } = randomEvent(random)
      recorder.event(cluster, pod(object), type, reason, message)
      model.record({ object, type, reason, message }, clock.elapsed(), isRefused)
    }
    await recorder.drained()
    expect(sorted(inStore(cluster))).toEqual(sorted(model.stored.values()))
    cluster.fail = undefined
    if (chance(random, 0.05)) {
      await cluster.deleteCollection(events, "default")
      model.stored.clear()
    }
  }
})
