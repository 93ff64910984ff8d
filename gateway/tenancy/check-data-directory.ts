// The consistency check of a whole data directory: every store with what it stands on, and that each belongs to somebody.
// For an operator with doubts; nothing of tenants is changed.

import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { timestamp } from "../../apimachinery/object.ts"
import { checkDirectory } from "../../storage/level/check.ts"
import { StorageError } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { createBootstrap } from "./bootstrap.ts"
import { DataDirectory, explain, superUid } from "./data-directory.ts"
import { readRecords, type TenantRecord } from "./tenant-record.ts"

export interface CheckedStore {
  /** "gateway", "super cluster", or `tenant "<name>"`. */
  name: string
  /** Sentences; none when all is well. */
  faults: readonly string[]
}

/** Fails with StartError when there is no such directory, it cannot be opened, or a process has it open. */
export async function* checkDataDirectory(path: string): AsyncGenerator<CheckedStore> {
  if (!existsSync(path)) throw new StartError(`the data directory "${path}" does not exist`)
  if (!existsSync(join(path, "format"))) throw new StartError(`"${path}" is not a data directory of polyplane`)
  yield { name: "gateway", faults: await checkGatewayStore(path) }
  // From here on it holds the lock: no gateway opens a store that is being read.
  await using data = await DataDirectory.open(path)
  const records = new Map((await readRecords(data.store)).records.map((record) => [record.tenant.uid, record]))
  const bootstrap = createBootstrap("", [])
  for (const uid of (await readdir(data.stores)).sort()) {
    const record = records.get(uid)
    if (record?.state === "deleting") continue // what is left of it goes at the next start
    // Which keys the base has is all that the check asks for; they are the same for every control plane.
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
    // One store that cannot be read says nothing about the others.
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
