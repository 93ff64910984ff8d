// The quota usage of a store across restarts. Each commit records it; it is counted once if the store was written without
// a quota before.

import { prefixEnd } from "../key-order.ts"
import { encodeUsage, usageOf, type StoreQuota, type Usage } from "../quota.ts"
import { Cursor } from "./cursor.ts"
import type { Database } from "./database.ts"
import { decodeCurrent, metaUsage, tables } from "./keys.ts"
import type { Write } from "./revision-log.ts"
import type { DatabaseState } from "./state.ts"

export class Allowance {
  readonly #quota: StoreQuota | undefined
  #used: Usage | undefined
  /** A record exists but is not maintained: it must be deleted before it becomes wrong. */
  #isStale = false

  constructor(quota: StoreQuota | undefined) {
    this.#quota = quota
  }

  /** The committed state, from which `state` has been read. */
  async open(database: Database, state: Pick<DatabaseState, "usage">): Promise<void> {
    if (!this.beginWith(state)) this.#used = this.#quota && (await count(database, this.#quota))
  }

  /** false: the usage must be counted. */
  beginWith({ usage }: Pick<DatabaseState, "usage">): boolean {
    this.#isStale = this.#quota === undefined && usage !== undefined
    this.#used = this.#quota === undefined ? undefined : usage
    return this.#quota === undefined || usage !== undefined
  }

  /** The usage in its recorded form. */
  get recorded(): Usage | undefined {
    return this.#used
  }

  get current(): { quota: StoreQuota; used: Usage } | undefined {
    return this.#quota === undefined || this.#used === undefined ? undefined : { quota: this.#quota, used: this.#used }
  }

  /** The record to write with a commit that changes the usage to `usage`. */
  writes(usage: Usage | undefined): Write[] {
    if (this.#isStale) return [{ type: "del", key: metaUsage, keyEncoding: "utf8" }]
    if (usage === undefined) return []
    return [{ type: "put", key: metaUsage, value: encodeUsage(usage), keyEncoding: "utf8" }]
  }

  committed(usage: Usage | undefined): void {
    this.#isStale = false
    this.#used = usage
  }
}

async function count(database: Database, quota: StoreQuota): Promise<Usage> {
  const used: Usage = { objects: 0, bytes: 0 }
  const start = tables.current + quota.prefix
  await using entries = new Cursor<string>(database, { gte: start, lt: prefixEnd(start) ?? "", keyEncoding: "utf8" })
  for await (const [key, data] of entries) {
    const { objects, bytes } = usageOf(decodeCurrent(key.slice(1), data), quota)
    used.objects += objects
    used.bytes += bytes
  }
  return used
}
