import { expect, test } from "vitest"
import { baseValue } from "./base-layer.ts"
import type { BaseLayer } from "./types.ts"

test("a value of a base layer is made when it is first read, and once", () => {
  let made = 0
  const base: BaseLayer = {
    keys: ["/a"],
    has: (key) => key === "/a",
    value: () => Buffer.from(String(++made)),
  }
  const found = baseValue(base, "/a")
  expect(made).toBe(0)
  expect(found).toEqual({ key: "/a", value: Buffer.from("1"), createRevision: 1, modRevision: 1 })
  expect({ ...found }).toEqual(found)
  expect(made).toBe(1)
  expect(baseValue(base, "/b")).toBeUndefined()
})
