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

test("a watch that fails again and again is opened at growing intervals, from the first one after it was open", async () => {
  const pauses: number[] = []
  const enough = new EventEmitter()
  await using _feed = await Feed.start({
    client: clientThatFails(9),
    limits: { ...defaultEtcdLimits, retryMs: 20, maxRetryMs: 500 },
    prefix: Buffer.from("/p/"),
    handler: { changed: () => undefined, lost: () => Promise.resolve(), failing: () => undefined },
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
