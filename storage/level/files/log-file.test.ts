// What of a log file counts as damage, and what as the trace of a power loss.

import { describe, expect, test } from "vitest"
import { crc32c, masked } from "./crc32c.ts"
import { damageIn, endOfLog, recordsOf } from "./log-file.ts"

// RFC 3720, B.4.
test.each<[string, Uint8Array, number]>([
  ["digits", Buffer.from("123456789"), 0xe3_06_92_83],
  ["zeros", new Uint8Array(32), 0x8a_91_36_aa],
  ["ones", new Uint8Array(32).fill(255), 0x62_a8_ab_43],
  ["bytes that rise", Uint8Array.from({ length: 32 }, (_, index) => index), 0x46_dd_79_4e],
])("CRC-32C of %s", (_what, data, checksum) => {
  expect(crc32c(data)).toBe(checksum)
  expect(crc32c(Buffer.concat([Buffer.from("ab"), data, Buffer.from("c")]), 2, 2 + data.length)).toBe(checksum)
})

const blockBytes = 32 * 1024

function fragment(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(7)
  head.writeUInt32LE(masked(crc32c(Buffer.concat([Buffer.from([type]), data]))), 0)
  head.writeUInt16LE(data.length, 4)
  head[6] = type
  return Buffer.concat([head, data])
}

/** As LevelDB writes it. */
function logOf(records: readonly Buffer[]): Buffer {
  let log = Buffer.alloc(0)
  for (const record of records) {
    for (let at = 0, isFirst = true; isFirst || at < record.length; isFirst = false) {
      const left = blockBytes - (log.length % blockBytes)
      if (left < 7) log = Buffer.concat([log, Buffer.alloc(left)])
      const room = blockBytes - (log.length % blockBytes)
      const part = record.subarray(at, at + room - 7)
      at += part.length
      const isLast = at === record.length
      log = Buffer.concat([log, fragment(isFirst ? (isLast ? 1 : 2) : isLast ? 4 : 3, part)])
    }
  }
  return log
}

const record = (bytes: number, of = "x"): Buffer => Buffer.from(of.repeat(bytes))
/** Space ahead of the writes: none, in the same block, over several. */
const spaces = [0, 1000, 100_000]
const withSpace = (log: Buffer, bytes: number): Buffer => Buffer.concat([log, Buffer.alloc(bytes)])
const small = [record(100, "a"), record(3000, "b"), record(10, "c")]
const long = [record(40_000, "a"), record(70_000, "b"), record(5, "c")]

test.each([small, long, [record(blockBytes - 7 - 5), record(1)], [Buffer.alloc(0)], []])(
  "an intact log has its records: %#",
  (...records) => {
    const log = logOf(records)
    for (const space of spaces) {
      const file = withSpace(log, space)
      expect([...recordsOf(file)]).toEqual(records)
      expect(damageIn(file)).toBeUndefined()
      expect(endOfLog(file)).toBe(log.length)
    }
  },
)

test("what is behind the records and is no space counts as part of the log", () => {
  const log = withSpace(logOf(small), 1000)
  log[log.length - 1] = 1
  expect(endOfLog(log)).toBe(log.length)
})

describe("after a power loss", () => {
  test.each([small, long])(
    "the records are those before the sectors that are missing, whatever follows: %#",
    (...records) => {
      const log = logOf(records)
      const ends = records.map((_, index) => logOf(records.slice(0, index + 1)).length)
      for (let start = 0; start < log.length; start += 512) {
        for (const end of [start + 512, start + 4096, Math.ceil((start + 1) / blockBytes) * blockBytes]) {
          const torn = Buffer.from(log).fill(0, start, Math.min(end, log.length))
          expect([...recordsOf(torn)]).toEqual(records.filter((_, index) => (ends[index] ?? 0) <= start))
        }
      }
    },
  )

  test.each([small, long])("the last record ends too early: %#", (...records) => {
    const log = logOf(records)
    for (let length = 0; length < log.length; length += length % 97 === 0 ? 1 : log.length < blockBytes ? 13 : 601) {
      for (const space of spaces)
        expect(damageIn(withSpace(log.subarray(0, length), space)), `${length}, ${space}`).toBeUndefined()
    }
  })

  test.each<[string, number, number]>([
    ["a record", 107, 3114],
    ["its beginning", 107, 1024],
    ["a sector of it", 1024, 1536],
    ["its end", 3100, 3114],
    ["its last two bytes", 3112, 3114],
    ["its last byte", 3113, 3114],
  ])("%s was not written, and what follows was", (_what, start, end) => {
    expect(damageIn(logOf(small).fill(0, start, end))).toBeUndefined()
  })
})

test.each([1, 2, 3, 6, 7])("after a power loss, the first bytes of a record were not written: %i", (bytes) => {
  // The head of the record, after that of the first, begins so many bytes before the end of a sector.
  const log = withSpace(logOf([record(1024 - 7 - bytes), record(1000)]), 100_000)
  expect(damageIn(log.fill(0, 1024 - bytes, 1024))).toBeUndefined()
  // They are zeros, and another byte is not as it was written.
  log[1500]! ^= 1
  expect(damageIn(log)).toBe(bytes > 2 ? undefined : 1024 - bytes)
})

test.each([1, 2, 500])(
  "after a power loss, the last bytes of a block were not written, and what follows was: %i",
  (bytes) => {
    expect(damageIn(logOf(long).fill(0, blockBytes - bytes, blockBytes))).toBeUndefined()
  },
)

describe("a bit that is not as it was written", () => {
  const cases = [small, long].flatMap((records) => [0, 100_000].map((space) => ({ records, space })))
  test.each(cases)("is found wherever it is, with $space bytes of space: %#", ({ records, space }) => {
    const { length } = logOf(records)
    const log = withSpace(logOf(records), space)
    const heads = [...log.keys()].filter((at) => damageStartsAt(log, at))
    for (let at = 0; at < length; at += at % blockBytes < 130 || length - at < 30 ? 1 : 509) {
      for (const bit of [1, 16, 128]) {
        log[at]! ^= bit
        expect(damageIn(log), `${at}, ${bit}`).toBe(heads.findLast((head) => head <= at))
        log[at]! ^= bit
      }
    }
  })

  /** Whether a fragment begins there. */
  function damageStartsAt(log: Buffer, at: number): boolean {
    const type = log[at + 6] ?? 0
    if (type < 1 || type > 4) return false
    const end = at + 7 + log.readUInt16LE(at + 4)
    return end <= log.length && masked(crc32c(log, at + 6, end)) === log.readUInt32LE(at)
  }

  test.each([1, 2])("is found in a record that ends in zeros: %i", (zeros) => {
    const log = logOf([Buffer.concat([record(1000), Buffer.alloc(zeros)]), record(10)])
    expect(damageIn(log)).toBeUndefined()
    log[500]! ^= 1
    expect(damageIn(log)).toBe(0)
  })

  test("is nothing in the space ahead", () => {
    const log = logOf(small)
    for (let at = 0; at < 600; at++) {
      const file = withSpace(log, 100_000)
      file[log.length + at * 31]! ^= 1
      expect(damageIn(file), String(at)).toBeUndefined()
    }
  })

  test("is found in what is cut behind it", () => {
    const log = logOf(small)
    log[50]! ^= 1
    expect(damageIn(log.subarray(0, -5))).toBe(0)
  })
})
