import { describe, expect, test, vi } from "vitest"
import { scanJson, strictFaults } from "./scan.ts"

const duplicate = (path: string): string => `duplicate field ${JSON.stringify(path)}`

describe("scanJson()", () => {
  test.each([
    [
      "tells a key once, however often it is repeated",
      '{"a":1,"a":2,"a":3,"b":[{"c":1,"c":2,"c":3}]}',
      ["a", "b[0].c"],
    ],
    ["tells a key once, in whichever of its parents it is", '{"a":{"b":1,"b":2},"a":{"b":1,"b":2}}', ["a.b", "a"]],
    ["tells paths once that are printed alike", '{"a":{"b":1,"b":1},"a.b":1,"a.b":1,"":{"a.b":1,"a.b":1}}', ["a.b"]],
    [
      "tells indices from keys by their places",
      '{"a":[{"":1,"":1}],"a[0]":{"x":1,"x":1,"":1,"":1}}',
      ["a[0].", "a[0].x"],
    ],
    ["keeps unpaired surrogates apart", '{"\\ud800":1,"\\ud800":1,"\\ufffd":1,"\\ufffd":1}', ["\ud800", "\ufffd"]],
  ])("%s", (_what, text, paths) => {
    expect(scanJson(text).duplicates).toEqual(paths.map(duplicate))
  })

  test("tells 100 keys", () => {
    const keys = Array.from({ length: 150 }, (_, index) => `"${index}":1,"${index}":2`)
    const faults = scanJson(`{${keys.join(",")}}`).duplicates
    expect(faults).toEqual(Array.from({ length: 100 }, (_, index) => duplicate(String(index))))
  })

  test.each([
    ["a key", '"a":1,', ["x.a"]],
    ["an object with a repeated key", '"a":{"b":1,"b":2},', ["x.a.b", "x.a"]],
    ["objects whose paths are printed alike", '"a":{"b":1,"b":2},"a.b":{},"a.b":{},', ["x.a.b", "x.a"]],
  ])("prints each path once: %s", (_what, members, paths) => {
    using print = vi.spyOn(JSON, "stringify")
    const { duplicates } = scanJson(`{"x":{${members.repeat(1000)}"":1}}`)
    expect(print).toHaveBeenCalledTimes(paths.length)
    expect(duplicates).toEqual(paths.map(duplicate))
  })

  test("tells no further keys when their paths are very long together", () => {
    const long = "k".repeat(2 ** 21)
    const text = `{"${long}":{${'"a":{"b":1,"b":2},"c":1,"d":2,'.repeat(20)}"":1}}`
    expect(scanJson(text).duplicates).toEqual([duplicate(`${long}.a.b`), duplicate(`${long}.a`)])
  })
})

describe("strictFaults()", () => {
  test("tells an unknown and a repeated field with one path both", () => {
    const text = '{"a.b":1,"a":{"b":1,"b":2},"a.b":1}'
    expect(strictFaults(text, [["a.b"]])).toEqual(['unknown field "a.b"', duplicate("a.b")])
  })
})
