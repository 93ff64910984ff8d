// Delivers the changes below the prefix as they happen: one etcd watch for all stores of the process. If it ends, it resumes on the
// next member, so that nothing is lost or repeated; if the history has been compacted, it starts anew. A response that is valid at
// a revision is held until the feed has reached the revision, so that all consumers in the process have observed what it reflects.

import { setTimeout as delay } from "node:timers/promises"
import type { ClientDuplexStream } from "@grpc/grpc-js"
import { closedError, type Revision, StorageError } from "../types.ts"
import type { EtcdClient } from "./client.ts"
import { storageError } from "./errors.ts"
import { rangeEnd } from "./keys.ts"
import { type EtcdLimits, retryDelay } from "./limits.ts"
import type { WatchRequest, WatchResponse, WireEvent } from "./wire.ts"

export interface FeedHandler {
  /** One transaction. Called in order; must not throw. */
  changed(events: readonly WireEvent[], revision: Revision): void
  /**
   * The changes up to `revision` were not delivered and cannot be. Nothing is delivered until it resolves; the function is called at the
   * moment when the feed gets to that revision.
   */
  lost(revision: Revision): Promise<() => void>
  /** Called when the feed fails, for the log. */
  failing(error: Error): void
}

interface FeedParts {
  client: EtcdClient
  limits: EtcdLimits
  /** Prefix of all keys. */
  prefix: Buffer
  handler: FeedHandler
  /** Waits before the stream is opened again; resolves early if the signal is aborted. Tests count here. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

type Stream = ClientDuplexStream<WatchRequest, WatchResponse>

interface Waiter {
  revision: Revision
  resolve(): void
}

export class Feed implements AsyncDisposable {
  readonly #parts: FeedParts
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #revision: Revision
  #waiters: Waiter[] = []
  #stream: Stream | undefined
  /** The events of the last transaction, of which the next response contains more. */
  #partial: WireEvent[] = []
  #asking: NodeJS.Timeout | undefined
  /** Runs while the stream owes an answer. */
  #overdue: NodeJS.Timeout | undefined
  /** The member still reads what this stream has missed, however long that takes, and says nothing before. */
  #isCatchingUp = false
  /** Streams in a row that have delivered nothing. */
  #failures = 0

  static async start(parts: FeedParts): Promise<Feed> {
    return new Feed(parts, await latestRevision(parts))
  }

  private constructor(parts: FeedParts, revision: Revision) {
    this.#parts = parts
    this.#revision = revision
    this.#running = this.#run()
  }

  /** Everything up to this revision has been delivered. */
  get revision(): Revision {
    return this.#revision
  }

