// Events about objects, as shown by `kubectl describe`. Best effort by design: recording never throws, never blocks and is
// limited per object, because an Event must not cost more than what it reports. Source:
// k8s.io/client-go/tools/record/events_cache.go (the limits and the correlation of events).

import { createHash, randomInt, randomUUID } from "node:crypto"
import { referenceTo, type ObjectReference } from "./object-reference.ts"
import { validateDNS1123Subdomain } from "../apimachinery/names.ts"
import { timestamp, type KubeObject } from "../apimachinery/object.ts"
import { remember } from "../apimachinery/remember.ts"
import { StatusError, isNotFound } from "../apimachinery/status.ts"
import { beginningOf } from "../apimachinery/texts.ts"
import { systemClock, type Clock } from "./clock.ts"
import { silentLog, type Log } from "./log.ts"
import { events } from "./resources.ts"
import type { KubeClient } from "./rest.ts"

export const eventLimits = {
  /** Per object and type: this many at once, then one every `refillMs`. Further ones are added to the count of the next. */
  burst: 25,
  refillMs: 300_000,
  /** After this many similar events (same object, type and reason), each within `similarMs` of the last, their messages are combined into one. */
  similar: 10,
  similarMs: 600_000,
  /** Objects and events remembered; the least recently used are dropped first. */
  remembered: 4096,
  /** Characters of a message, which may contain what a tenant's webhook said. The rest is cut off. */
  message: 4096,
  /** Events of one tenant waiting to be written. Further ones are dropped. */
  waiting: 1000,
  /** Queues per tenant, with all events of one object in the same queue, and number of parallel writes per queue. */
  lines: 4,
  together: 8,
} as const

export type EventType = "Normal" | "Warning"

interface EventFields {
  tenant: string
  client: KubeClient
  object: ObjectReference
  type: EventType
  reason: string
  message: string
  at: number
}

interface Correlated extends EventFields {
  /** Identifies events that are counted in the same Event. */
  key: string
  /** Of similar events; as in client-go, nobody is said to report such an Event. */
  isCombined: boolean
}

/** An Event, also if it exceeded the limit or was refused: the next one counts those before. */
interface Observed {
  readonly name: string
  readonly firstTimestamp: string
  readonly count: number
}

interface Recording extends Correlated {
  observed: Observed
}

interface Line {
  /** In the order in which they should appear. */
  waiting: Recording[]
  writing: Promise<void> | undefined
}

interface Similar {
  /** Their digests. */
  messages: Set<string>
  /** When the last one was recorded. */
  at: number
}

interface Bucket {
  tokens: number
  at: number
}

interface EventRecorderOptions {
  component: string
  clock?: Clock
  log?: Log
}

export class EventRecorder {
  readonly #component: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #buckets = new Map<string, Bucket>()
  readonly #similar = new Map<string, Similar>()
  /** By the keys of what they count. */
  readonly #observed = new Map<string, Observed>()
  /** Those with waiting events. A tenant has its own: its webhooks may delay the writes. */
  readonly #lines = new Map<string, Line>()
  /** Number of waiting events by tenant. */
  readonly #waiting = new Map<string, number>()
  /** Starts at random, so that recorders of several components do not create Events with the same name. */
  #serial = randomInt(1_000_000)

  constructor(options: EventRecorderOptions) {
    this.#component = options.component
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
  }

  /** `tenant`: whose API `client` writes to, if there are several. */
  event(client: KubeClient, object: KubeObject, type: EventType, reason: string, text: string, tenant = ""): void {
    const reference = referenceTo(object)
    const [at, elapsed] = [this.#clock.now(), this.#clock.elapsed()]
    const waiting = this.#waiting.get(tenant) ?? 0
    if (waiting >= eventLimits.waiting) return
    const message = beginningOf(text, eventLimits.message)
    const correlated = this.#correlate({ tenant, client, object: reference, type, reason, message, at }, elapsed)
    const observed = this.#observe(correlated)
    if (!this.#allow([tenant, ...partsOf(reference), type].join("\n"), elapsed)) return
    this.#waiting.set(tenant, waiting + 1)
    this.#append(`${tenant} ${lineOf(reference.uid)}`, { ...correlated, observed })
  }

  /** Resolves when everything recorded so far has been written or given up. */
  async drained(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(async ({ writing }) => writing))
  }

  #append(name: string, recording: Recording): void {
    const line = this.#lines.get(name) ?? { waiting: [], writing: undefined }
    this.#lines.set(name, line)
    line.waiting.push(recording)
    line.writing ??= this.#writeAll(name, line)
  }

