import { describe, expect, test } from "vitest"
import { matches, parseSelector, printSelector, selectorFromLabelSelector } from "./labels.ts"

const badKey =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const badValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

describe("parseSelector()", () => {
  // kube-apiserver 1.36's messages.
  test.each([
    ["a=b,", "found '', expected: identifier after ','"],
    ["a,,b", "found ',', expected: identifier after ','"],
    ["=x", "found '=', expected: !, identifier, or 'end of string'"],
    ["(", "found '(', expected: !, identifier, or 'end of string'"],
    ["a==b c", "found 'c', expected: ',' or 'end of string'"],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
    ["a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ["a===b", "unable to parse requirement: found '=', expected: identifier"],
    ["a=(", "unable to parse requirement: found '(', expected: identifier"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["!!a", "unable to parse requirement: found '!', expected: identifier"],
    ["a in", "unable to parse requirement: found '' expected: '('"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"],
    [
      "a>x",
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ["-a", `unable to parse requirement: <nil>: Invalid value: "-a": name part ${badKey}`],
    [
      "a/b/c=d",
      `unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key ${badKey} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    ["a=-x", `unable to parse requirement: values[0][a]: Invalid value: "-x": ${badValue}`],
  ])("rejects %s", (text, message) => {
    expect(() => parseSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  test.each([
    ["", ""],
    ["b=1, a!=2", "a!=2,b=1"],
    ["a==1", "a=1"],
    ["x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"],
    ["!a", "!a"],
    ["a>1,b<2", "a>1,b<2"],
    ["a=", "a="],
    ["in in (in,notin)", "in in (in,notin)"],
    ["a in (,)", "a in ()"],
    ["a in (b,)", "a in (,b)"],
  ])("parses %s", (text, printed) => {
    expect(printSelector(parseSelector(text))).toBe(printed)
  })
})

test.each([
  ["a=1", { a: "1" }, true],
  ["a=1", { a: "2" }, false],
  ["a=1", undefined, false],
  ["a!=1", {}, true],
  ["a notin (1,2)", { a: "3" }, true],
  ["a in (1,2)", { a: "2" }, true],
  ["a", { a: "" }, true],
  ["!a", { a: "" }, false],
  ["a>1", { a: "10" }, true],
  ["a<1", { a: "x" }, false],
  ["a=1,b=2", { a: "1" }, false],
  ["constructor", {}, false],
])("%s on %j: %s", (text, labels, expected) => {
  expect(matches(parseSelector(text), labels)).toBe(expected)
})

describe("selectorFromLabelSelector()", () => {
  test("selects nothing if it is missing, and everything if it is empty", () => {
    expect(matches(selectorFromLabelSelector(undefined), { a: "b" })).toBe(false)
    expect(matches(selectorFromLabelSelector({}), { a: "b" })).toBe(true)
  })

  test("combines labels and expressions", () => {
    const selector = selectorFromLabelSelector({
      matchLabels: { b: "1" },
      matchExpressions: [
        { key: "a", operator: "In", values: ["y", "x"] },
        { key: "c", operator: "DoesNotExist" },
      ],
    })
    expect(printSelector(selector)).toBe("a in (x,y),b=1,!c")
  })
})
