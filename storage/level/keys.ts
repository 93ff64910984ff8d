// The layout on disk, byte by byte. One LevelDB holds five tables, told apart by the first byte of the key:
//
//   meta         "m" name                                       → text
//                     name "format": decimal format version, written first of all
//                     name "compacted": decimal, absent = 0. History at or below this revision is removed or being removed.
//                     name "usage": objects SPACE bytes, decimal: usage of the current table under the quota's prefix;
//                                   absent without a quota
//
//   current      "c" key                                        → create(8) mod(8) value(…)
//   tombstone    "t" key                                        → (empty)
//                     a key of the base layer that has been deleted; never together with "c" key
//
//   revision log "r" revision(8) index(2)                       → kind(1) prevCreate(8) prevMod(8) keyLength(2) key prevValue(…)
//                     one per change: the state of the key BEFORE it. kind 1 create (prev… are 0 and empty), 2 update,
//                     3 delete. index counts the changes of one transaction from 0.
//   history      "h" key 0x00 revision(8)                       → index(2) kind(1)
//                     one per record of the revision log, found by key
//
// key is UTF-8 without NUL, so that "h" entries sort by key, then revision. Integers are unsigned, big endian.
//
// The log is an undo log. The state of a key at revision R is the value that the first change after R replaced, or the current
// value if the key has not changed since. Every value is therefore stored once, a compaction removes the oldest part of the log,
// and each readable change has its previous value. See docs/decisions/0001.
//
// The log contains every revision in (compacted + 1, head] without gaps; head needs no separate record.

import type { KeyValue, Revision } from "../types.ts"

export const formatVersion = 1

export const metaFormat = "mformat"
export const metaCompacted = "mcompacted"
export const metaUsage = "musage"

export const tables = { meta: "m", current: "c", tombstone: "t", log: "r", history: "h" } as const

export const logKeyBytes = 11
const currentHeaderBytes = 16
const logHeaderBytes = 19

const changeKinds = ["create", "update", "delete"] as const

export type ChangeKind = (typeof changeKinds)[number]

/** One record of the revision log. */
export interface LogRecord {
  revision: Revision
  index: number
  kind: ChangeKind
  key: string
  /** Absent for create. */
  previous: KeyValue | undefined
}

export function currentKey(key: string): string {
  return tables.current + key
}

export function tombstoneKey(key: string): string {
  return tables.tombstone + key
}

export function encodeCurrent(state: KeyValue): Buffer {
  const buffer = Buffer.allocUnsafe(currentHeaderBytes + state.value.byteLength)
  writeRevision(buffer, state.createRevision, 0)
  writeRevision(buffer, state.modRevision, 8)
  buffer.set(state.value, currentHeaderBytes)
  return buffer
}

export function decodeCurrent(key: string, data: Buffer): KeyValue {
  if (data.length < currentHeaderBytes) throw new RangeError(`current record of "${key}" has ${data.length} bytes`)
  return {
    key,
    value: data.subarray(currentHeaderBytes),
    createRevision: readRevision(data, 0),
    modRevision: readRevision(data, 8),
    found: undefined,
  }
}

/** Without an index: the lower bound of the revision's records. */
export function logKey(revision: Revision, index = 0): Buffer {
  const buffer = Buffer.allocUnsafe(logKeyBytes)
  buffer.write(tables.log, 0, "latin1")
  writeRevision(buffer, revision, 1)
  buffer.writeUInt16BE(index, 9)
  return buffer
}

/** Above all records of the log. */
export const logEnd = Buffer.from("s")

export function decodeLogKey(data: Buffer): { revision: Revision; index: number } {
  if (data.length !== logKeyBytes) throw new RangeError(`log key has ${data.length} bytes`)
  return { revision: readRevision(data, 1), index: data.readUInt16BE(9) }
}

export function encodeLogRecord(kind: ChangeKind, key: string, previous: KeyValue | undefined): Buffer {
  const keyLength = Buffer.byteLength(key)
  const value = previous?.value
  const buffer = Buffer.allocUnsafe(logHeaderBytes + keyLength + (value?.byteLength ?? 0))
  buffer[0] = changeKinds.indexOf(kind) + 1
  writeRevision(buffer, previous?.createRevision ?? 0, 1)
  writeRevision(buffer, previous?.modRevision ?? 0, 9)
  buffer.writeUInt16BE(keyLength, 17)
  buffer.write(key, logHeaderBytes, "utf8")
  if (value) buffer.set(value, logHeaderBytes + keyLength)
  return buffer
}

export function decodeLogRecord(logKeyData: Buffer, data: Buffer): LogRecord {
  const { revision, index } = decodeLogKey(logKeyData)
  const kind = changeKinds[(data[0] ?? 0) - 1]
  if (!kind || data.length < logHeaderBytes) throw new RangeError(`log record ${revision}/${index} cannot be read`)
  const valueStart = logHeaderBytes + data.readUInt16BE(17)
  if (valueStart > data.length) throw new RangeError(`log record ${revision}/${index} is cut off`)
  const key = data.toString("utf8", logHeaderBytes, valueStart)
  if (kind === "create") return { revision, index, kind, key, previous: undefined }
  const previous = {
    key,
    value: data.subarray(valueStart),
    createRevision: readRevision(data, 1),
    modRevision: readRevision(data, 9),
    found: undefined,
  }
  return { revision, index, kind, key, previous }
}

export function historyKey(key: string, revision: Revision): Buffer {
  const length = 1 + Buffer.byteLength(key)
  const buffer = Buffer.allocUnsafe(length + 9)
  buffer.write(tables.history + key, 0, "utf8")
  buffer[length] = 0
  writeRevision(buffer, revision, length + 1)
  return buffer
}

export function decodeHistoryKey(data: Buffer): { key: string; revision: Revision } {
  const keyEnd = data.length - 9
  if (keyEnd < 1 || data[keyEnd] !== 0) throw new RangeError(`history key of ${data.length} bytes cannot be read`)
  return { key: data.toString("utf8", 1, keyEnd), revision: readRevision(data, keyEnd + 1) }
}

export function encodeHistory(index: number, kind: ChangeKind): Buffer {
  const buffer = Buffer.allocUnsafe(3)
  buffer.writeUInt16BE(index)
  buffer[2] = changeKinds.indexOf(kind) + 1
  return buffer
}

export function decodeHistory(data: Buffer): { index: number; kind: ChangeKind } {
  const kind = changeKinds[(data[2] ?? 0) - 1]
  if (!kind || data.length !== 3) throw new RangeError(`history record of ${data.length} bytes cannot be read`)
  return { index: data.readUInt16BE(0), kind }
}

// Revisions are safe integers: 53 bits of the 64 are used.
function writeRevision(buffer: Buffer, revision: Revision, offset: number): void {
  buffer.writeUInt32BE(Math.floor(revision / 0x1_0000_0000), offset)
  buffer.writeUInt32BE(revision >>> 0, offset + 4)
}

function readRevision(buffer: Buffer, offset: number): Revision {
  return buffer.readUInt32BE(offset) * 0x1_0000_0000 + buffer.readUInt32BE(offset + 4)
}
