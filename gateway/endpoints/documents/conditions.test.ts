import { expect, test } from "vitest"
import { conditionOf } from "./conditions.ts"

const validators = { etag: '"a"', madeAt: new Date("2024-01-02T03:04:05.678Z") }
const [before, then, after] = [4, 5, 6].map((second) => `Tue, 02 Jan 2024 03:04:0${second} GMT`) as [
  string,
  string,
  string,
]
const sent = { range: undefined }
const range = "bytes=0-9"

test.each([
  [{}, sent],
  [{ "if-match": '"a"' }, sent],
  [{ "if-match": '"b", "a"' }, sent],
  [{ "if-match": 'W/"a"' }, "failed"],
  [{ "if-match": 'a, "a"' }, "failed"],
  [{ "if-match": "*", "if-unmodified-since": before }, sent],
  [{ "if-unmodified-since": before }, "failed"],
  [{ "if-unmodified-since": then }, sent],
  [{ "if-none-match": 'W/"a"' }, "known"],
  [{ "if-none-match": '"b",,*' }, "known"],
  [{ "if-none-match": '"b"', "if-modified-since": after }, sent],
  [{ "if-modified-since": before }, sent],
  [{ "if-modified-since": then }, "known"],
  [{ "if-modified-since": "never" }, sent],
  [{ "if-modified-since": "2065-10-21T07:28:00Z" }, sent],
  [{ "if-modified-since": "Wed, 21 Oct 2065 07:28:00 +0000" }, sent],
  [{ "if-modified-since": "Wednesday, 21-Oct-65 07:28:00 GMT" }, "known"],
  [{ "if-modified-since": "Tuesday, 21-Oct-69 07:28:00 GMT" }, sent],
  [{ "if-modified-since": "Wed Oct 21 07:28:00 2065" }, "known"],
  [{ "if-modified-since": "Wed Oct  1 07:28:00 2065" }, "known"],
  [{ "if-none-match": "", "if-modified-since": after }, "known"],
  [{ range }, { range }],
  [{ range, "if-range": '"a"' }, { range }],
  [{ range, "if-range": 'W/"a"' }, sent],
  [{ range, "if-range": then }, { range }],
  [{ range, "if-range": after }, sent],
])("%j: %j", (headers, expected) => {
  expect(conditionOf(headers, "GET", validators)).toEqual(expected)
})

test("for writes, a matching If-None-Match fails, and times are ignored", () => {
  expect(conditionOf({ "if-none-match": '"a"' }, "POST", validators)).toBe("failed")
  expect(conditionOf({ "if-modified-since": after }, "POST", validators)).toEqual(sent)
})

test("a response without an entity tag matches only a wildcard", () => {
  const { madeAt } = validators
  expect(conditionOf({ "if-match": '"a"' }, "GET", { madeAt })).toBe("failed")
  expect(conditionOf({ "if-none-match": '"undefined"' }, "GET", { madeAt })).toEqual(sent)
  expect(conditionOf({ "if-none-match": "*" }, "GET", { madeAt })).toBe("known")
})
