// A copy of a Service waits for a number that another one has, and nobody else waits for it.

import { expect, test } from "vitest"
import { FieldPath, invalidValue } from "../apimachinery/field-errors.ts"
import type { Pod, Service } from "../apimachinery/object.ts"
import { invalid } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { configMaps, events, namespaces, pods, serviceAccounts, services } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer } from "./main.ts"
import { NumberWaits } from "./number-waits.ts"
import { syncerLimits } from "./options.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object, podOf } from "./testing/harness.ts"

const { afterMs, forgottenMs, remembered } = syncerLimits.numberWaits
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
  const homeOf = (namespace: string): string => superNamespace(one.clusterKey, namespace)
  return { clock, superCluster, syncer, cluster, another, theirs, homeOf, asked, copy, told }
}

test.each([
  ["somebody has", taken],
  ["super, which has just started, does not know", "the provided network does not match the current range"],
])("a copy asks again for an address that %s, and takes another one in the end", async (_what, why) => {
  const { clock, syncer, asked, copy, told, ...world } = await begin(why)
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

test("a pod is given the addresses that its tenant's Services have after they have waited", async () => {
  const { clock, superCluster, syncer, cluster, homeOf } = await begin(taken)
  const home = homeOf("default")
  await using _ = syncer
  await cluster.create(namespaces, object("Namespace", undefined, "kube-system"))
  await cluster.create(serviceAccounts, object("ServiceAccount", "default", "default"))
  const own = { type: "ClusterIP", clusterIP: "10.0.0.1", ports: [{ port: 443 }] }
  await cluster.create(services, object("Service", "default", "kubernetes", { spec: own }))
  const dns = { type: "ClusterIP", clusterIP: "10.0.0.10", ports: [{ port: 53 }] }
  await cluster.create(services, object("Service", "kube-system", "kube-dns", { spec: dns }))
  await cluster.create(pods, podOf("web", { dnsPolicy: "ClusterFirst" }))
  for (const ms of afterMs) {
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    expect(superCluster.find(pods, home, "web")).toBeUndefined()
    clock.advance(ms)
  }
  const pod = await eventually(
    () => {
      clock.advance(afterMs[0])
      return superCluster.find<Pod>(pods, home, "web")
    },
    { what: "the pod's copy" },
  )
  const addressOf = (namespace: string, name: string): string | undefined =>
    superCluster.find<Service>(services, homeOf(namespace), name)?.spec?.clusterIP
  expect(pod.spec?.hostAliases).toMatchObject([{ ip: addressOf("default", "kubernetes") }])
  expect(pod.spec?.dnsConfig?.nameservers).toEqual([addressOf("kube-system", "kube-dns")])
})

test("attempts that an event causes in between do not count", () => {
  const clock = new FakeClock()
  const waits = new NumberWaits(clock)
  for (const ms of afterMs) {
    expect(waits.refused("one", "web")).toBe(ms)
    clock.advance(ms / 2)
    expect(waits.refused("one", "web")).toBe(ms / 2)
    clock.advance(ms / 2)
    expect(waits.ofTenant("one")).toBeGreaterThan(0)
  }
  expect(waits.ofTenant("other")).toBe(0)
  expect([waits.refused("one", "web"), waits.refused("one", "web")]).toEqual([0, 0])
  expect(waits.ofTenant("one")).toBe(0)
})

test("a wait is over with its copy, and after a while without further attempts", () => {
  const clock = new FakeClock()
  const waits = new NumberWaits(clock)
  waits.refused("one", "web")
  waits.end("one", "web")
  expect(waits.ofTenant("one")).toBe(0)
  waits.refused("one", "web")
  clock.advance(afterMs[0] + forgottenMs)
  expect(waits.ofTenant("one")).toBe(0)
  expect(waits.refused("one", "web")).toBe(afterMs[0])
})

test("beyond the limit copies do not wait, and those that do are not forgotten", () => {
  const clock = new FakeClock()
  const waits = new NumberWaits(clock)
  for (let index = 0; index < remembered; index++) waits.refused("one", `${index}`)
  expect(waits.refused("one", "web")).toBe(0)
  clock.advance(afterMs[0])
  expect(waits.refused("one", "0")).toBe(afterMs[1])
})
