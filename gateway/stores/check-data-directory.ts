// The consistency check of a whole data directory: every store with its base layer, and that each store has an owner. For
// operators; it does not modify data of tenants.

import { statSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { timestamp } from "../../apimachinery/object.ts"
import { checkDirectory } from "../../storage/level/check.ts"
import { StorageError } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { createBootstrap } from "../control-plane/bootstrap.ts"
import { checkRecords, DataDirectory, explain } from "./data-directory.ts"
import { recordsPath, superUid } from "./paths.ts"
import { readSpares } from "./spare-store.ts"
import { readRecords, type TenantRecord } from "../tenancy/tenant-record.ts"

export interface CheckedStore {
  /** "gateway", "super cluster", or `tenant "<name>"`. */
  name: string
  /** Sentences; empty if there are no faults. */
  faults: readonly string[]
}

/** Throws StartError if the directory does not exist, cannot be opened, or is in use by another process. */
export async function* checkDataDirectory(path: string): AsyncGenerator<CheckedStore> {
  const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined
  try {
    if (!exists(path)) throw new StartError(`the data directory "${path}" does not exist`)
    if (!exists(join(path, "format"))) throw new StartError(`"${path}" is not a data directory of polyplane`)
  } catch (error) {
    throw explain(path, error)
  }
  yield { name: "gateway", faults: await checkGatewayStore(path) }
  // Holds the lock from here on: no gateway opens a store that is being read.
  await using data = await DataDirectory.open(path)
  const records = new Map((await readRecords(data.store)).records.map((record) => [record.tenant.uid, record]))
  const spares = new Set(await readSpares(data.store))
  const bootstrap = createBootstrap("", [])
  const uids = await readdir(data.stores)
  for (const uid of uids.sort()) {
    const record = records.get(uid)
    // Nobody's any more, and each start tries to remove what remains.
    if (record?.state === "deleting" || spares.has(uid)) continue
    // The check needs only the keys of the base layer, which are the same for every control plane.
    const base = bootstrap.layer({ uid, createdAt: timestamp() })
    const faults = await faultsOf(join(data.stores, uid), { base, exists: record?.isStored === true })
    yield { name: nameOf(uid, record), faults: [...faults, ...strayFaults(uid, record)] }
  }
  yield* lostStores(records, uids)
}

/** Tenants whose store has been written before and is not there. */
export function* lostStores(
  records: ReadonlyMap<string, TenantRecord>,
  found: Iterable<string>,
): Generator<CheckedStore> {
  const lost = new Map(records)
  for (const uid of found) lost.delete(uid)
  for (const [uid, record] of lost) {
    const { state, isStored } = record
    if (state === "active" && isStored === true)
      yield { name: nameOf(uid, record), faults: [`its store ${uid} is missing`] }
  }
}

async function checkGatewayStore(path: string): Promise<readonly string[]> {
  try {
    await checkRecords(path) // LevelDB would create the directory
    return await checkDirectory(recordsPath(path))
  } catch (error) {
    throw explain(path, error)
  }
}

async function faultsOf(...[directory, options]: Parameters<typeof checkDirectory>): Promise<readonly string[]> {
  try {
    return await checkDirectory(directory, options)
  } catch (error) {
    // A store that cannot be read must not prevent the check of the others.
    if (error instanceof StorageError) return [error.message]
    throw error
  }
}

export function nameOf(uid: string, record: TenantRecord | undefined): string {
  if (uid === superUid) return "super cluster"
  return record === undefined ? `store ${uid}` : `tenant "${record.tenant.name}"`
}

export function strayFaults(uid: string, record: TenantRecord | undefined): string[] {
  return uid === superUid || record !== undefined ? [] : ["it belongs to no tenant"]
}
