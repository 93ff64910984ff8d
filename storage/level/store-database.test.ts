// What a store gives its database to write: LevelDB acknowledges what it writes behind a record of which the disk has taken only a part, and
// skips it when it reads its log.

import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Database } from "./database.ts"
import { defaultLimits } from "../limits.ts"
import { StoreDatabase } from "./store-database.ts"

const full = Object.assign(new Error("no space left on device"), { code: "LEVEL_IO_ERROR" })

/** A database whose writes end when they are told to, and that cannot be reopened. */
function open(isClosing = false) {
  const calls: string[] = []
  const writes: PromiseWithResolvers<void>[] = []
  const database = {
    location: "a",
    batch: () => {
      const write = Promise.withResolvers<void>()
      writes.push(write)
      return write.promise
    },
    close: () => Promise.resolve(),
  } as unknown as Database
  const store = new StoreDatabase({
    database,
    open: () => {
      calls.push("open")
      return Promise.reject(full)
    },
    now: () => 0,
    writeBufferBytes: defaultLimits.writeBufferBytes,
    reopenMilliseconds: 0,
    isClosing: () => isClosing,
    isKnown: () => true,
    adopted: () => Promise.resolve(),
    dropped: () => undefined,
    distrusted: () => void calls.push("distrusted"),
    begin: () => Promise.resolve(),
  })
  return { store, writes, calls }
}

test("a write begins when the one before it has ended", async () => {
  const { store, writes } = open()
  const first = store.write([], true)
  const second = store.write([], false)
  await turn()
  expect(writes).toHaveLength(1)
  writes[0]?.resolve()
  await first
  await expect.poll(() => writes).toHaveLength(2)
  writes[1]?.resolve()
  await second
})

test.each([
  { when: "in use", isClosing: false, expected: ["distrusted", "open"] },
  { when: "being closed", isClosing: true, expected: [] },
])("what waits for a write that fails fails for the same reason ($when)", async ({ isClosing, expected }) => {
  const { store, writes, calls } = open(isClosing)
  const answers = Promise.allSettled([store.write([], false), store.write([], true), store.write([], true)])
  writes[0]?.reject(full)
  const reason = expect.objectContaining({ code: "Unavailable", cause: full })
  expect(await answers).toEqual(Array.from({ length: 3 }, () => ({ status: "rejected", reason })))
  expect([writes.length, store.isBroken]).toEqual([1, true])
  await store.opening()
  expect(calls).toEqual(expected)
})
