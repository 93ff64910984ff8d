// A record of LevelDB's write-ahead log: the writes of one batch. Source: LevelDB's db/write_batch.cc.
//
//   sequence number(8) count(4), then for each write: type(1) key, and value if it is put. Keys and values are behind their lengths.

import { VarintReader } from "./varint.ts"

const headBytes = 12
const types = { deletion: 0, put: 1 } as const

export interface LoggedWrite {
  key: Buffer
  /** Undefined: it deletes the key. */
  value: Buffer | undefined
}

/** Throws RangeError if it is no batch. */
export function* writesOf(record: Buffer): Generator<LoggedWrite> {
  const reader = new VarintReader(record, headBytes)
  while (!reader.atEnd) {
    const type = reader.bytes(1)[0]
    if (type !== types.put && type !== types.deletion) throw new RangeError(`a batch has a write of type ${type}`)
    yield { key: reader.text(), value: type === types.put ? reader.text() : undefined }
  }
}
