import { describe, expect, test } from "vitest"
import { parseObject } from "./parse.ts"

describe("parseObject()", () => {
  const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): "
  const gvk = `${unrecognized}couldn't get version/kind; json parse error: `
  test.each([
    [
      "json",
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"',
      `${gvk}unexpected end of JSON input ({"apiVersion":"v1","kind":"Con ...)`,
    ],
    ["json", '{"a":1} x', `${gvk}invalid character 'x' after top-level value ({"a":1} x)`],
    ["json", "", `${gvk}unexpected end of JSON input (<empty>)`],
    ["json", "x", `${gvk}invalid character 'x' looking for beginning of value (78)`],
    [
      "json",
      '{"apiVersion":5,"kind":"Pod"}',
      `${gvk}json: cannot unmarshal number into Go struct field .apiVersion of type string ({"apiVersion":5,"kind":"Pod"})`,
    ],
    ["yaml", "a: *x", `${unrecognized}yaml: unknown anchor 'x' referenced (613a202a78)`],
    ["yaml", "a: &a [*a]", `${unrecognized}yaml: anchor 'a' value contains itself (613a202661205b2a615d)`],
  ] as const)("%s %s", (mediaType, text, message) => {
    const parse = (): unknown => parseObject(Buffer.from(text), mediaType, { duplicates: false, kind: "ConfigMap" })
    expect(parse).toThrow(expect.objectContaining({ code: 400, message }))
  })

  test("rejects nesting above the limit", () => {
    const parse = (): unknown => parseObject(Buffer.from("[".repeat(5000)), "json", { duplicates: false })
    const message = expect.stringContaining("exceeded max depth")
    expect(parse).toThrow(expect.objectContaining({ code: 400, message }))
  })

  test("reports repeated keys, and keeps the last value", () => {
    const text = '{"metadata":{"name":"a","name":"b"},"data":{"x":"1","x":"2"},"l":[{"d":1,"d":1}]}'
    expect(parseObject(Buffer.from(text), "json", { duplicates: true })).toEqual({
      value: { metadata: { name: "b" }, data: { x: "2" }, l: [{ d: 1 }] },
      duplicates: ['duplicate field "metadata.name"', 'duplicate field "data.x"', 'duplicate field "l[0].d"'],
    })
    expect(parseObject(Buffer.from("a: 1\na: 2\n"), "yaml", { duplicates: true })).toEqual({
      value: { a: 2 },
      duplicates: ['yaml: unmarshal errors:\n  line 2: key "a" already set in map'],
    })
  })

  test("YAML is parsed as by Kubernetes: version 1.1 without times, only the first document, keys as strings", () => {
    const text = "a: yes\nb: 012\nc: 2001-12-14\nd: 12:30:45\n5: x\ne: {<<: {x: 1}, z: 2}\n---\nx: 1\n"
    expect(parseObject(Buffer.from(text), "yaml", { duplicates: false }).value).toEqual({
      a: true,
      b: 10,
      c: "2001-12-14",
      d: "12:30:45",
      5: "x",
      e: { x: 1, z: 2 },
    })
  })

  test("invalid UTF-8 is replaced by the replacement character", () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])
    expect(parseObject(bytes, "json", { duplicates: false }).value).toEqual({ a: "\ufffd" })
  })
})
