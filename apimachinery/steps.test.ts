import { expect, test } from "vitest"
import { atOnce, inSteps, type Steps } from "./steps.ts"

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
