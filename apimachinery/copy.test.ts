import { describe, expect, test } from "vitest"
import { copyJson, copyUnfrozen } from "./copy.ts"

const frozen = Object.freeze({ containers: Object.freeze([Object.freeze({ name: "c" })]) })

describe("copies", () => {
  test("of JSON values share nothing, and omit undefined fields", () => {
    const value = { a: [{ b: 1 }], c: undefined, d: null, spec: frozen, ["__proto__"]: { e: 1 } }
    const copy = copyJson(value)
    expect(copy).toEqual({ a: [{ b: 1 }], d: null, spec: frozen, ["__proto__"]: { e: 1 } })
    expect(Object.keys(copy)).not.toContain("c")
    expect(copy.a[0]).not.toBe(value.a[0])
    expect(copy.spec).not.toBe(frozen)
    expect(Object.isFrozen(copy.spec)).toBe(false)
  })

  test("of unfrozen values share the frozen parts", () => {
    const value = { metadata: { labels: { app: "a" } }, spec: frozen, status: undefined, list: [frozen, {}] }
    const copy = copyUnfrozen(value)
    expect(copy).toEqual({ metadata: { labels: { app: "a" } }, spec: frozen, list: [frozen, {}] })
    expect(Object.keys(copy)).not.toContain("status")
    expect(copy.spec).toBe(frozen)
    expect(copy.list[0]).toBe(frozen)
    expect(copy.list[1]).not.toBe(value.list[1])
    expect(copy.metadata.labels).not.toBe(value.metadata.labels)
    expect(copyUnfrozen(frozen)).toBe(frozen)
  })
})
