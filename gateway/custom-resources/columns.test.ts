import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { customColumns } from "./columns.ts"
import { maxWork, maxWorkOfObject } from "./json-path/evaluate.ts"
import type { PrinterColumn } from "./types.ts"

const columns = (count: number, jsonPath: string): PrinterColumn[] =>
  Array.from({ length: count }, (_, index) => ({ name: `c${index}`, type: "string", jsonPath }))

describe("customColumns()", () => {
  test("shows no more than a hundred, after the name", () => {
    expect(customColumns(columns(60_000, ".a"))).toHaveLength(101)
  })

  test("all columns of an object share the work for it", () => {
    const items = Array.from({ length: maxWork / 4 }, () => [1])
    const object = {
      kind: "A",
      apiVersion: "x.io/v1",
      metadata: { name: "a" },
      items,
      last: "z",
    } as unknown as KubeObject
    const [, ...shown] = customColumns(columns(100, "..last"))
    for (let again = 0; again < 2; again++) {
      const found = shown.map((column) => column.cell(object)).filter((cell) => cell === "z")
      expect(found.length).toBeGreaterThan(0)
      expect(found.length).toBeLessThanOrEqual((4 * maxWorkOfObject) / maxWork)
    }
  })
})
