import { expect, test } from "vitest"
import { FairPlaces } from "./fair-places.ts"

test("no more than the limits run at once, and groups take turns", async () => {
  const places = new FairPlaces({ all: 3, each: 2 })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const run = (group: string, name: string): Promise<void> =>
    places.run(group, () => {
      begun.push(name)
      return new Promise((resolve) => ends.push(resolve))
    })
  const all = ["a1", "a2", "a3", "a4", "a5"].map((name) => run("a", name))
  all.push(run("b", "b1"), run("b", "b2"), run("c", "c1"))
  expect(begun).toEqual(["a1", "a2", "b1"])
  for (let ended = 0; ended < all.length; ended++) {
    await expect.poll(() => ends.length).toBe(Math.min(ended + 3, all.length))
    ends[ended]?.()
  }
  await Promise.all(all)
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "b2", "c1", "a4", "a5"])
})

test("what fails gives its place to the next one", async () => {
  const places = new FairPlaces({ all: 1, each: 1 })
  const failing = places.run("a", () => Promise.reject(new Error("no member responds")))
  const next = places.run("a", () => Promise.resolve("done"))
  await expect(failing).rejects.toThrow("no member responds")
  expect(await next).toBe("done")
  expect(await places.run("b", () => Promise.resolve("free"))).toBe("free")
})

test("who waits leaves when its signal is aborted", async () => {
  const places = new FairPlaces({ all: 1, each: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const [first, second] = [new AbortController(), new AbortController()]
  const begun: string[] = []
  const run = (name: string, until?: AbortSignal): Promise<void> =>
    places.run("a", () => promise.then(() => void begun.push(name)), until)
  const all = [run("a", first.signal), run("b", second.signal), run("c")]
  first.abort(new Error("too late"))
  second.abort(new Error("over"))
  await expect(all[1]).rejects.toThrow("over")
  await expect(run("d", second.signal)).rejects.toThrow("over")
  resolve()
  await Promise.all([all[0], all[2]])
  expect(begun).toEqual(["a", "c"])
})
