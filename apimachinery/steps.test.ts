import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { atOnce, inSteps, SharedSteps, type Steps } from "./steps.ts"
import { collectGarbage } from "./testing/garbage.ts"

function* counting(done: string[]): Steps<number> {
  for (const step of ["a", "b", "c"]) {
    done.push(step)
    yield
  }
  return done.length
}

test("steps run synchronously if there is nothing to wait for", () => {
  expect(atOnce(counting([]))).toBe(3)
  expect(inSteps(counting([]), undefined)).toBe(3)
  expect(inSteps(counting([]), () => undefined)).toBe(3)
})

test("pauses are awaited between steps", async () => {
  const done: string[] = []
  let turn = 0
  const pause = (): Promise<void> | undefined => {
    if (turn++ === 1) return undefined
    return Promise.resolve().then(() => void done.push("other"))
  }
  expect(await inSteps(counting(done), pause)).toBe(5)
  expect(done).toEqual(["a", "other", "b", "c", "other"])
})

test("an error in a later step rejects the whole", async () => {
  const failing = function* (): Steps<void> {
    yield
    throw new Error("no")
  }
  await expect(inSteps(failing(), () => Promise.resolve())).rejects.toThrow("no")
})

test("shared steps are taken once, by those who have not given up", async () => {
  const done: string[] = []
  const shared = new SharedSteps(function* () {
    return { count: yield* counting(done) }
  })
  const gone = inSteps(shared.taking(), () => Promise.reject(new Error("gone")))
  const others = [1, 2].map(async () => inSteps(shared.taking(), () => Promise.resolve()))
  await expect(gone).rejects.toThrow("gone")
  const [first, second] = await Promise.all(others)
  expect([first, done]).toEqual([{ count: 3 }, ["a", "b", "c"]])
  expect([second, shared.made, atOnce(shared.taking())]).toEqual([first, first, first])
})

test("an error of shared steps is that of all who wait; whoever comes later begins again", async () => {
  let begun = 0
  const shared = new SharedSteps(function* () {
    begun++
    yield
    yield
    if (begun > 1) return { done: true }
    throw new Error("no")
  })
  const waiting = [1, 2, 3].map(async () => inSteps(shared.taking(), () => Promise.resolve()))
  const results = await Promise.allSettled(waiting)
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"])
  expect(begun).toBe(1)
  expect(atOnce(shared.taking())).toEqual({ done: true })
  expect(begun).toBe(2)
})

test("what shared steps are begun with is not held once all have been taken", async () => {
  const held: WeakRef<object>[] = []
  const sharedOf = (source: object): SharedSteps<object> => {
    held.push(new WeakRef(source))
    return new SharedSteps(function* () {
      yield
      return { fields: Object.keys(source).length }
    })
  }
  const shared = sharedOf({ a: 1 })
  expect(atOnce(shared.taking())).toEqual({ fields: 1 })
  await setImmediate() // what a WeakRef is made of is kept until then
  collectGarbage()
  expect(held[0]?.deref()).toBeUndefined()
  expect(shared.made).toEqual({ fields: 1 })
})