  /** Resolves when everything up to `revision` has been delivered and its consumers have run. */
  async reach(revision: Revision): Promise<void> {
    if (revision <= this.#revision) return
    const { client, limits } = this.#parts
    const reached = Promise.withResolvers<void>()
    const waiter: Waiter = { revision, resolve: reached.resolve }
    this.#waiters.push(waiter)
    this.#askSoon()
    const timer = setTimeout(() => {
      const text = `etcd at ${client.location}: its watch has not reached revision ${revision} in time`
      reached.reject(new StorageError("Unavailable", text))
    }, limits.callMs)
    const closed = (): void => reached.reject(closedError())
    this.#ending.signal.addEventListener("abort", closed, { once: true })
    try {
      await reached.promise
    } finally {
      clearTimeout(timer)
      this.#ending.signal.removeEventListener("abort", closed)
      this.#waiters = this.#waiters.filter((each) => each !== waiter)
    }
  }

  /** Returns the latest revision after the feed has reached it. */
  async latest(): Promise<Revision> {
    const revision = await latestRevision(this.#parts)
    await this.reach(revision)
    return revision
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#asking)
    await this.#running
  }

  async #run(): Promise<void> {
    const { handler, limits, pause = systemPause } = this.#parts
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        if (signal.aborted) return
        handler.failing(error instanceof Error ? error : new Error(String(error)))
        await pause(retryDelay(limits, ++this.#failures), signal)
      }
    }
  }

  /** Runs one stream until it ends. */
  async #follow(): Promise<void> {
    const { client, prefix } = this.#parts
    this.#partial = []
    const { stream, abandon } = client.stream(client.calls.watch)
    const ended = Promise.withResolvers<void>()
    // Cancels a stream if the member accepts the connection but does not respond.
    this.#expectAnswer(stream)
    stream.on("data", (response: WatchResponse) => {
      this.#answered()
      this.#stream = stream
      this.#isCatchingUp = response.created && response.header.revision > this.#revision
      if (!response.canceled) this.#failures = 0
      if (response.canceled) {
        if (response.compact_revision > 0) ended.resolve(this.#startAnew())
        else ended.reject(new Error(response.cancel_reason))
      } else this.#take(response)
    })
    stream.on("error", (error) => ended.reject(error))
    stream.on("end", () => ended.reject(new Error("the watch ended")))
    const stop = (): void => stream.cancel()
    this.#ending.signal.addEventListener("abort", stop, { once: true })
    const create = { key: prefix, range_end: rangeEnd(prefix), prev_kv: true, progress_notify: true, fragment: true }
    stream.write({ create_request: { ...create, start_revision: this.#revision + 1 } })
    try {
      await ended.promise
    } catch (error) {
      abandon()
      throw error
    } finally {
      this.#answered()
      this.#ending.signal.removeEventListener("abort", stop)
      this.#stream = undefined
      stream.cancel()
    }
  }

  #expectAnswer(stream: Stream): void {
    this.#overdue ??= setTimeout(() => stream.cancel(), this.#parts.limits.attemptMs)
  }

  #answered(): void {
    clearTimeout(this.#overdue)
    this.#overdue = undefined
  }

  async #startAnew(): Promise<void> {
    const revision = await latestRevision(this.#parts)
    const startAnew = await this.#parts.handler.lost(revision)
    this.#advance(revision)
    startAnew()
  }

  #take({ header, created, fragment, events: received }: WatchResponse): void {
    const { handler } = this.#parts
    const events = this.#partial.length === 0 ? received : [...this.#partial, ...received]
    this.#partial = []
    for (let start = 0; start < events.length;) {
      const revision = events[start]?.kv.mod_revision ?? 0
      let end = start + 1
      while (events[end]?.kv.mod_revision === revision) end++
      if (fragment && end === events.length) {
        this.#partial = events.slice(start)
        return
      }
      const all = start === 0 && end === events.length ? events : events.slice(start, end)
      // Skips changes that have already been delivered.
      if (revision > this.#revision) {
        handler.changed(all, revision)
        this.#advance(revision)
      }
      start = end
    }
    // A response with only a header: everything up to its revision has been sent.
    if (events.length === 0 && !created && header.revision > this.#revision) this.#advance(header.revision)
  }

  #advance(revision: Revision): void {
    this.#revision = revision
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision)
    if (due.length === 0) return
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision)
    // The consumers of the changes run first.
    setImmediate(() => due.forEach((waiter) => waiter.resolve()))
  }

  /** etcd reports revisions without changes below the prefix only on request. */
  #askSoon(): void {
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined
      if (this.#waiters.length === 0 || this.#ending.signal.aborted) return
      if (this.#stream !== undefined) {
        this.#stream.write({ progress_request: {} })
        if (!this.#isCatchingUp) this.#expectAnswer(this.#stream)
      }
      this.#askSoon()
    }, this.#parts.limits.progressMs)
  }
}

async function systemPause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined) // aborted: its owner ends
}

async function latestRevision({ client, prefix }: FeedParts): Promise<Revision> {
  try {
    const { response } = await client.call(client.calls.range, { key: prefix, count_only: true }, "again")
    return response.header.revision
  } catch (error) {
    throw storageError(error, undefined, 0)
  }
}
