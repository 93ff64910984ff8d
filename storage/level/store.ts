// A store on LevelDB: one directory, one owner process. Opening it; what it does then is level-store.ts.

import { emptyBaseLayer } from "../base-layer.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import type { StoreQuota } from "../quota.ts"
import type { BaseLayer, Store } from "../types.ts"
import { hasLeftovers } from "./compaction.ts"
import { accessError, openDatabase, readState } from "./database.ts"
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
}

const noBudget = new ResidentBudget(0)

/** Fails with InUse, Format, Corrupt or Unavailable. */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const limits = withDefaults(options.limits)
  const { residents: budget = noBudget } = options
  const open = () => (options.open ?? openDatabase)({ directory: options.directory, limits })
  const database = await open()
  try {
    const state = await readState(database)
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
