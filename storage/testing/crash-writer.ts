// A process that may end at any moment: writes under load to the store given, closing it now and then, and says on standard
// output what has been acknowledged, a line each as acknowledged-writes.ts reads it. Until it is killed, or as often as it is told.
//   node crash-writer.ts DIRECTORY ROUND [OPENINGS]

import { writeSync } from "node:fs"
import { openLevelStore } from "../level/store.ts"
import type { Store } from "../types.ts"

const writers = 16
/** Of each, between opening the store and closing it. */
const writes = 20

async function main(directory: string, round: string, openings: number): Promise<void> {
  // Never reached: that it is counted right is part of the check.
  const quota = { prefix: "/crash/", maxObjects: 1e9, maxBytes: 1e12, reserveBytes: 0 }
  const limits = { historyRevisions: 300, writeBufferBytes: 64 * 1024, residentBytes: 16 * 1024 * 1024 }
  for (let first = 0; first < openings * writes; first += writes) {
    await using store = await openLevelStore({ directory, quota, limits, image: true })
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(store, `${round}-${writer}`, first)))
  }
}

// Each writer has its own keys, so that the last acknowledged value of each is known.
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