  async #writeAll(name: string, line: Line): Promise<void> {
    // Events recorded in the same turn are written together: a store syncs them to disk together.
    await Promise.resolve()
    while (line.waiting.length > 0) {
      await Promise.all(takeBatch(line.waiting).map((recording) => this.#write(recording)))
    }
    this.#lines.delete(name)
  }

  /** Token bucket per object and type. */
  #allow(what: string, now: number): boolean {
    const { burst, refillMs } = eventLimits
    const bucket = this.#buckets.get(what) ?? { tokens: burst, at: now }
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs)
    remember(this.#buckets, what, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now }, eventLimits.remembered)
    return tokens >= 1
  }

  async #write(recording: Recording): Promise<void> {
    try {
      await this.#record(recording)
    } catch (error) {
      // Events are dropped rather than retried. Terminating namespaces reject them, which is not worth logging.
      if (error instanceof StatusError) {
        this.#log.debug({ reason: recording.reason, error: error.message }, "event not recorded")
      } else {
        this.#log.error({ reason: recording.reason, err: error }, "event not recorded")
      }
    } finally {
      const { tenant } = recording
      const left = (this.#waiting.get(tenant) ?? 1) - 1
      if (left === 0) this.#waiting.delete(tenant)
      else this.#waiting.set(tenant, left)
    }
  }

  async #record(recording: Recording): Promise<void> {
    const { client, object, at, message, observed } = recording
    const { name, firstTimestamp, count } = observed
    const lastTimestamp = timestamp(new Date(at))
    if (count > 1) {
      try {
        const patch = { count, lastTimestamp, message }
        await client.patch(events, object.namespace ?? "default", name, patch, { type: "strategic" })
        return
      } catch (error) {
        // It has expired, or was never written: create it, and continue the count.
        if (!isNotFound(error)) throw error
      }
    }
    await client.create(events, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: object.namespace ?? "default" },
      involvedObject: object,
      type: recording.type,
      reason: recording.reason,
      message,
      source: { component: this.#component },
      firstTimestamp,
      lastTimestamp,
      count,
      reportingComponent: recording.isCombined ? "" : this.#component,
      reportingInstance: "",
    })
  }

  #observe({ key, object, at }: Correlated): Observed {
    const known = this.#observed.get(key) ?? {
      name: nameFor(object, BigInt(at) * 1_000_000n + BigInt(this.#serial++ % 1_000_000)),
      firstTimestamp: timestamp(new Date(at)),
      count: 0,
    }
    const observed = { ...known, count: known.count + 1 }
    remember(this.#observed, key, observed, eventLimits.remembered)
    return observed
  }

  /**
   * Selects the Event whose count is increased: that of the same message, or the combined one if there are too many similar ones.
   */
  #correlate(fields: EventFields, now: number): Correlated {
    const { tenant, object, type, reason, message } = fields
    const group = [tenant, ...partsOf(object), type, reason].join("\n")
    const present = this.#similar.get(group)
    const similar =
      present !== undefined && now - present.at <= eventLimits.similarMs
        ? present
        : { messages: new Set<string>(), at: now }
    similar.at = now
    const digest = createHash("sha256").update(message).digest("base64")
    if (similar.messages.size < eventLimits.similar - 1) similar.messages.add(digest)
    remember(this.#similar, group, similar, eventLimits.remembered)
    if (similar.messages.has(digest)) {
      return { ...fields, key: [group, object.fieldPath ?? "", digest].join("\n"), isCombined: false }
    }
    return { ...fields, key: group, isCombined: true, message: `(combined from similar events): ${message}` }
  }
}

function nameFor({ name }: ObjectReference, nanoseconds: bigint): string {
  const named = `${name}.${nanoseconds.toString(16)}`
  return validateDNS1123Subdomain(named).length === 0 ? named : randomUUID()
}

/** Not all objects have a uid. */
const partsOf = ({ apiVersion, kind, namespace = "", name, uid }: ObjectReference): string[] => [
  apiVersion,
  kind,
  namespace,
  name,
  uid,
]

/** Takes the first ones, up to one that is counted in the same Event as an earlier one. */
function takeBatch(waiting: Recording[]): Recording[] {
  const keys = new Set<string>()
  for (const { key } of waiting) {
    if (keys.size === eventLimits.together || keys.has(key)) break
    keys.add(key)
  }
  return waiting.splice(0, keys.size)
}

function lineOf(uid: string): number {
  let hash = 0
  for (let index = 0; index < uid.length; index++) hash = (hash * 31 + uid.charCodeAt(index)) | 0
  return Math.abs(hash) % eventLimits.lines
}
