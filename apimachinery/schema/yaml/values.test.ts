import { expect, test } from "vitest"
import { convertYaml } from "./convert.ts"

const convert = (text: string): ReturnType<typeof convertYaml> => convertYaml(Buffer.from(text))

// Results of sigs.k8s.io/yaml.
test.each([
  ["", "null"],
  ["Yes", "true"],
  ["yEs", '"yEs"'],
  ["017", "15"],
  ["08", "8"],
  ["0b-11", "-3"],
  ["0X1f", "31"],
  ["1_000", "1000"],
  ["18446744073709551615", "18446744073709551615"],
  ["18446744073709551616", "18446744073709552000"],
  ["1e400", '"1e400"'],
  ["1:30", '"1:30"'],
  ["2001-01-01", '"2001-01-01"'],
  ["!!float 0x1F", "31"],
  ["!!binary 4oI=", '"\ufffd\ufffd"'],
  ["'a\n\n  b'", '"a\\nb"'],
  ['"a\\\n  b"', '"ab"'],
  ["|2\n   a\n\n  b\n\n", '" a\\n\\nb\\n"'],
  [">\n a\n b\n\n c\n  d\n e", '"a b\\nc\\n d\\ne"'],
  ["[a: b, ? c]", '[{"a":"b"},{"c":null}]'],
  ["1e6: a\n0.1: b\n.inf: c\n1: d\nno: e", '{".inf":"c","0.1":"b","1":"d","1e+06":"a","false":"e"}'],
  ["a: &x {b: c}\nd: {b: 1, <<: *x}", '{"a":{"b":"c"},"d":{"b":"c"}}'],
  ["a: b\n---\n[", '{"a":"b"}'],
  ["a\r\nb\u0085c", '"a b c"'],
])("%j is %s", (text, json) => {
  expect(convert(text)).toMatchObject({ json })
})

test("repeated keys are reported with the line of the value", () => {
  const text = "a:\n  1\na:\n  2\n1: a\n'1': b\nc: &c {d: e}\nf: {d: e, <<: *c}"
  expect(convert(text)).toMatchObject({
    repeatedKeys: ['line 4: key "a" already set in map', 'line 7: key "d" already set in map'],
  })
})

test("aliases count as often as they are expanded", () => {
  const lines = Array.from({ length: 9 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]`)
  expect(convert(`a0: &a0 x\n${lines.join("\n")}`)).toEqual({ fault: "yaml: document contains excessive aliasing" })
  const long = `a: &a ${"x".repeat(100_000)}\nb: [${"*a, ".repeat(50)}]`
  expect(convert(long)).toEqual({ isTooLong: true })
  expect(convert("a: &a {b: *a}")).toEqual({ fault: "yaml: anchor 'a' value contains itself" })
})
