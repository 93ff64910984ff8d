// LevelDB's manifest: which files make a database. A log file (log-file.ts) whose records are changes of that. Source: LevelDB's
// db/version_edit.cc.

import { recordsOf } from "./log-file.ts"
import { VarintReader } from "./varint.ts"

/** The files of a database, by number. */
export interface LiveFiles {
  tables: ReadonlySet<number>
  /** Whether a log has writes that are in no table. */
  isLive(log: number): boolean
}

type Change = (reader: VarintReader, files: State) => void

interface State {
  tables: Set<number>
  log: number
  previousLog: number
}

/** By tag. */
const changes: Readonly<Record<number, Change>> = {
  1: (reader) => void reader.text(), // the comparator's name
  2: (reader, files) => (files.log = reader.integer()),
  3: (reader) => void reader.integer(), // the next file's number
  4: (reader) => void reader.integer(), // the last sequence number
  5: (reader) => {
    reader.integer() // level
    reader.text() // the key where its next compaction begins
  },
  6: (reader, files) => {
    reader.integer() // level
    files.tables.delete(reader.integer())
  },
  7: (reader, files) => {
    reader.integer() // level
    files.tables.add(reader.integer())
    reader.integer() // size
    reader.text() // first key
    reader.text() // last key
  },
  9: (reader, files) => (files.previousLog = reader.integer()),
}

/** Of a manifest that ends too early, what its whole records say. Throws RangeError if it is none. */
export function liveFiles(manifest: Buffer): LiveFiles {
  const files: State = { tables: new Set(), log: 0, previousLog: 0 }
  for (const record of recordsOf(manifest)) {
    const reader = new VarintReader(record)
    while (!reader.atEnd) {
      const tag = reader.integer()
      const change = changes[tag]
      if (change === undefined) throw new RangeError(`no tag of a manifest: ${tag}`)
      change(reader, files)
    }
  }
  const { tables, log, previousLog } = files
  return { tables, isLive: (number) => number >= log || number === previousLog }
}
