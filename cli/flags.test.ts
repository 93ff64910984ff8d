import { describe, expect, test } from "vitest"
import { UsageError } from "./command.ts"
import { integerFlag, parseFlags, printFlags } from "./flags.ts"

describe("printFlags()", () => {
  test("sorts by name, adds the parser's defaults and wraps long texts", () => {
    const printed = printFlags({
      port: { type: "string", default: "6443", takes: "PORT", help: "port to listen on" },
      "all-of-it": { type: "boolean", default: false, help: `${"word ".repeat(24)}end` },
      output: { type: "string", short: "o", takes: "FILE", help: "where to write" },
    })
    expect(printed).toBe(
      `  --all-of-it        ${"word ".repeat(19)}word\n${" ".repeat(21)}word word word word end\n` +
        "  -o, --output FILE  where to write\n" +
        "  --port PORT        port to listen on (default 6443)\n",
    )
  })
})

describe("parseFlags()", () => {
  test("refuses an empty value, unless it means something", () => {
    const flags = {
      dir: { type: "string", help: "" },
      each: { type: "string", multiple: true, help: "" },
      names: { type: "string", mayBeEmpty: true, help: "" },
    } as const
    const read = (...args: string[]) => parseFlags({ help: "" }, args, flags)?.values
    for (const args of [["--dir", ""], ["--dir="]])
      expect(() => read(...args)).toThrow(new UsageError("--dir must not be empty"))
    expect(() => read("--each", "a", "--each", "")).toThrow(new UsageError("--each must not be empty"))
    expect(read("--names", "", "--dir", "a")).toEqual({ names: "", dir: "a" })
  })

  test("reports an error of the parser in one line", () => {
    const flags = { port: { type: "string", help: "" } } as const
    expect(() => parseFlags({ help: "" }, ["--port", "-1"], flags)).toThrow(
      new UsageError(
        "Option '--port' argument is ambiguous. Did you forget to specify the option argument for '--port'? To specify an option argument starting with a dash use '--port=-XYZ'.",
      ),
    )
  })
})

describe("integerFlag()", () => {
  test("accepts only whole numbers within its bounds", () => {
    expect(integerFlag("port", "6443", 0, 65_535)).toBe(6443)
    for (const text of ["", "-1", "1e3", "0x10", "65536", " 1", "1.0"]) {
      expect(() => integerFlag("port", text, 0, 65_535)).toThrow(UsageError)
    }
  })
})
