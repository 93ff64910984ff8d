import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { Presence } from "../tenancy/presence.ts"
import { ThreadPlaces } from "./thread-places.ts"

/** Jobs that end on demand. */
function jobsOn(places: ThreadPlaces) {
  const tenants = new Map<string, Presence>()
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  return {
    begun,
    run(tenant: string, name: string): Promise<void> {
      const presence = tenants.get(tenant) ?? new Presence()
      tenants.set(tenant, presence)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      return places.run(presence, () => {
        begun.push(name)
        return end.promise
      })
    },
    async end(name: string, error?: Error): Promise<void> {
      if (error === undefined) ends.get(name)?.resolve()
      else ends.get(name)?.reject(error)
      await nextTurn()
    },
  }
}

test("at most as many jobs run as there are places, and waiting jobs start when others end or fail", async () => {
  const jobs = jobsOn(new ThreadPlaces(2))
  const all = ["a1", "a2", "a3", "a4"].map((name) => jobs.run("a", name))
  const failed = expect(all[1]).rejects.toThrow("no")
  await nextTurn()
  expect(jobs.begun).toEqual(["a1", "a2"])
  await jobs.end("a2", new Error("no"))
  await failed
  expect(jobs.begun).toEqual(["a1", "a2", "a3"])
  for (const name of ["a1", "a3", "a4"]) await jobs.end(name)
  await Promise.allSettled(all)
  const later = jobs.run("a", "a5")
  expect(jobs.begun.at(-1)).toBe("a5")
  await jobs.end("a5")
  await later
})

test("tenants take turns, so a single job does not wait for all queued jobs of another tenant", async () => {
  const jobs = jobsOn(new ThreadPlaces(1))
  const crowd = Array.from({ length: 20 }, (_, index) => jobs.run("crowd", `crowd${index}`))
  const late = jobs.run("late", "late")
  await jobs.end("crowd0")
  await jobs.end("crowd1")
  expect(jobs.begun).toEqual(["crowd0", "crowd1", "late"])
  await jobs.end("late")
  await late
  for (let index = 2; index < 20; index++) await jobs.end(`crowd${index}`)
  await Promise.all(crowd)
  expect(jobs.begun).toHaveLength(21)
})
