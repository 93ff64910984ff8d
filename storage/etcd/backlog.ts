// Reads past changes for a watch that is behind the feed: with a separate etcd watch from that revision, until it has delivered
// enough or reports that there are no more.

import { setTimeout as delay } from "node:timers/promises"
import { compactedError } from "../transaction.ts"
import { StorageError, type Revision } from "../types.ts"
import type { EtcdClient } from "./client.ts"
import { rangeEnd } from "./keys.ts"
import { type EtcdLimits, retryDelay } from "./limits.ts"
import type { WatchResponse, WireEvent } from "./wire.ts"

export interface Backlog {
  events: readonly WireEvent[]
  /** `events` are complete up to this revision. */
  revision: Revision
}

export interface BacklogRequest {
  prefix: Buffer
  /** Reads changes after this revision. */
  after: Revision
  /** The changes end before the transaction with which there are more, but after at least one. */
  changes: number
  /** Likewise the size of their values, and that of the values they replaced. */
  bytes: number
}

/** Throws Compacted, which carries the revision, or Unavailable. */
export async function readBacklog(
  client: EtcdClient,
  limits: EtcdLimits,
  request: BacklogRequest,
  compacted: (revision: Revision) => void,
): Promise<Backlog> {
  const deadline = performance.now() + limits.callMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(client, limits, request, compacted)
    } catch (error) {
      if (error instanceof StorageError) throw error
      if (performance.now() > deadline)
        throw new StorageError("Unavailable", `etcd at ${client.location}: ${String(error)}`, { cause: error })
    }
    await delay(retryDelay(limits, attempt))
  }
}

async function readOnce(
  client: EtcdClient,
  limits: EtcdLimits,
  { prefix, after, ...limit }: BacklogRequest,
  compacted: (revision: Revision) => void,
): Promise<Backlog> {
  const { stream, abandon } = client.stream(client.calls.watch)
  const done = Promise.withResolvers<Backlog>()
  const piece = new Piece(limit)
  const timer = setTimeout(() => done.reject(new Error("no answer in time")), limits.attemptMs)
  // etcd answers a progress request only when the watch has delivered everything.
  const asking = setInterval(() => stream.write({ progress_request: {} }), limits.progressMs)
  stream.on("data", (response: WatchResponse) => {
    timer.refresh()
    if (response.canceled) {
      if (response.compact_revision > 0) {
        compacted(response.compact_revision - 1)
        done.reject(compactedError(after, response.compact_revision - 1))
      } else done.reject(new Error(response.cancel_reason))
      return
    }
    const full = piece.add(response)
    if (full !== undefined) done.resolve(full)
    else if (response.events.length === 0 && !response.created)
      done.resolve({ events: piece.events, revision: Math.max(after, response.header.revision) })
  })
  stream.on("error", (error) => done.reject(error))
  stream.on("end", () => done.reject(new Error("the watch ended")))
  const create = { key: prefix, range_end: rangeEnd(prefix), prev_kv: true, progress_notify: false, fragment: true }
  stream.write({ create_request: { ...create, start_revision: after + 1 } })
  try {
    return await done.promise
  } catch (error) {
    if (!(error instanceof StorageError)) abandon()
    throw error
  } finally {
    clearTimeout(timer)
    clearInterval(asking)
    stream.cancel()
  }
}

/** What etcd has sent of a piece. A transaction may come in several parts. */
class Piece {
  readonly events: WireEvent[] = []
  readonly #limit: Pick<BacklogRequest, "changes" | "bytes">
  /** The first event of the last transaction. */
  #last = 0
  #bytes = 0
  #replacedBytes = 0

  constructor(limit: Pick<BacklogRequest, "changes" | "bytes">) {
    this.#limit = limit
  }

  /** Returns the piece if it is full. */
  add({ events, fragment }: WatchResponse): Backlog | undefined {
    for (const event of events) {
      if (event.kv.mod_revision !== this.#revisionOf(this.events.length - 1)) this.#last = this.events.length
      this.#push(event)
      if (this.#last > 0 && this.#isBeyond) return this.#first(this.#last)
    }
    return fragment || !this.#isBeyond ? undefined : this.#first(this.events.length)
  }

  #push(event: WireEvent): void {
    this.events.push(event)
    this.#bytes += event.kv.value.length
    this.#replacedBytes += event.prev_kv?.value.length ?? 0
  }

  get #isBeyond(): boolean {
    const { changes, bytes } = this.#limit
    return this.events.length > changes || this.#bytes > bytes || this.#replacedBytes > bytes
  }

  #first(count: number): Backlog {
    return { events: this.events.slice(0, count), revision: this.#revisionOf(count - 1) }
  }

  #revisionOf(index: number): Revision {
    return this.events[index]?.kv.mod_revision ?? 0
  }
}
