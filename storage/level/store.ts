// Opens a store on LevelDB: one directory, one owner process. level-store.ts implements the store.

import { emptyBaseLayer } from "../base-layer.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import type { StoreQuota } from "../quota.ts"
import type { BaseLayer, Store } from "../types.ts"
import { hasLeftovers } from "./compaction.ts"
import { accessError, openDatabase, readState, type OpenedDatabase } from "./database.ts"
import { Allowance } from "./allowance.ts"
import { readImage, writeImage } from "./image.ts"
import { LevelStore, type LevelStoreParts } from "./level-store.ts"
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
  /**
   * Its current values are kept in a file of their own when it is closed (image.ts): then it opens in a fraction of the time, and
   * takes LevelDB's lock only when that is needed. For who knows that no other process opens it. Default: no.
   */
  image?: boolean
  /** The directory, opened ahead of time (openAhead): who gives it away has nothing more to do with it. */
  ahead?: OpenedDatabase
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
  const { directory, ahead, residents: budget = noBudget, base = emptyBaseLayer } = options
  const limits = withDefaults(options.limits)
  const residency = new Residency({ base, ownBytes: limits.residentBytes, budget })
  const allowance = new Allowance(options.quota)
  const open = () => openAhead(options)
  const parts = { residency, allowance, open, limits, base, now: options.now, ...imageOf(options) }
  const image = options.image === true && ahead === undefined ? await readImage(directory) : undefined
  if (image !== undefined && allowance.beginWith(image) && residency.beginWith(image.entries))
    return new LevelStore({ ...parts, database: undefined, state: image })
  const { database, state } = ahead ?? (await open())
  try {
    if (state.fresh) residency.beginEmpty()
    else await residency.open(database)
    await allowance.open(database, state)
    const store = new LevelStore({ ...parts, database, state })
    if (!state.fresh && (await hasLeftovers(database, state.compacted))) store.resumeCompaction()
    return store
  } catch (error) {
    await database.close()
    throw accessError(error, directory)
  }
}

function imageOf({ image, directory }: LevelStoreOptions): Pick<LevelStoreParts, "closed"> {
  if (image !== true) return {}
  // Where it cannot be written, the store is opened from LevelDB the next time, as it would be without.
  return { closed: (written) => writeImage(directory, written).catch(() => undefined) }
}
