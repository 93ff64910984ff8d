// Opens a store on LevelDB: one directory, one owner process. level-store.ts implements the store.

import { emptyBaseLayer } from "../base-layer.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import type { StoreQuota } from "../quota.ts"
import type { BaseLayer, Revision, Store } from "../types.ts"
import { accessError } from "./database.ts"
import { checkPresence, openDatabase } from "./open-database.ts"
import type { VerifiedTables } from "./files/verify.ts"
import { Allowance } from "./allowance.ts"
import { type Image, readImage, writeImage } from "./image.ts"
import { LevelStore } from "./level-store.ts"
import { Residency } from "./residency.ts"
import { ResidentBudget } from "./resident.ts"
import { readState, type OpenedDatabase } from "./state.ts"

export interface LevelStoreOptions {
  directory: string
  base?: BaseLayer
  limits?: Partial<StoreLimits>
  /** Milliseconds that have elapsed, for the age of history. Default: performance.now(). */
  now?: () => number
  /** Memory that large stores of the process may use together. Default: none. */
  residents?: ResidentBudget
  /** The maximum size of the store. Default: unlimited. */
  quota?: StoreQuota
  /** It has been written before: if it is not there, it is Corrupt. Default: it is created. */
  exists?: boolean
  /** Opens the database; tests inject a failing disk here. */
  open?: typeof openDatabase
  /**
   * Writes the current values to a file when the store is closed (image.ts), so that it opens in a fraction of the time and takes
   * LevelDB's lock only when needed. The caller must know that no other process opens the store. Default: no.
   */
  image?: boolean
  /** What this process has verified of the stores that it opens again and again. Default: all is verified each time. */
  verified?: VerifiedTables
  /** The directory, opened ahead of time (openAhead); the store owns it. */
  ahead?: OpenedDatabase
}

const noBudget = new ResidentBudget(0)

/** Performs the slow part of opening a store, which has been at a revision before. Throws the same errors as openLevelStore. */
export async function openAhead(
  options: Pick<LevelStoreOptions, "directory" | "limits" | "open" | "exists" | "verified">,
  atLeast: Revision = 0,
): Promise<OpenedDatabase> {
  const { directory, exists = false } = options
  if (exists) checkPresence(directory)
  const database = await (options.open ?? openDatabase)({
    directory,
    limits: withDefaults(options.limits),
    create: !exists,
    verified: options.verified,
  })
  try {
    return { database, state: await readState(database, { exists, atLeast }) }
  } catch (error) {
    await database.close()
    throw accessError(error, directory)
  }
}

/** Throws InUse, Format, Corrupt or Unavailable. */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const { directory, ahead, residents: budget = noBudget, base = emptyBaseLayer } = options
  const limits = withDefaults(options.limits)
  const residency = new Residency({ base, ownBytes: limits.residentBytes, budget })
  const allowance = new Allowance(options.quota)
  const open = (atLeast: Revision) => openAhead(options, atLeast)
  const { image: hasImage = false, now } = options
  // If it cannot be written, the store is opened from LevelDB the next time.
  const noted = (state: Image): Promise<void> => writeImage(directory, state).catch(() => undefined)
  const parts = { residency, allowance, open, limits, base, now, hasImage, noted }
  const image = ahead === undefined ? await readImage(directory) : undefined
  const values = hasImage ? image?.entries : undefined
  if (image !== undefined && values !== undefined && allowance.beginWith(image) && residency.beginWith(values))
    return new LevelStore({ ...parts, database: undefined, state: image })
  const { database, state } = ahead ?? (await open(image?.head ?? 0))
  try {
    if (state.fresh) residency.beginEmpty()
    else await residency.open(database)
    await allowance.open(database, state)
    const store = new LevelStore({ ...parts, database, state })
    if (!state.fresh) await store.found(database)
    return store
  } catch (error) {
    await database.close()
    throw accessError(error, directory)
  }
}
