// A store on LevelDB: one directory, one owner process. Opening it; what it does then is level-store.ts.

import { emptyBaseLayer } from "../base-layer.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import type { StoreQuota } from "../quota.ts"
import type { BaseLayer, Store } from "../types.ts"
import { hasLeftovers } from "./compaction.ts"
import { accessError, openDatabase, readState, type Database, type DatabaseState } from "./database.ts"
import { Allowance } from "./allowance.ts"
import { LevelStore } from "./level-store.ts"
import { Residency } from "./residency.ts"
import { ResidentBudget } from "./resident.ts"

export interface LevelStoreOptions {
  directory: string
  base?: BaseLayer
  limits?: Partial<StoreLimits>
  /** Milliseconds, for the age of history. */
  now?: () => number
  /** What large stores of the process may keep in memory together. Default: nothing. */
  residents?: ResidentBudget
  /** What it may hold. Default: without limit. */
  quota?: StoreQuota
  /** How the database is opened: tests put a failing disk here. */
  open?: typeof openDatabase
  /** The directory, opened ahead of time (openAhead): who gives it away has nothing more to do with it. */
  ahead?: OpenedDatabase
}

/** A directory that is open and known to be a store, and no store yet: base, quota and budget are still to be named. */
export interface OpenedDatabase {
  database: Database
  state: DatabaseState
}

const noBudget = new ResidentBudget(0)

/** Most of the time that opening takes. Fails as openLevelStore does. */
export async function openAhead(
  options: Pick<LevelStoreOptions, "directory" | "limits" | "open">,
): Promise<OpenedDatabase> {
  const database = await (options.open ?? openDatabase)({
    directory: options.directory,
    limits: withDefaults(options.limits),
  })
  try {
    return { database, state: await readState(database) }
  } catch (error) {
    await database.close()
    throw accessError(error, options.directory)
  }
}

/** Fails with InUse, Format, Corrupt or Unavailable. */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const limits = withDefaults(options.limits)
  const { residents: budget = noBudget } = options
  const open = () => (options.open ?? openDatabase)({ directory: options.directory, limits })
  const { database, state } = options.ahead ?? (await openAhead(options))
  try {
    const base = options.base ?? emptyBaseLayer
    const residency = new Residency({ base, ownBytes: limits.residentBytes, budget })
    if (state.fresh) residency.beginEmpty()
    else await residency.open(database)
    const allowance = new Allowance(options.quota)
    await allowance.open(database, state)
    const store = new LevelStore({ database, state, residency, open, limits, base, now: options.now, allowance })
    if (!state.fresh && (await hasLeftovers(database, state.compacted))) store.resumeCompaction()
    return store
  } catch (error) {
    await database.close()
    throw accessError(error, options.directory)
  }
}
