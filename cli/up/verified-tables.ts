// Verifies the tables of the stores that a start opens in a thread of its own, while the main one loads the program. With 10,000 tenants
// that would hold the main thread for as long as a third of the loading.

import { readdirSync } from "node:fs"
import { Worker } from "node:worker_threads"
import { failureFields, type Log } from "../../client/log.ts"
import { recordsPath, storePath, superUid } from "../../gateway/stores/paths.ts"
import type { VerifiedTables } from "../../storage/level/files/verify.ts"

/** Tables have up to 2 MiB: verifying fewer takes no longer than starting a thread. */
const fewTables = 8

/**
 * Resolves to what has been verified, and never rejects: what is damaged, or was not verified for any reason, is left out, and whoever opens it
 * verifies it and reports the fault.
 */
export function verifyTables(dataDir: string, log: Log, few = fewTables): Promise<VerifiedTables> {
  const directories = [recordsPath(dataDir), storePath(dataDir, superUid)]
  if (directories.every((directory) => tablesIn(directory) < few)) return Promise.resolve(new Map())
  return verifiedBy(directories).catch((error: unknown) => {
    log.warn(failureFields(error), "tables are verified when they are opened")
    return new Map()
  })
}

async function verifiedBy(directories: readonly string[]): Promise<VerifiedTables> {
  const { promise, resolve, reject } = Promise.withResolvers<VerifiedTables>()
  const worker = new Worker(new URL("verified-tables.mjs", import.meta.url), { workerData: directories })
  worker.once("message", resolve)
  worker.once("error", reject)
  worker.once("exit", (code) => reject(new Error(`the thread that verifies tables has ended with ${code}`)))
  return promise
}

/** Does not wait, since loading the program does not let others continue. */
function tablesIn(directory: string): number {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".ldb")).length
  } catch {
    return 0
  }
}
