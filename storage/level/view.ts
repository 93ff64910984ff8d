// A view is the committed state of a store at one revision: a LevelDB snapshot taken while no transaction is in progress.
// All reads with more than one step use a view, so their result is consistent at exactly `revision`.

import type { AbstractSnapshot } from "abstract-level"
import { baseValue } from "../base-layer.ts"
import type { StoreLimits } from "../limits.ts"
import type { BaseLayer, KeyValue, Revision } from "../types.ts"
import type { Database } from "./database.ts"
import { currentKey, decodeCurrent, tombstoneKey } from "./keys.ts"

/**
 * Shared by the reads that start between two commits. It is closed when the store has retired it, after the next commit, and the
 * last read is done.
 */
export class View {
  readonly database: Database
  readonly base: BaseLayer
  readonly limits: StoreLimits
  readonly snapshot: AbstractSnapshot
  readonly revision: Revision
  #readers = 0
  #retired = false

  constructor(database: Database, base: BaseLayer, limits: StoreLimits, revision: Revision) {
    this.database = database
    this.base = base
    this.limits = limits
    this.snapshot = database.snapshot()
    this.revision = revision
  }

  async read<T>(reader: (view: View) => Promise<T>): Promise<T> {
    this.#readers++
    try {
      return await reader(this)
    } finally {
      this.#readers--
      this.#closeIfUnused()
    }
  }

  retire(): void {
    this.#retired = true
    this.#closeIfUnused()
  }

  // Closing an unused snapshot cannot fail, and closing the database waits for it.
  #closeIfUnused(): void {
    if (this.#retired && this.#readers === 0) void this.snapshot.close()
  }
}

/** The newest state of a key in the view, or, without one, in the database as it is now. */
export function readCurrent(
  database: Database,
  base: BaseLayer,
  key: string,
  snapshot?: AbstractSnapshot,
): KeyValue | undefined {
  const options = snapshot && { snapshot, keyEncoding: "utf8", valueEncoding: "buffer" }
  const data = options ? database.getSync(currentKey(key), options) : database.getSync(currentKey(key))
  if (data !== undefined) return decodeCurrent(key, data)
  const below = baseValue(base, key)
  return below && !isDeletedFromBase(database, key, snapshot) ? below : undefined
}

/** Whether a key of the base layer has been deleted. */
export function isDeletedFromBase(database: Database, key: string, snapshot?: AbstractSnapshot): boolean {
  return database.getSync(tombstoneKey(key), { snapshot }) !== undefined
}
