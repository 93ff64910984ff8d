import { expect, test } from "vitest"
import { baseValue } from "./base-layer.ts"
import { atRevision } from "./transaction.ts"
import type { BaseLayer } from "./types.ts"

test("a value of a base layer is created once, on first read", () => {
  let made = 0
  const base: BaseLayer = {
    keys: ["/a"],
    has: (key) => key === "/a",
    value: () => Buffer.from(String(++made)),
  }
  const found = baseValue(base, "/a")
  expect(made).toBe(0)
  expect(found && atRevision(found, 5)).toEqual({
    key: "/a",
    value: Buffer.from("1"),
    createRevision: 1,
    modRevision: 5,
  })
  expect([found?.value, found?.modRevision]).toEqual([Buffer.from("1"), 1])
  expect(made).toBe(1)
  expect(baseValue(base, "/b")).toBeUndefined()
})
