// A process that may be killed at any moment: writes under load to the given store, reopening it regularly, and prints each
// acknowledged write as a line, in the format of acknowledged-writes.ts. Runs until it is killed, or for the given number of
// openings.
//   node crash-writer.ts DIRECTORY ROUND [OPENINGS]

import { writeSync } from "node:fs"
import { openLevelStore } from "../level/store.ts"
import type { Store } from "../types.ts"

const writers = 16
/** Number of writes of each writer between opening and closing the store. */
const writes = 20

async function main(directory: string, round: string, openings: number): Promise<void> {
  // The quota is never reached; the check verifies that usage is counted correctly.
  const quota = { prefix: "/crash/", maxObjects: 1e9, maxBytes: 1e12, reserveBytes: 0 }
  const limits = {
    historyRevisions: 300,
    writeBufferBytes: 64 * 1024,
    residentBytes: 16 * 1024 * 1024,
  }
  for (let first = 0; first < openings * writes; first += writes) {
    await using store = await openLevelStore({ directory, quota, limits, image: true })
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(store, `${round}-${writer}`, first)))
  }
}

// Each writer has its own keys, so that the last acknowledged value of each key is known.
async function write(store: Store, writer: string, first: number): Promise<void> {
  for (let i = first; i < first + writes; i++) {
    const key = `/crash/${writer}/${i % 10}`
    const value = i % 7 === 6 ? "-" : `${i}`.padEnd(1 + ((i * 97) % 2000), ".")
    const operation =
      value === "-" ? ({ type: "delete", key } as const) : ({ type: "put", key, value: Buffer.from(value) } as const)
    const { revision } = await store.txn({ compare: [], operations: [operation] })
    writeSync(1, `${revision} ${key} ${value}\n`)
  }
}

await main(process.argv[2] ?? "", process.argv[3] ?? "", Number(process.argv[4] ?? Infinity))
