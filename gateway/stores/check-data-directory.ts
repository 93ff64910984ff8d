// The consistency check of a whole data directory: every store with its base layer, and that each store has an owner. For
// operators; it does not modify data of tenants.

import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { timestamp } from "../../apimachinery/object.ts"
import { checkDirectory } from "../../storage/level/check.ts"
import { StorageError } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { createBootstrap } from "../control-plane/bootstrap.ts"
import { DataDirectory, explain, superUid } from "./data-directory.ts"
import { readRecords, type TenantRecord } from "../tenancy/tenant-record.ts"

export interface CheckedStore {
  /** "gateway", "super cluster", or `tenant "<name>"`. */
  name: string
  /** Sentences; empty if there are no faults. */
  faults: readonly string[]
}

/** Throws StartError if the directory does not exist, cannot be opened, or is in use by another process. */
export async function* checkDataDirectory(path: string): AsyncGenerator<CheckedStore> {
  if (!existsSync(path)) throw new StartError(`the data directory "${path}" does not exist`)
  if (!existsSync(join(path, "format"))) throw new StartError(`"${path}" is not a data directory of polyplane`)
  yield { name: "gateway", faults: await checkGatewayStore(path) }
  // Holds the lock from here on: no gateway opens a store that is being read.
  await using data = await DataDirectory.open(path)
  const records = new Map((await readRecords(data.store)).records.map((record) => [record.tenant.uid, record]))
  const bootstrap = createBootstrap("", [])
  for (const uid of (await readdir(data.stores)).sort()) {
    const record = records.get(uid)
    if (record?.state === "deleting") continue // the next start removes the remaining data
    // The check needs only the keys of the base layer, which are the same for every control plane.
    const base = bootstrap.layer({ uid, createdAt: timestamp() })
    const faults = await faultsOf(join(data.stores, uid), { base })
    yield { name: nameOf(uid, record), faults: [...faults, ...strayFaults(uid, record)] }
  }
}

async function checkGatewayStore(path: string): Promise<readonly string[]> {
  try {
    return await checkDirectory(join(path, "gateway"))
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
