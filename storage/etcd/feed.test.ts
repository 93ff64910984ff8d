// The feed while etcd does not respond. Tests with real etcd: test/kubernetes/etcd/.

import { EventEmitter, once } from "node:events"
import { expect, test } from "vitest"
import type { EtcdClient } from "./client.ts"
import { Feed } from "./feed.ts"
import { defaultEtcdLimits } from "./limits.ts"

const header = { revision: 7 }

/** Its streams end at once; those of these numbers are created before. */
function clientThatFails(...created: number[]): EtcdClient {
  let streams = 0
  const stream = () => {
    const number = ++streams
    const events = new EventEmitter()
    const write = (): void =>
      queueMicrotask(() => {
        if (created.includes(number)) events.emit("data", { header, created: true, canceled: false, events: [] })
        events.emit("error", new Error("no member responds"))
      })
    return { stream: Object.assign(events, { write, cancel: () => undefined }), abandon: () => undefined }
  }
  const call = () => Promise.resolve({ response: { header } })
  return { calls: {}, call, stream } as unknown as EtcdClient
}

/** Its first stream is created and then silent; further ones answer each request with the current revision. */
function clientThatFallsSilent(current: { revision: number }): EtcdClient {
  let streams = 0
  const stream = () => {
    const isSilent = ++streams === 1
    const events = new EventEmitter()
    let isCreated = false
    const write = (): void =>
      queueMicrotask(() => {
        const created = !isCreated
        isCreated = true
        if (created || !isSilent) events.emit("data", { header: { ...current }, created, canceled: false, events: [] })
      })
    const cancel = (): void => void events.emit("error", new Error("cancelled"))
    return { stream: Object.assign(events, { write, cancel }), abandon: () => undefined }
  }
  const call = () => Promise.resolve({ response: { header: { ...current } } })
  return { calls: {}, call, stream } as unknown as EtcdClient
}

test("a member that does not say how far it is, is left before the callers give up", async () => {
  const current = { revision: 7 }
  const failures: string[] = []
  await using feed = await Feed.start({
    client: clientThatFallsSilent(current),
    limits: { ...defaultEtcdLimits, attemptMs: 50, callMs: 60_000, progressMs: 1 },
    prefix: Buffer.from("/p/"),
    handler: {
      changed: () => undefined,
      lost: () => Promise.resolve(() => undefined),
      failing: ({ message }) => void failures.push(message),
    },
  })
  current.revision = 8
  await feed.reach(8)
  expect(failures).toEqual(["cancelled"])
})

test("a member that reads what a stream has missed is not left", async () => {
  const current = { revision: 7 }
  let streams = 0
  let requests = 0
  const opened = new EventEmitter()
  const stream = () => {
    streams++
    const write = (): void =>
      queueMicrotask(() => {
        if (++requests > 1) return
        current.revision = 9
        opened.emit("data", { header: { ...current }, created: true, canceled: false, events: [] })
      })
    const cancel = (): void => void opened.emit("error", new Error("cancelled"))
    return { stream: Object.assign(opened, { write, cancel }), abandon: () => undefined }
  }
  const call = () => Promise.resolve({ response: { header: { ...current } } })
  await using feed = await Feed.start({
    client: { calls: {}, call, stream } as unknown as EtcdClient,
    limits: { ...defaultEtcdLimits, attemptMs: 5, callMs: 60_000, progressMs: 1 },
    prefix: Buffer.from("/p/"),
    handler: { changed: () => undefined, lost: () => Promise.resolve(() => undefined), failing: () => undefined },
  })
  const reached = feed.reach(9)
  // Many times as long as an answer may take.
  await expect.poll(() => requests).toBeGreaterThan(50)
  opened.emit("data", { header: { ...current }, created: false, canceled: false, events: [] })
  await reached
  expect(streams).toBe(1)
})

test("a transaction whose events come in parts is delivered as one, and not without its end", async () => {
  const streams: EventEmitter[] = []
  const stream = () => {
    const events = new EventEmitter()
    streams.push(events)
    const cancel = (): void => void events.emit("error", new Error("cancelled"))
    return { stream: Object.assign(events, { write: () => undefined, cancel }), abandon: () => undefined }
  }
  const call = () => Promise.resolve({ response: { header } })
  const delivered: [number, string[]][] = []
  await using feed = await Feed.start({
    client: { calls: {}, call, stream } as unknown as EtcdClient,
    limits: defaultEtcdLimits,
    prefix: Buffer.from("/p/"),
    handler: {
      changed: (events, revision) => void delivered.push([revision, events.map(({ kv }) => String(kv.key))]),
      lost: () => Promise.resolve(() => undefined),
      failing: () => undefined,
    },
    pause: () => Promise.resolve(),
  })
  const send = (fragment: boolean, ...changes: [string, number][]): void => {
    const events = changes.map(([key, mod_revision]) => ({ type: 0, kv: { key: Buffer.from(key), mod_revision } }))
    streams.at(-1)?.emit("data", { header, created: false, canceled: false, fragment, events })
  }
  send(true, ["a", 8], ["a", 9])
  send(true, ["b", 9])
  expect(delivered).toEqual([[8, ["a"]]])
  expect(feed.revision).toBe(8)
  streams.at(-1)?.emit("error", new Error("the member was killed"))
  await expect.poll(() => streams.length).toBe(2)
  send(true, ["a", 9], ["b", 9])
  send(false, ["c", 9], ["a", 10])
  expect(delivered.slice(1)).toEqual([
    [9, ["a", "b", "c"]],
    [10, ["a"]],
  ])
})

test("a watch that fails again and again is opened at growing intervals, from the first one after it was open", async () => {
  const pauses: number[] = []
  const enough = new EventEmitter()
  await using _feed = await Feed.start({
    client: clientThatFails(9),
    limits: { ...defaultEtcdLimits, retryMs: 20, maxRetryMs: 500 },
    prefix: Buffer.from("/p/"),
    handler: { changed: () => undefined, lost: () => Promise.resolve(() => undefined), failing: () => undefined },
    pause: async (ms, signal) => {
      pauses.push(ms)
      if (pauses.length < 11) return
      enough.emit("end")
      if (!signal.aborted) await once(signal, "abort")
    },
  })
  await once(enough, "end")
  expect(pauses).toEqual([20, 40, 80, 160, 320, 500, 500, 500, 20, 40, 80])
})
