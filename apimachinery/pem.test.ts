import { expect, test } from "vitest"
import { parsePEM, pemBlocks, printPEM } from "./pem.ts"

const content = Buffer.alloc(100, 7)
const text = printPEM("THING", content)
const read = (of: string) => [...pemBlocks(of)]

test("a printed block can be parsed", () => {
  expect(read(text)).toEqual([{ type: "THING", hasHeaders: false, content, end: text.length }])
  expect(parsePEM(text)).toEqual(content)
})

test.each([
  ["before and between other text", `a\n${text}b\n${text}c`, 2],
  ["with headers", text.replace("-----\n", "-----\nA: b\nC: d\n\n"), 1],
  ["with line ends of Windows", text.replaceAll("\n", "\r\n"), 1],
  ["that does not start at the beginning of a line", ` ${text}`, 0],
  ["with the end of another type", text.replace("END THING", "END OTHER"), 0],
  ["without an end", text.replace("END THING", "STOP THING"), 0],
  ["that is not base64", text.replace("Bw", "*w"), 0],
  ["after an invalid one", `${text.replace("END THING", "END OTHER")}${text}`, 1],
])("a block %s", (_name, given, count) => {
  expect(read(given)).toHaveLength(count)
})

test("many beginnings without an end are parsed in linear time", () => {
  const beginnings = "-----BEGIN A-----\n".repeat(100_000)
  expect(read(`${beginnings}-----END B-----\n`)).toEqual([])
})
