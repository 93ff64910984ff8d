// The limits of a store (storage/limits.ts).

import { expect, test } from "vitest"
import type { StoreLimits } from "../../limits.ts"
import type { Store } from "../../types.ts"
import { bytes, code, put } from "./shorthand.ts"

export function limits(open: (options: { limits: Partial<StoreLimits> }) => Promise<Store>): void {
  test("values that are too large are rejected and change nothing", async () => {
    const store = await open({
      limits: { maxValueBytes: 100, maxTransactionBytes: 250, maxTransactionOperations: 3, maxKeyBytes: 20 },
    })
    const value = "x".repeat(100)
    await put(store, "/a", value)
    await expect(put(store, "/a", `${value}x`)).rejects.toEqual(code("TooLarge"))
    await expect(put(store, "/long".padEnd(21, "x"), "")).rejects.toEqual(code("TooLarge"))
    const puts = (count: number, size: number) =>
      store.txn({
        compare: [],
        operations: Array.from({ length: count }, (_, i) => ({
          type: "put",
          key: `/${i}`,
          value: bytes("x".repeat(size)),
        })),
      })
    await expect(puts(3, 90)).rejects.toEqual(code("TooLarge"))
    await expect(puts(4, 1)).rejects.toEqual(code("TooLarge"))
    expect(store.revision).toBe(2)
    expect((await puts(3, 80)).succeeded).toBe(true)
  })

  test("history beyond the limit is compacted automatically", async () => {
    const store = await open({ limits: { historyRevisions: 20 } })
    for (let i = 0; i < 100; i++) await put(store, `/k/${i % 5}`, String(i))
    await expect.poll(() => store.compactedRevision).toBeGreaterThan(60)
    expect(store.revision - store.compactedRevision).toBeGreaterThanOrEqual(20)
    expect((await store.range("/k/", { revision: store.revision - 10 })).items).toHaveLength(5)
  })

  test("history of more bytes than the limit is compacted automatically", async () => {
    const store = await open({ limits: { historyBytes: 50_000 } })
    for (let i = 0; i < 100; i++) await put(store, `/k/${i % 5}`, "x".repeat(2_000))
    await expect.poll(() => store.compactedRevision).toBeGreaterThan(60)
    expect(store.revision - store.compactedRevision).toBeGreaterThanOrEqual(20)
    expect((await store.range("/k/", { revision: store.revision - 10 })).items).toHaveLength(5)
  })
}
