import { expect, test } from "vitest"
import { partsOf } from "./ranges.ts"

const whole = { start: 0, length: 10 }

test.each([
  ["bytes=0-9", [whole]],
  ["bytes= 0 - 99 ", [whole]],
  ["bytes=+2-", [{ start: 2, length: 8 }]],
  ["bytes=9-9", [{ start: 9, length: 1 }]],
  ["bytes=-3", [{ start: 7, length: 3 }]],
  ["bytes=-99", [whole]],
  ["bytes=-0", [{ start: 10, length: 0 }]],
  ["bytes=", []],
  ["bytes=, ,", []],
  ["bytes=0-0,", [{ start: 0, length: 1 }]],
  ["bytes=0-0,10-", [{ start: 0, length: 1 }]],
  [
    "bytes=0-0,9-",
    [
      { start: 0, length: 1 },
      { start: 9, length: 1 },
    ],
  ],
  ["bytes=10-", "beyond"],
  ["bytes=10-1", "beyond"],
  ["bytes=9-8", undefined],
  ["bytes=0-0,9-8", undefined],
  ["bytes=-", undefined],
  ["bytes=--1", undefined],
  ["bytes=1", undefined],
  ["bytes=a-", undefined],
  ["bytes=0-9223372036854775808", undefined],
  ["lines=0-9", undefined],
  ["Bytes=0-9", undefined],
])("%j of ten bytes: %j", (range, expected) => {
  expect(partsOf(range, 10)).toEqual(expected)
})
