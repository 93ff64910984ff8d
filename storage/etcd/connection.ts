// Shared by all stores of a database: calls, the feed, and the compacted revision.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { FairPlaces } from "../../apimachinery/fair-places.ts"
import { HistoryPolicy } from "../history-policy.ts"
import { compactionTarget } from "../transaction.ts"
import { hasCode, type Revision } from "../types.ts"
import { type Backlog, type BacklogRequest, readBacklog } from "./backlog.ts"
import { EtcdClient } from "./client.ts"
import { storageError } from "./errors.ts"
import { Feed, type FeedHandler } from "./feed.ts"
import { storesPrefix } from "./keys.ts"
import type { EtcdLimits } from "./limits.ts"
import type { TxnRequest, TxnResponse } from "./wire.ts"

interface ConnectionOptions {
  client: EtcdClient
  /** Prefix of all keys, without a trailing slash. */
  prefix: string
  limits: EtcdLimits
  historyMilliseconds: number
  /** Milliseconds, for the age of history. */
  now: () => number
  /** Also told of compactions that fail. */
  handler: FeedHandler
}

export class Connection implements AsyncDisposable {
  readonly client: EtcdClient
  readonly prefix: string
  readonly storesPrefix: Buffer
  readonly #limits: EtcdLimits
  readonly #policy: HistoryPolicy
  #feed: Feed | undefined
  #compacted: Revision = 0
  #compacting: Promise<void> | undefined
  /** Later than now if it has failed. */
  #mayCompactAt = -Infinity
  readonly #now: () => number
  readonly #handler: FeedHandler
  /** Backlog reads for watches. */
  readonly #reading: FairPlaces<string>

  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options)
    const { client, limits, handler } = options
    const changed: FeedHandler["changed"] = (events, revision) => {
      handler.changed(events, revision)
      for (const { kv } of events) connection.#policy.wrote(kv.key.length + kv.value.length)
      connection.#compactHistory(revision)
    }
    const prefix = connection.storesPrefix
    connection.#feed = await Feed.start({ client, limits, prefix, handler: { ...handler, changed } })
    await connection.#findCompacted()
    return connection
  }

  private constructor({ client, prefix, limits, historyMilliseconds, now, handler }: ConnectionOptions) {
    this.#now = now
    this.#handler = handler
    this.client = client
    this.prefix = prefix
    this.storesPrefix = Buffer.from(storesPrefix(prefix))
    this.#limits = limits
    this.#reading = new FairPlaces({ all: limits.maxBacklogs, each: limits.maxBacklogsOfStore })
    this.#policy = new HistoryPolicy({ ...limits, historyMilliseconds }, now)
  }

  get #opened(): Feed {
    if (this.#feed === undefined) throw new Error("the feed has not been started")
    return this.#feed
  }

  get revision(): Revision {
    return this.#opened.revision
  }

  /** The compacted revision known to this process. Another process may have compacted more, which etcd reports on requests. */
  get compacted(): Revision {
    return this.#compacted
  }

  reach(revision: Revision): Promise<void> {
    return this.#opened.reach(revision)
  }

  latest(): Promise<Revision> {
    return this.#opened.latest()
  }

  translate(error: unknown, asked: Revision | undefined): unknown {
    const translated = storageError(error, asked, this.#compacted)
    if (hasCode(translated, "Compacted") && asked !== undefined) this.#noteCompacted(asked)
    return translated
  }

  /** A transaction that may be applied twice. When it resolves, the feed has delivered the current values. */
  async rewrite(request: TxnRequest): Promise<TxnResponse> {
    try {
      const { response } = await this.client.call(this.client.calls.txn, request, "again")
      await this.reach(response.header.revision)
      return response
    } catch (error) {
      throw this.translate(error, undefined)
    }
  }

  readBacklog(request: BacklogRequest): Promise<Backlog> {
    const read = () => readBacklog(this.client, this.#limits, request, (revision) => this.#noteCompacted(revision))
    return this.#reading.run(request.prefix.toString(), read)
  }

  async compact(revision: Revision): Promise<void> {
    const head = revision > this.revision ? await this.latest() : this.revision
    const target = compactionTarget(revision, head)
    if (target <= this.#compacted) return
    try {
      // etcd keeps the compaction revision itself readable.
      await this.client.call(this.client.calls.compact, { revision: target + 1 }, "again")
    } catch (error) {
      // Another process has already compacted more.
      const translated = storageError(error, target, target)
      if (!hasCode(translated, "Compacted")) throw translated
    }
    this.#noteCompacted(target)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#feed?.[Symbol.asyncDispose]()
    this.client.close()
    await this.#compacting
  }

  #noteCompacted(revision: Revision): void {
    this.#compacted = Math.max(this.#compacted, revision)
  }

  /** A read reveals whether anything has been compacted, and a rejected watch reveals how much. */
  async #findCompacted(): Promise<void> {
    const { client } = this
    try {
      const request = { key: this.storesPrefix, count_only: true, revision: 1 }
      await client.call(client.calls.range, request, "again")
    } catch (error) {
      const translated = storageError(error, 1, 0)
      if (!hasCode(translated, "Compacted")) throw translated
      await this.readBacklog({ prefix: this.storesPrefix, after: 0, changes: 1, bytes: 1 }).catch(
        (failure: unknown) => {
          if (!hasCode(failure, "Compacted")) throw failure
        },
      )
    }
  }

  #compactHistory(head: Revision): void {
    if (this.#compacting !== undefined || this.#now() < this.#mayCompactAt) return
    const target = this.#policy.target(head, this.#compacted)
    if (target === undefined) return
    this.#compacting = this.compact(Math.min(target, head - 1))
      .catch((error: unknown) => {
        this.#mayCompactAt = this.#now() + this.#limits.compactRetryMs
        this.#handler.failing(new Error(`the history cannot be compacted: ${errorMessage(error)}`, { cause: error }))
      })
      .finally(() => {
        this.#compacting = undefined
      })
  }
}
