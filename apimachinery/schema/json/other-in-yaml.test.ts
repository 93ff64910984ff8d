import { expect, test } from "vitest"
import { isOtherInYaml } from "./other-in-yaml.ts"

const key = (length: number, more = ":1"): string => `{"a":"b","${"k".repeat(length)}"${more}}`

test.each<[text: string, isOther: boolean]>([
  ['{"a":"b c","d":["\\n\\t\\"\\\\u00e9"]}', false],
  ['{"a":"é\u{1F600}中"}', false],
  ['{\n  "a": "b",\n  "c": {\n    "d": 1\n  }\n}\n', false],
  [String.raw`{"a":"x\/y"}`, true],
  [String.raw`{"a":"x\\/y"}`, false],
  [String.raw`{"a":"x\\\/y"}`, true],
  [String.raw`{"a":"\ud83d\ude00"}`, true],
  [String.raw`{"a":"\\ud83d"}`, false],
  ['{"a":"\x7f"}', true],
  ['{"a":"\x85"}', true],
  ['{"a":"\u2028"}', true],
  ['{"a":"\ufeff"}', true],
  ['{"a":"\uffff"}', true],
  ['{"a"\n:"b"}', true],
  ['{"a" \r\n \t:"b"}', true],
  ['{"a" :"b",\n"c":1}', false],
  [key(900), false],
  [key(1_001), true],
  [key(1_300, " \t:1"), true],
  [key(20_000), true],
  [key(20_000, ":1").slice(8), true],
  [key(5_000, "").replace(/,/, ":[") + "]", false],
  [`{"a":"${"x".repeat(5_000)}","b":"${"y".repeat(5_000)}"}`, false],
  [`[${"1,".repeat(5_000)}"a"]`, false],
])("%.40j: %s", (text, isOther) => {
  expect(isOtherInYaml(Buffer.from(text))).toBe(isOther)
})

test("a long key is found wherever it is", () => {
  for (let before = 0; before < 1_100; before += 7)
    expect(isOtherInYaml(Buffer.from(`{"a":"${"x".repeat(before)}","${"k".repeat(1_050)}":1}`)), String(before)).toBe(
      true,
    )
})
