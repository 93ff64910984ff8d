import { describe, expect, test } from "vitest"
import { homeOf } from "./owners.ts"

const uids = Array.from({ length: 3000 }, (_, index) => `uid-${index}`)
const homes = (places: readonly number[]) => uids.map((uid) => homeOf(uid, places))

describe("homes of tenants", () => {
  test("are spread evenly", () => {
    const counts = [1, 2, 3].map((place) => homes([1, 2, 3]).filter((home) => home === place).length)
    for (const count of counts) expect(count).toBeGreaterThan(900)
  })

  test("do not depend on the order of the places", () => {
    expect(homes([3, 1, 2])).toEqual(homes([1, 2, 3]))
  })

  test("stay when another process is removed, and the others are spread over all remaining ones", () => {
    const before = homes([1, 2, 3])
    const after = homes([1, 3])
    const moved = after.filter((_, index) => before[index] === 2)
    expect(after.filter((home, index) => home !== before[index])).toEqual(moved)
    expect(new Set(moved)).toEqual(new Set([1, 3]))
  })

  test("are undefined without processes", () => {
    expect(homeOf("uid", [])).toBeUndefined()
  })
})
