import { expect, test } from "vitest"
import { FakeClock } from "../../../../client/testing/fake-clock.ts"
import { createMemoryStore } from "../../../../storage/memory/store.ts"
import { StorageError, type Store } from "../../../../storage/types.ts"
import { faultOf } from "./storage-errors.ts"

function storeThat(get: Store["get"]): Store {
  return { get } as Store
}

test("a store is healthy if it responds, with or without the object", async () => {
  await using store = createMemoryStore()
  expect(await faultOf(store)).toBeUndefined()
})

test("the error of a store is its fault", async () => {
  const fault = faultOf(storeThat(() => Promise.reject(new StorageError("Unavailable", "no member responds"))))
  expect(await fault).toBe("no member responds")
})

test("a store that does not respond is faulty after two seconds, whatever it says later", async () => {
  const clock = new FakeClock()
  const { promise, reject } = Promise.withResolvers<undefined>()
  const fault = faultOf(
    storeThat(() => promise),
    clock,
  )
  clock.advance(2000)
  expect(await fault).toBe("the store has not responded within 2 s")
  reject(new StorageError("Unavailable", "no member responds"))
})
