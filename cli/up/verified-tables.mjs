// The thread of verified-tables.ts. As in cli/polyplane.mjs, modules are loaded when their compiled code can be found.

import { parentPort, workerData } from "node:worker_threads"
import "../runtime/module-loading.mjs"

const { verifyFiles } = await import("../../storage/level/files/verify.ts")
const verified = new Map()
for (const directory of workerData) {
  try {
    await verifyFiles(directory, verified)
  } catch {
    // Reported by whoever opens the store.
  }
}
parentPort?.postMessage(verified)
