import { expect, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { Presence } from "../tenancy/presence.ts"
import { type Due, EventExpiry } from "./event-expiry.ts"

const minute = 60_000
const ttlMs = 60 * minute
/** By then everything that was written a moment ago has been deleted. */
const lifetime = 1.05 * ttlMs

function start(due: Due = { at: 0 }) {
  const store = createMemoryStore()
  const clock = new FakeClock()
  const presence = new Presence()
  const now = (): string => new Date(clock.now()).toISOString().replace(/\.\d+/, "")
  const put = (key: string, metadata: object) =>
    store.txn({ compare: [], operations: [{ type: "put", key, value: Buffer.from(JSON.stringify({ metadata })) }] })
  const stack = new AsyncDisposableStack()
  stack.use(store)
  let expiry: EventExpiry | undefined
  stack.defer(() => expiry?.[Symbol.asyncDispose]())
  return {
    clock,
    presence,
    due,
    store,
    now,
    put,
    event: (name: string, metadata: object = {}) =>
      put(`/registry/core/events/default/${name}`, { creationTimestamp: now(), ...metadata }),
    begin: () => (expiry = new EventExpiry({ store, presence, due, ttlMs, clock, log: silentLog })),
    /** Fires what is due, and waits until that has ended. */
    async pass(ms: number): Promise<void> {
      clock.advance(ms)
      await expect.poll(() => presence.isInUse).toBe(false)
    },
    names: async () => (await store.range("/registry/")).items.map(({ key }) => key.split("/").at(-1)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test("an Event is deleted after its time, whatever its finalizers, and nothing else is", async () => {
  await using the = start()
  the.begin()
  await the.pass(0)
  expect(the.due.at).toBe(Infinity)
  await the.put("/registry/core/configmaps/default/kept", { creationTimestamp: the.now() })
  await the.event("plain")
  await the.event("held", { finalizers: ["example.com/hold"] })
  await expect.poll(() => the.due.at).toBe(the.clock.now() + lifetime)
  await the.pass(ttlMs)
  expect(await the.names()).toEqual(["kept", "held", "plain"])
  await the.pass(lifetime - ttlMs)
  expect(await the.names()).toEqual(["kept"])
  expect(the.due.at).toBe(Infinity)
  expect(the.clock.timers).toBe(0)
})

test("a write prolongs it", async () => {
  await using the = start()
  const creationTimestamp = the.now()
  await the.event("once")
  await the.event("again")
  the.begin()
  await the.pass(30 * minute)
  await the.event("again", { creationTimestamp, managedFields: [{ time: creationTimestamp }, { time: the.now() }] })
  await the.pass(lifetime - 30 * minute)
  expect(await the.names()).toEqual(["again"])
  await the.pass(30 * minute)
  expect(await the.names()).toEqual([])
})

test("one whose client claims a time that is far away prevents no other from expiring", async () => {
  await using the = start()
  const managedFields = [{ time: "10000-01-01T00:59:59Z" }, { time: "-0001-12-31T23:59:59Z" }]
  await the.event("far", { managedFields })
  await the.event("plain")
  the.begin()
  await the.pass(0)
  await the.pass(lifetime)
  expect(await the.names()).toEqual(["far"])
  expect(the.due.at).toBeGreaterThan(Date.parse("9999-12-31T00:00:00Z"))
})

test("Events of an earlier process are deleted at the start, however many, and the others when their time comes", async () => {
  await using the = start()
  for (let index = 0; index < 1_200; index++) await the.event(`old-${index}`)
  the.clock.advance(30 * minute)
  await the.event("young")
  the.clock.advance(31 * minute)
  the.begin()
  await the.pass(0)
  expect(await the.names()).toEqual(["young"])
  await the.pass(lifetime - 31 * minute)
  expect(await the.names()).toEqual([])
})

test("one that is written while it is about to be deleted is not deleted", async () => {
  await using the = start()
  const txn = the.store.txn.bind(the.store)
  await the.event("late")
  the.clock.advance(lifetime)
  vi.spyOn(the.store, "txn").mockImplementationOnce(async (deletion) => {
    await the.event("late")
    return txn(deletion)
  })
  the.begin()
  await the.pass(0)
  expect(await the.names()).toEqual(["late"])
  await the.pass(lifetime)
  expect(await the.names()).toEqual([])
})

test("when deleting fails, it is tried again", async () => {
  await using the = start()
  await the.event("a")
  the.begin()
  await the.pass(0)
  vi.spyOn(the.store, "txn").mockRejectedValueOnce(new Error("the disk fails"))
  await the.pass(lifetime)
  expect(await the.names()).toEqual(["a"])
  await the.pass(lifetime - ttlMs)
  expect(await the.names()).toEqual([])
})

test("what was due while nobody looked is done at once by the next control plane", async () => {
  const due: Due = { at: 0 }
  await using the = start(due)
  await the.event("a")
  {
    await using _first = the.begin()
    await the.pass(0)
  }
  expect(due.at).toBe(the.clock.now() + lifetime)
  expect(the.clock.timers).toBe(0)
  the.clock.advance(2 * lifetime)
  expect(await the.names()).toEqual(["a"])
  the.begin()
  await the.pass(0)
  expect(await the.names()).toEqual([])
})
