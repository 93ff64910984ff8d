// Behaviour of a lease holder if etcd does not respond. Tests with real etcd: test/kubernetes/etcd/.

import { EventEmitter, once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import { test } from "vitest"
import type { EtcdClient } from "./client.ts"
import { EtcdLease } from "./lease.ts"

/** Grants a lease and answers `renewals` renewals. `good`: the time of the last renewal that was answered. */
function clientWith(renewals: number): { client: EtcdClient; good: () => number } {
  let left = renewals
  let good = performance.now()
  const client = {
    calls: {},
    call: () => Promise.resolve({ response: { succeeded: true, responses: [] } }),
    stream: () => {
      const stream = new EventEmitter()
      const write = (): void => {
        if (left-- <= 0) return
        good = performance.now()
        stream.emit("data", { TTL: 1 })
      }
      return { stream: Object.assign(stream, { write, cancel: () => undefined }), abandon: () => undefined }
    },
  }
  return { client: client as unknown as EtcdClient, good: () => good }
}

const options = { prefix: "/p", name: "n", holder: "h", ttlSeconds: 1, waitMs: 0 }

test.concurrent.for([0, 2])(
  "a lease that was renewed %i times is lost before it expires in etcd",
  async (renewals, { expect }) => {
    const { client, good } = clientWith(renewals)
    await using lease = await EtcdLease.hold({ ...options, client })
    await once(lease.lost, "abort")
    const held = performance.now() - good()
    expect(held).toBeGreaterThan(900)
    expect(held).toBeLessThan(1_150)
  },
)

test.concurrent("a lease that is renewed stays valid", async ({ expect }) => {
  const { client } = clientWith(Number.POSITIVE_INFINITY)
  await using lease = await EtcdLease.hold({ ...options, client })
  expect(await Promise.race([once(lease.lost, "abort").then(() => "lost"), delay(1_500, "held")])).toBe("held")
})
