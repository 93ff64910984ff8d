// A copy of a Service waits for a number that another one has, and nobody else waits for it.

import { expect, test } from "vitest"
import { FieldPath, invalidValue } from "../apimachinery/field-errors.ts"
import type { Service } from "../apimachinery/object.ts"
import { invalid } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { configMaps, events, namespaces, services } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer } from "./main.ts"
import { NumberWaits } from "./number-waits.ts"
import { syncerLimits } from "./options.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object } from "./testing/harness.ts"

const { afterMs } = syncerLimits.numberWaits
const kind = { group: "", kind: "Service" }
const taken = "provided IP is already allocated"

/** Two tenants, and a super cluster that says so of every address that is asked for. */
async function begin(why: string) {
  const clock = new FakeClock(Date.now())
  const superCluster = new FakeCluster({ isSuper: true, clock })
  const asked: (string | undefined)[] = []
  superCluster.fail = (verb, resource, made) => {
    if (verb !== "create" || resource !== "services") return undefined
    const { clusterIP } = (made as Service).spec ?? {}
    asked.push(clusterIP)
    const field = FieldPath.root("spec").child("clusterIPs")
    return clusterIP === undefined ? undefined : invalid(kind, "web", [invalidValue(field, [clusterIP], why)])
  }
  const tenants = new FakeTenants()
  const [one, other] = [fakeTenant("one"), fakeTenant("other")]
  const [cluster, another] = [tenants.add(one), tenants.add(other)]
  for (const each of [cluster, another]) await each.create(namespaces, object("Namespace", undefined, "default"))
  const patrolPeriodMs = 24 * 60 * 60_000
  const syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs, workers: 1 })
  await syncer.whenSynced()
  const spec = { type: "ClusterIP", clusterIP: "10.0.0.5", ports: [{ port: 80 }] }
  await cluster.create(services, object("Service", "default", "web", { spec }))
  await eventually(() => asked.length > 0 && syncer.pending === 0, { what: "the first attempt" })
  const copy = (): Service | undefined =>
    superCluster.find<Service>(services, superNamespace(one.clusterKey, "default"), "web")
  const told = (): unknown[] => cluster.all(events).map(({ reason }) => reason)
  const theirs = superNamespace(other.clusterKey, "default")
  return { clock, superCluster, syncer, cluster, another, theirs, asked, copy, told }
}

test("a copy asks again for an address that somebody has, and takes another one in the end", async () => {
  const { clock, syncer, asked, copy, told, ...world } = await begin(taken)
  await using _ = syncer
  expect(asked).toEqual(["10.0.0.5"])
  // With the only worker.
  await world.another.create(configMaps, object("ConfigMap", "default", "theirs", { data: {} }))
  await eventually(() => world.superCluster.find(configMaps, world.theirs, "theirs"), { what: "another's copy" })
  for (const [index, ms] of afterMs.entries()) {
    expect(told()).toEqual([])
    clock.advance(ms)
    await eventually(() => asked.length > index + 1 && syncer.pending === 0, { what: "the next attempt" })
  }
  expect(asked).toEqual([...Array<string>(afterMs.length + 1).fill("10.0.0.5"), undefined])
  expect(copy()?.spec?.clusterIP).not.toBe("10.0.0.5")
  await expect.poll(told).toEqual(["FailedSync"])
})

test("a Service that is deleted while its copy waits for an address is copied no more", async () => {
  const { clock, syncer, cluster, asked, copy, told } = await begin(taken)
  await using _ = syncer
  cluster.remove(services, "default", "web")
  for (const ms of afterMs) {
    clock.advance(ms)
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  }
  expect(syncer.delayed).toBe(0)
  expect([asked, copy(), told()]).toEqual([["10.0.0.5"], undefined, []])
})

test("a copy does not wait for an address that super never gives", async () => {
  const { syncer, asked, copy } = await begin("the provided IP (10.0.0.5) is not in the valid range")
  await using _ = syncer
  expect(asked).toEqual(["10.0.0.5", undefined])
  expect(copy()).toBeDefined()
})

test("attempts that an event causes in between do not count, and so many copies are remembered", () => {
  const clock = new FakeClock()
  const waits = new NumberWaits(clock)
  for (const ms of afterMs) {
    expect(waits.refused("web")).toBe(ms)
    clock.advance(ms / 2)
    expect(waits.refused("web")).toBe(ms / 2)
    clock.advance(ms / 2)
  }
  expect([waits.refused("web"), waits.refused("web")]).toEqual([0, 0])
  waits.end("web")
  expect(waits.refused("web")).toBe(afterMs[0])
  clock.advance(afterMs[0])
  for (let other = 0; other < syncerLimits.numberWaits.remembered; other++) waits.refused(`other-${other}`)
  expect(waits.refused("web")).toBe(afterMs[0])
})
