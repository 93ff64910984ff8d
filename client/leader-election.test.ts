import { describe, expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { runLeaderElection } from "./leader-election.ts"
import { leases } from "./resources.ts"
import type { Resource, WriteOptions } from "./rest.ts"
import { FakeClock } from "./testing/fake-clock.ts"
import { FakeCluster } from "./testing/fake-cluster.ts"

describe("leader election", () => {
  test("has one leader, and another one when the lease is released", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const order: string[] = []
    const first = new AbortController()
    const second = new AbortController()
    const lead = (identity: string, stop: AbortController): Promise<void> =>
      runLeaderElection({
        client: cluster,
        namespace: "default",
        name: "l",
        identity,
        signal: stop.signal,
        clock,
        async lead(signal) {
          order.push(`${identity} leads`)
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
          order.push(`${identity} stops`)
        },
      })
    const a = lead("a", first)
    await until(() => order.length === 1, clock)
    const b = lead("b", second)
    for (let step = 0; step < 20; step++) await tick(clock, 2_000)
    expect(order).toEqual(["a leads"])
    first.abort()
    await a
    await until(() => order.length === 3, clock)
    second.abort()
    await b
    expect(order).toEqual(["a leads", "a stops", "b leads", "b stops"])
    expect(cluster.find(leases, "default", "l")).toMatchObject({ spec: { holderIdentity: "", leaseTransitions: 1 } })
  })

  test("takes over an expired lease", async () => {
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    const spec = { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2025-01-01T00:00:00.000000Z" }
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l", namespace: "default" },
      spec,
    }
    await cluster.create(leases, lease)
    const stop = new AbortController()
    let leadsAt = 0
    const started = clock.now()
    const running = runLeaderElection({
      client: cluster,
      namespace: "default",
      name: "l",
      identity: "b",
      signal: stop.signal,
      clock,
      async lead(signal) {
        leadsAt = clock.now()
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
      },
    })
    await until(() => leadsAt > 0, clock)
    // Regardless of how old the lease looks: the other's clock may be wrong.
    expect(leadsAt - started).toBeGreaterThanOrEqual(15_000)
    stop.abort()
    await running
  })

  // Others count from the last renewal they observed, regardless of how long the leader waits for a response.
  test.each(["get", "update"] as const)("ends in time if no %s is answered", async (verb) => {
    const clock = new FakeClock()
    const cluster = new SilentCluster({ clock })
    const times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }
    let leads = false
    const stop = new AbortController()
    const running = runLeaderElection({
      client: cluster,
      namespace: "default",
      name: "l",
      identity: "a",
      signal: stop.signal,
      clock,
      times,
      async lead(signal) {
        leads = true
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
        leads = false
      },
    })
    await until(() => leads, clock)
    for (let step = 0; step < 20; step++) await tick(clock, 1_000)
    expect(leads).toBe(true)
    const lease = cluster.find(leases, "default", "l") as { spec?: { renewTime: string } } | undefined
    const renewedAt = clock.elapsed() - (clock.now() - Date.parse(lease?.spec?.renewTime ?? ""))
    cluster.silent = verb
    // Nor does it matter what time the system believes it is.
    clock.correct(-3_600_000)
    await until(() => !leads, clock)
    expect(clock.elapsed() - renewedAt).toBeLessThan(times.leaseMs)
    // Nor does it wait long if the Lease cannot be released.
    let hasEnded = false
    const ended = running.then(() => (hasEnded = true))
    await until(() => hasEnded, clock)
    await ended
  })
})

/** A cluster that does not respond to some calls. */
class SilentCluster extends FakeCluster {
  silent: "get" | "update" | undefined

  override get<T extends KubeObject>(...call: Parameters<FakeCluster["get"]>): Promise<T> {
    return this.silent === "get" ? new Promise(() => undefined) : super.get<T>(...call)
  }

  override update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    return this.silent === "update" ? new Promise(() => undefined) : super.update(resource, object, options)
  }
}

async function tick(clock: FakeClock, ms: number): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  clock.advance(ms)
}

async function until(condition: () => boolean, clock: FakeClock): Promise<void> {
  for (let step = 0; step < 200 && !condition(); step++) await tick(clock, 500)
  expect(condition()).toBe(true)
}
