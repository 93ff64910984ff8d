import { expect, test } from "vitest"
import {
  decodeCurrent,
  decodeHistory,
  decodeHistoryKey,
  decodeLogKey,
  decodeLogRecord,
  encodeCurrent,
  encodeHistory,
  encodeLogRecord,
  historyKey,
  logKey,
} from "./keys.ts"

// More than 32 bits, to test both halves.
const large = 0x12_3456_789a

test("records have the documented bytes", () => {
  const state = { key: "/é", value: Buffer.from("v"), createRevision: 2, modRevision: large }
  expect(encodeCurrent(state).toString("hex")).toBe("0000000000000002" + "000000123456789a" + "76")
  expect(logKey(large, 3).toString("hex")).toBe("72" + "000000123456789a" + "0003")
  expect(encodeLogRecord("update", "/é", state).toString("hex")).toBe(
    "02" + "0000000000000002" + "000000123456789a" + "0003" + "2fc3a9" + "76",
  )
  expect(historyKey("/é", 7).toString("hex")).toBe("68" + "2fc3a9" + "00" + "0000000000000007")
  expect(encodeHistory(3, "delete").toString("hex")).toBe("0003" + "03")
})

test("encoded records can be decoded", () => {
  const previous = { key: "/é", value: Buffer.from("v"), createRevision: 2, modRevision: large }
  expect(decodeCurrent("/é", encodeCurrent(previous))).toEqual(previous)
  expect(decodeLogKey(logKey(large, 3))).toEqual({ revision: large, index: 3 })
  const record = { revision: large + 1, index: 0, key: "/é" }
  const decode = (data: Buffer) => decodeLogRecord(logKey(large + 1), data)
  expect(decode(encodeLogRecord("delete", "/é", previous))).toEqual({ ...record, kind: "delete", previous })
  expect(decode(encodeLogRecord("create", "/é", undefined))).toEqual({ ...record, kind: "create", previous: undefined })
  expect(decodeHistoryKey(historyKey("/é", large))).toEqual({ key: "/é", revision: large })
  expect(decodeHistory(encodeHistory(65_535, "update"))).toEqual({ index: 65_535, kind: "update" })
})

test.each([
  ["a current value", () => decodeCurrent("/a", Buffer.alloc(15))],
  ["a log key", () => decodeLogKey(Buffer.alloc(10))],
  ["a log record", () => decodeLogRecord(logKey(1), Buffer.alloc(3, 1))],
  ["a log record's kind", () => decodeLogRecord(logKey(1), Buffer.alloc(40, 9))],
  ["a log record's key", () => decodeLogRecord(logKey(1), Buffer.alloc(19, 1))],
  ["a history key", () => decodeHistoryKey(Buffer.from("habc"))],
  ["a history record", () => decodeHistory(Buffer.alloc(2))],
])("%s that is truncated or unknown throws RangeError", (_name, decode) => {
  expect(decode).toThrow(RangeError)
})
