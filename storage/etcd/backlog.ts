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
  /** Number of changes after which reading stops. The rest of the response that reaches it is included. */
  changes: number
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
  { prefix, after, changes }: BacklogRequest,
  compacted: (revision: Revision) => void,
): Promise<Backlog> {
  const { stream, abandon } = client.stream(client.calls.watch)
  const done = Promise.withResolvers<Backlog>()
  const events: WireEvent[] = []
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
    for (const event of response.events) events.push(event)
    const last = events.at(-1)?.kv.mod_revision
    if (last !== undefined && events.length >= changes) done.resolve({ events, revision: last })
    else if (response.events.length === 0 && !response.created)
      done.resolve({ events, revision: Math.max(after, response.header.revision) })
  })
  stream.on("error", (error) => done.reject(error))
  stream.on("end", () => done.reject(new Error("the watch ended")))
  const create = { key: prefix, range_end: rangeEnd(prefix), prev_kv: true, progress_notify: false }
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
